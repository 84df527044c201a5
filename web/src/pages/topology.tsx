import {
  Fragment,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
} from 'react';
import { useCollection } from '../data/hooks';
import type { Node } from '../data/rows';
import { amount, byResource, count, percent, resourceName } from '../logic/format';
import {
  byUse,
  group,
  layout,
  mainWorkload,
  neighbour,
  nodeAt,
  paint,
  pixel,
  rackTotals,
  ramp,
  spotOf,
  THEMES,
  usedPart,
  workloadColour,
  type Layout,
} from '../logic/heat';
import { useText } from '../text';
import { Meter } from '../ui/bars';
import { Badge, Choice, Denied, Empty, Facts, Page, Search, Segments, WorkloadLink } from '../ui/parts';
import { useQuery } from '../ui/router';
import { Table, type Column } from '../ui/table';

type Look = 'use' | 'workload';

export function Topology() {
  const { t, language, dark } = useText();
  const nodes = useCollection('nodes');
  const placements = useCollection('placements');
  const topologies = useCollection('topologies');
  const [query, change] = useQuery();
  const topology =
    topologies.get(query.get('topology') ?? '') ??
    [...topologies.rows].sort((a, b) => b.levels.length - a.levels.length)[0];
  const levels = topology?.levels ?? NO_LEVELS;
  const resources = useMemo(
    () => [...new Set(nodes.rows.slice(0, 2000).flatMap((n) => Object.keys(n.allocatable)))].sort(byResource),
    [nodes],
  );
  const resource = query.get('resource') ?? resources[0] ?? 'cpu';
  const look = (query.get('by') ?? 'use') as Look;
  const wanted = query.get('workload') ?? '';
  const zoom = Number(query.get('size') ?? 0);
  const asTable = query.get('view') === 'table';
  const chosen = query.get('node') ?? undefined;
  const groups = useMemo(() => group(nodes.rows, levels), [nodes, levels]);
  const byNode = useMemo(() => {
    const out = new Map<string, { ns: string; name: string; used: Record<string, number> }[]>();
    for (const p of placements.rows)
      out.set(p.node, [...(out.get(p.node) ?? []), ...p.workloads.map(([name, used]) => ({ ns: p.ns, name, used }))]);
    return out;
  }, [placements]);
  const theme = THEMES[dark ? 'dark' : 'light'];
  const hues = useRef(new Map<string, string>());
  const { colour, legend } = useMemo(() => {
    if (look === 'use') return { colour: byUse(theme, resource), legend: [] as [string, string][] };
    const main = mainWorkload(placements.rows, resource);
    const [free, failed, others, missing] = [theme.free, theme.failed, theme.others, theme.missing].map(pixel) as [
      number,
      number,
      number,
      number,
    ];
    const counts = new Map<string, number>();
    for (const w of main.values()) if (w) counts.set(w, (counts.get(w) ?? 0) + 1);
    const holds = wanted
      ? new Set(
          placements.rows.filter((p) => p.workloads.some(([name]) => `${p.ns}/${name}` === wanted)).map((p) => p.node),
        )
      : null;
    // A workload keeps its colour while the page is open.
    const order = [...counts].sort((a, b) => b[1] - a[1]);
    for (const [w] of order) if (!hues.current.has(w)) hues.current.set(w, workloadColour(hues.current.size, false));
    const packed = new Map([...hues.current].map(([w, c]) => [w, pixel(c)]));
    const mark = pixel(dark ? '#ffd166' : '#0b5c55');
    const colour = (n: Node) => {
      if (!n.ready) return failed;
      if (holds) return holds.has(n.name) ? mark : missing;
      const w = main.get(n.name);
      return w === undefined ? free : w === '' ? others : packed.get(w)!;
    };
    return { colour, legend: order.slice(0, 10).map(([w]) => [w, hues.current.get(w)!] as [string, string]) };
  }, [look, resource, theme, placements, wanted, dark]);
  const node = chosen ? nodes.get(chosen) : undefined;
  const failed = nodes.rows.filter((n) => !n.ready).length;
  const full = nodes.rows.filter((n) => usedPart(n, resource) === 1).length;
  const free = nodes.rows.filter((n) => n.ready && !n.unschedulable && (usedPart(n, resource) ?? 1) === 0).length;
  return (
    <Page
      fill
      title={t('topology')}
      quiet={`${t('nodesShown', { n: count(nodes.rows.length, language) })} · ${count(free, language)} ${t('freeNodes')} · ${count(full, language)} ${t('fullNodes')}${failed ? ` · ${count(failed, language)} ${t('failedNodes')}` : ''}`}
    >
      <div className="filters">
        {topologies.rows.length > 1 && (
          <Choice
            label={t('topology')}
            hideLabel
            value={topology?.name ?? ''}
            options={topologies.rows.map((x) => ({ id: x.name, label: x.name }))}
            onChange={(id) => change({ topology: id })}
          />
        )}
        <Choice
          label={t('resource')}
          hideLabel
          value={resource}
          options={resources.map((id) => ({ id, label: id }))}
          onChange={(id) => change({ resource: id })}
        />
        <Segments
          label={t('colourBy')}
          value={look}
          options={[
            { id: 'use', label: t('byUse') },
            { id: 'workload', label: t('byWorkload') },
          ]}
          onChange={(id) => change({ by: id, workload: '' })}
        />
        {!asTable && (
          <label className="slider">
            {t('zoom')}{' '}
            <input
              type="range"
              min={0}
              max={30}
              step={1}
              value={zoom}
              onChange={(e) =>
                change({ size: e.target.value === '0' || Number(e.target.value) < 4 ? '' : e.target.value })
              }
            />{' '}
            <span className="quiet">{zoom ? `${zoom} px` : t('fit')}</span>
          </label>
        )}
        <button type="button" className="button small" onClick={() => change({ view: asTable ? '' : 'table' }, true)}>
          {t(asTable ? 'showMap' : 'showTable')}
        </button>
        {wanted && (
          <span className="chip">
            {wanted}{' '}
            <button type="button" aria-label={t('clearFilters')} onClick={() => change({ workload: '' })}>
              ×
            </button>
          </span>
        )}
        <p className="legend" aria-hidden="true">
          {look === 'use' ? (
            <>
              <span>0 %</span>
              <span className="ramp">
                {ramp(theme).map((c) => (
                  <i key={c} style={{ background: c }} />
                ))}
              </span>
              <span>100 %</span>
            </>
          ) : (
            legend.map(([w, c]) => (
              <span key={w}>
                <i style={{ background: c }} />
                <span className="clip">{w}</span>
              </span>
            ))
          )}
          <span>
            <i className="cross" style={{ background: theme.failed }} />
            {t('notReady')}
          </span>
          <span>
            <i className="barred" style={{ background: theme.free }} />
            {t('cordoned')}
          </span>
        </p>
      </div>
      {nodes.state === 'denied' ? (
        <Denied message={nodes.message} right="list nodes" />
      ) : nodes.rows.length === 0 ? (
        <Empty>{nodes.state === 'waiting' ? t('loading') : t('noNodes')}</Empty>
      ) : (
        <div className="split">
          {asTable ? (
            <NodeTable
              groups={groups}
              levels={levels}
              resource={resource}
              placed={byNode}
              onOpen={(name) => change({ node: name })}
            />
          ) : (
            <HeatMap
              groups={groups}
              colour={colour}
              theme={theme}
              zoom={zoom}
              resource={resource}
              chosen={chosen}
              onChoose={(name) => change({ node: name })}
              placed={byNode}
            />
          )}
          {node && (
            <NodePanel
              node={node}
              levels={levels}
              placed={byNode.get(node.name) ?? []}
              onClose={() => change({ node: '' })}
            />
          )}
        </div>
      )}
    </Page>
  );
}

const NO_LEVELS: string[] = [];

interface Placed {
  ns: string;
  name: string;
  used: Record<string, number>;
}

function HeatMap({
  groups,
  colour,
  theme,
  zoom,
  resource,
  chosen,
  onChoose,
  placed,
}: {
  groups: ReturnType<typeof group>;
  colour: (n: Node) => number;
  theme: (typeof THEMES)['light'];
  zoom: number;
  resource: string;
  chosen: string | undefined;
  onChoose: (name: string) => void;
  placed: ReadonlyMap<string, Placed[]>;
}) {
  const { t } = useText();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const image = useRef<ImageData>(undefined);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [at, setAt] = useState<string>();
  const [tip, setTip] = useState<{ x: number; y: number; node: Node }>();
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setSize({ width: element.clientWidth - 24, height: element.clientHeight - 24 });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const map = useMemo(
    () => layout(groups, Math.max(100, size.width), Math.max(100, size.height), zoom),
    [groups, size, zoom],
  );
  const draw = useCallback(() => {
    const c = canvas.current;
    const element = box.current;
    if (!c || !element || size.width <= 0) return;
    const started = performance.now();
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [w, h] = [Math.floor(size.width * ratio), Math.floor((size.height + 24) * ratio)];
    if (c.width !== w || c.height !== h) {
      c.width = w;
      c.height = h;
    }
    const g = c.getContext('2d', { alpha: false });
    if (!g) return;
    if (image.current?.width !== w || image.current.height !== h) image.current = g.createImageData(w, h);
    const top = element.scrollTop;
    paint(map, new Uint32Array(image.current.data.buffer), w, h, top, ratio, {
      colour,
      background: pixel(theme.background),
      failed: pixel(theme.failedMark),
      cordoned: pixel(theme.cordoned),
    });
    g.putImageData(image.current, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
    labels(g, map, top, size.height + 24, element);
    const spot = chosen ? spotOf(map, chosen) : undefined;
    if (spot) outline(g, spot.x, spot.y, map.cell, getComputedStyle(element).getPropertyValue('--text'));
    const cursor = at && at !== chosen ? spotOf(map, at) : undefined;
    if (cursor) outline(g, cursor.x, cursor.y, map.cell, getComputedStyle(element).getPropertyValue('--accent'));
    g.setTransform(1, 0, 0, 1, 0, 0);
    element.dataset.drawn = (performance.now() - started).toFixed(1);
  }, [map, colour, theme, size, chosen, at]);
  useEffect(draw, [draw]);
  const byName = (name: string | undefined): Node | undefined => {
    const spot = name ? spotOf(map, name) : undefined;
    return spot?.rack.nodes[spot.index];
  };
  const keys = (e: KeyboardEvent) => {
    if (e.key.startsWith('Arrow')) {
      const next = neighbour(map, at ?? chosen, e.key);
      setAt(next);
      const spot = next ? spotOf(map, next) : undefined;
      const element = box.current;
      if (spot && element && (spot.y < element.scrollTop || spot.y > element.scrollTop + element.clientHeight - 60))
        element.scrollTop = spot.y - element.clientHeight / 2;
    } else if (e.key === 'Enter' && at) onChoose(at);
    else return;
    e.preventDefault();
  };
  const under = (e: PointerEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    return nodeAt(map, e.clientX - r.left, e.clientY - r.top + box.current!.scrollTop);
  };
  const now = byName(at);
  return (
    <div
      className="map"
      ref={box}
      tabIndex={0}
      role="application"
      aria-label={t('mapHelp')}
      onKeyDown={keys}
      onScroll={draw}
      onPointerMove={(e) => {
        const node = under(e);
        const r = box.current!.getBoundingClientRect();
        setTip(
          node && {
            node,
            x: Math.min(e.clientX - r.left + 14, r.width - 260),
            y: Math.min(e.clientY - r.top + 14, r.height - 90),
          },
        );
      }}
      onPointerLeave={() => setTip(undefined)}
      onClick={(e) => {
        const node = under(e as unknown as PointerEvent);
        if (node) {
          setAt(node.name);
          onChoose(node.name);
        }
      }}
    >
      <canvas ref={canvas} style={{ width: size.width, height: size.height + 24 }} aria-hidden="true" />
      <div className="map-space" style={{ height: Math.max(0, map.height - size.height) }} />
      <p className="hidden" aria-live="polite">
        {now ? describe(now, resource) : ''}
      </p>
      {(tip || now) && (
        <div
          className="tip"
          style={
            tip
              ? { left: tip.x, top: tip.y + (box.current?.scrollTop ?? 0) }
              : { right: 12, top: 12 + (box.current?.scrollTop ?? 0) }
          }
        >
          <TipBody node={(tip?.node ?? now)!} resource={resource} placed={placed.get((tip?.node ?? now)!.name) ?? []} />
        </div>
      )}
    </div>
  );
}

const describe = (n: Node, resource: string): string =>
  `${n.name}: ${n.ready ? '' : `${n.reason ?? 'NotReady'}, `}${amount(resource, n.used[resource] ?? 0)} / ${amount(resource, n.allocatable[resource] ?? 0)} ${resourceName(resource)}`;

function TipBody({ node, resource, placed }: { node: Node; resource: string; placed: Placed[] }) {
  const { t } = useText();
  return (
    <>
      <strong>{node.name}</strong> {!node.ready && <em className="bad">{node.reason ?? t('notReady')}</em>}{' '}
      {node.unschedulable && <em>{t('cordoned')}</em>}
      <div>
        {amount(resource, node.used[resource] ?? 0)} / {amount(resource, node.allocatable[resource] ?? 0)}{' '}
        {resourceName(resource)}
      </div>
      {placed.slice(0, 3).map((p) => (
        <div key={`${p.ns}/${p.name}`} className="quiet">
          {p.name ? `${p.ns}/${p.name}` : t('otherPods')} {amounts1(p.used, resource)}
        </div>
      ))}
      {placed.length > 3 && <div className="quiet">+{placed.length - 3}</div>}
    </>
  );
}

const amounts1 = (used: Record<string, number>, resource: string): string =>
  used[resource] ? amount(resource, used[resource]) : '';

function labels(g: CanvasRenderingContext2D, map: Layout, top: number, height: number, element: HTMLElement): void {
  const style = getComputedStyle(element);
  const [quiet, text] = [style.getPropertyValue('--quiet'), style.getPropertyValue('--text')];
  g.textBaseline = 'alphabetic';
  g.font = '600 13px system-ui, sans-serif';
  g.fillStyle = text;
  for (const b of map.blocks) if (b.name && b.y + 30 > top && b.y < top + height) g.fillText(b.name, 0, b.y + 17);
  g.font = '10.5px system-ui, sans-serif';
  g.fillStyle = quiet;
  for (const r of map.racks) {
    if (r.y < top - 20 || r.y > top + height + 20) continue;
    const name = r.path[r.path.length - 1] ?? '';
    if (r.width >= 24) g.fillText(name, r.x, r.y - 4, r.width + 6);
  }
}

function outline(g: CanvasRenderingContext2D, x: number, y: number, cell: number, colour: string): void {
  g.strokeStyle = colour;
  g.lineWidth = 2;
  g.strokeRect(x - 1.5, y - 1.5, cell + 1, cell + 1);
}

function NodePanel({
  node,
  levels,
  placed,
  onClose,
}: {
  node: Node;
  levels: string[];
  placed: Placed[];
  onClose: () => void;
}) {
  const { t } = useText();
  return (
    <aside className="panel" aria-label={node.name}>
      <header>
        <h2>{node.name}</h2>
        <button type="button" className="button small" onClick={onClose} aria-label={t('close')}>
          ×
        </button>
      </header>
      <p>
        {node.ready ? <Badge tone="good">Ready</Badge> : <Badge tone="bad">{node.reason ?? t('notReady')}</Badge>}{' '}
        {node.unschedulable && <Badge tone="wait">{t('cordoned')}</Badge>}
      </p>
      <Facts
        facts={levels.filter((l) => l !== 'kubernetes.io/hostname').map((l) => [resourceName(l), node.domains[l]])}
      />
      {Object.keys(node.allocatable)
        .sort(byResource)
        .map((r) => {
          const part = percent(node.used[r] ?? 0, node.allocatable[r] ?? 0);
          return (
            <div key={r} className="node-use">
              <span>{resourceName(r)}</span>
              <Meter value={part} label={`${r}: ${Math.round(part)} %`} />
              <span className="amounts">
                {amount(r, node.used[r] ?? 0)} / {amount(r, node.allocatable[r])}
              </span>
            </div>
          );
        })}
      {node.taints?.length ? <p className="quiet">{node.taints.join(', ')}</p> : null}
      <h3>{t('workloads')}</h3>
      {placed.length === 0 ? (
        <Empty>{t('emptyNode')}</Empty>
      ) : (
        <ul className="placed">
          {placed.map((p) => (
            <li key={`${p.ns}/${p.name}`}>
              {p.name ? (
                <WorkloadLink name={`${p.ns}/${p.name}`} />
              ) : (
                <span>
                  {t('otherPods')} <span className="quiet">{p.ns}</span>
                </span>
              )}{' '}
              <span className="quiet">
                {Object.keys(p.used)
                  .sort(byResource)
                  .map((r) => `${amount(r, p.used[r])} ${resourceName(r)}`)
                  .join(' · ')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </aside>
  );
}

// The same facts as text: racks with their sums, and each node.
function NodeTable({
  groups,
  levels,
  resource,
  placed,
  onOpen,
}: {
  groups: ReturnType<typeof group>;
  levels: string[];
  resource: string;
  placed: ReadonlyMap<string, Placed[]>;
  onOpen: (name: string) => void;
}) {
  const { t } = useText();
  const [query, change] = useQuery();
  const text = query.get('text') ?? '';
  const rows = useMemo(
    () =>
      groups
        .flatMap((b) => b.racks.flatMap((r) => r.nodes.map((n) => ({ n, where: r.path.join(' › ') }))))
        .filter(({ n, where }) => !text || `${n.name} ${where}`.includes(text)),
    [groups, text],
  );
  const of = (n: Node) => placed.get(n.name) ?? [];
  const part = (n: Node) => percent(n.used[resource] ?? 0, n.allocatable[resource] ?? 0);
  const columns: Column<{ n: Node; where: string }>[] = [
    {
      id: 'name',
      label: t('node'),
      width: 'minmax(150px, 1.2fr)',
      sort: (r) => r.n.name,
      cell: (r) => (
        <button type="button" tabIndex={-1} className="link" onClick={() => onOpen(r.n.name)}>
          {r.n.name}
        </button>
      ),
    },
    {
      id: 'where',
      label: levels.length > 1 ? t('rack') : t('topology'),
      width: 'minmax(130px, 1fr)',
      sort: (r) => r.where,
      cell: (r) => r.where,
    },
    {
      id: 'part',
      label: resourceName(resource),
      width: 'minmax(150px, 1fr)',
      sort: (r) => part(r.n),
      cell: (r) => (
        <div className="node-use">
          <Meter value={part(r.n)} label={t('usedPart', { percent: `${Math.round(part(r.n))} %` })} />
          <span className="amounts">
            {amount(resource, r.n.used[resource] ?? 0)} / {amount(resource, r.n.allocatable[resource] ?? 0)}
          </span>
        </div>
      ),
    },
    {
      id: 'workloads',
      label: t('workloads'),
      width: 'minmax(170px, 1.6fr)',
      wide: true,
      sort: (r) => of(r.n).length,
      cell: (r) => (
        <span
          className="names"
          title={of(r.n)
            .map((p) => `${p.ns}/${p.name}`)
            .join(', ')}
        >
          {of(r.n).map((p, i) => (
            <Fragment key={`${p.ns}/${p.name}`}>
              {i > 0 && ', '}
              {p.name ? <WorkloadLink name={`${p.ns}/${p.name}`} /> : t('otherPods')}
            </Fragment>
          ))}
        </span>
      ),
    },
    {
      id: 'state',
      label: t('state'),
      width: '150px',
      sort: (r) => `${r.n.ready}${r.n.unschedulable ?? ''}`,
      cell: (r) =>
        r.n.ready ? (
          <Badge tone={r.n.unschedulable ? 'wait' : 'good'}>{r.n.unschedulable ? t('cordoned') : 'Ready'}</Badge>
        ) : (
          <Badge tone="bad">{r.n.reason ?? t('notReady')}</Badge>
        ),
    },
  ];
  const racks = useMemo(() => rackTotals(groups, resource), [groups, resource]);
  return (
    <div className="stack grow">
      {levels.length > 1 && (
        <details className="racks" open={racks.length <= 40}>
          <summary>{t('perRack')}</summary>
          <div className="scroll" tabIndex={0} role="region" aria-label={t('perRack')}>
            <table className="plain">
              <thead>
                <tr>
                  <th>{t('rack')}</th>
                  <th className="end">{t('nodesNow')}</th>
                  <th className="end">{t('freeNodes')}</th>
                  <th className="end">{t('notReady')}</th>
                  <th className="end">{resourceName(resource)}</th>
                  <th className="end">{t('freeOf')}</th>
                </tr>
              </thead>
              <tbody>
                {racks.map((r) => (
                  <tr key={r.where}>
                    <td>{r.where}</td>
                    <td className="end">{r.nodes}</td>
                    <td className="end">{r.empty}</td>
                    <td className="end">{r.failed || ''}</td>
                    <td className="end">
                      {amount(resource, r.used)} / {amount(resource, r.all)}
                    </td>
                    <td className="end">{amount(resource, r.free)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      <Search value={text} onChange={(value) => change({ text: value })} />
      <Table
        label={t('topology')}
        rows={rows}
        columns={columns}
        rowKey={(r) => r.n.key}
        sort="where"
        filtered={text !== ''}
      />
    </div>
  );
}
