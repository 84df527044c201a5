// A chart of values over time (uPlot), with its values as a table for those who do not see it.
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clock } from '../logic/format';
import { useText } from '../text';

export interface Line {
  label: string;
  colour: string; // a CSS variable, e.g. "--c1"
  values: (number | null)[];
}

interface Props {
  label: string;
  times: number[]; // ms
  lines: Line[];
  unit?: string;
  max?: number;
  bars?: boolean;
  height?: number;
}

const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({ label, times, lines, unit = '', max, bars = false, height = 190 }: Props) {
  const { t, language, dark } = useText();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const data = useMemo(
    () => [times.map((ms) => ms / 1000), ...lines.map((l) => l.values)] as uPlot.AlignedData,
    [times, lines],
  );
  const latest = useRef(data);
  latest.current = data;
  const shape = lines.map((l) => `${l.label}${l.colour}`).join('|');
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const grid = { stroke: css('--line'), width: 1 };
    const axis = { stroke: css('--quiet'), grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const made = new uPlot(
      {
        width: element.clientWidth || 400,
        height,
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        scales: { y: { range: (_u, _min, top) => [0, Math.max(max ?? 0, (top || 0) * 1.1, 1)] } },
        axes: [
          {
            ...axis,
            values: (_u, ticks) =>
              ticks.map((s) => clock(s * 1000, language, ticks.length > 1 && ticks[1]! - ticks[0]! < 60)),
            space: 70,
          },
          { ...axis, size: 44, values: (_u, ticks) => ticks.map((v) => `${v}${unit}`) },
        ],
        series: [
          {},
          ...lines.map((l) => ({
            label: l.label,
            stroke: css(l.colour),
            width: bars ? 0 : 1.75,
            fill: bars ? css(l.colour) : undefined,
            points: { show: false },
            show: !hidden.has(l.label),
            ...(bars ? { paths: uPlot.paths.bars!({ size: [0.7, 14], align: 0 }) } : {}),
          })),
        ],
      },
      latest.current,
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, dark, language, height, bars, max, unit, hidden]); // eslint-disable-line
  useEffect(() => plot.current?.setData(data), [data]);
  const last = (l: Line) => [...l.values].reverse().find((v) => v !== null && v !== undefined);
  return (
    <figure className="chart">
      <div
        ref={box}
        role="img"
        aria-label={`${label}. ${lines.map((l) => `${l.label}: ${format(last(l), unit)}`).join(', ')}`}
        style={{ height }}
      />
      <figcaption className="legend">
        {lines.map((l) => (
          <button
            type="button"
            key={l.label}
            aria-pressed={!hidden.has(l.label)}
            onClick={() =>
              setHidden((old) => {
                const next = new Set(old);
                if (!next.delete(l.label)) next.add(l.label);
                return next;
              })
            }
          >
            <i style={{ background: `var(${l.colour})` }} />
            {l.label} <b>{format(last(l), unit)}</b>
          </button>
        ))}
      </figcaption>
      <details>
        <summary>{t('showTable')}</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={label}>
          <table>
            <thead>
              <tr>
                <th>{t('time')}</th>
                {lines.map((l) => (
                  <th key={l.label}>{l.label}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.slice(-30).map((ms, i, some) => (
                <tr key={ms}>
                  <td>{clock(ms, language)}</td>
                  {lines.map((l) => (
                    <td key={l.label}>{format(l.values[times.length - some.length + i], unit)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function format(value: number | null | undefined, unit: string): string {
  return value === null || value === undefined ? '–' : `${Number(value.toFixed(value < 10 ? 1 : 0))}${unit}`;
}
