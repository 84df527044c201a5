// A table of any length: only the visible rows are in the page. One tab stop; arrow keys move, Enter opens the row.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { CollectionState } from '../data/store';
import { useNarrow, useRoomy } from '../data/hooks';
import { sortRows } from '../logic/sort';
import { useText } from '../text';
import { Denied, Empty } from './parts';
import { navigate, useQuery } from './router';

export interface Column<R> {
  id: string;
  label: string;
  width: string; // a track of CSS grid, e.g. "minmax(160px, 2fr)"
  cell: (row: R) => ReactNode;
  sort?: (row: R) => string | number | undefined;
  end?: boolean; // aligned to the right: numbers
  wide?: boolean; // left out on narrow screens
  roomy?: boolean; // shown only where there is plenty of room
  under?: (row: R) => ReactNode; // a second line of the cell, on narrow screens
}

interface Props<R> {
  label: string;
  rows: R[];
  columns: Column<R>[];
  rowKey: (row: R) => string;
  href?: (row: R) => string;
  sort?: string; // "created", or "-created" for the largest first
  sortParam?: string; // the parameter of the address that keeps the order
  state?: CollectionState;
  message?: string;
  right?: string;
  filtered?: boolean; // rows are missing because of filters
  fit?: boolean; // as high as its rows, up to a bound, instead of filling the page
}

const ROW = 38;
const TWO_LINES = 56;
export function Table<R>(props: Props<R>) {
  const { label, rows, columns, rowKey, href, state = 'ready', sortParam = 'sort', fit } = props;
  const { t } = useText();
  const narrow = useNarrow();
  const [query, change] = useQuery();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const roomy = useRoomy();
  const height1 = narrow && columns.some((c) => c.under) ? TWO_LINES : ROW;
  const shown = columns.filter((c) => !(narrow && c.wide) && (roomy || !c.roomy));
  const sort = query.get(sortParam) ?? props.sort ?? '';
  const down = sort.startsWith('-');
  const by = columns.find((c) => c.id === sort.replace(/^-/, ''));
  const sorted = useMemo(() => sortRows(rows, by?.sort, down), [rows, by?.id, down]); // eslint-disable-line
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => box.current,
    estimateSize: () => height1,
    overscan: 12,
    paddingStart: ROW,
    scrollPaddingStart: ROW,
  });
  useEffect(() => virtual.measure(), [height1]); // eslint-disable-line
  useEffect(() => setActive((n) => Math.min(n, Math.max(0, sorted.length - 1))), [sorted.length]);

  const keys = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / height1) - 2);
    const step: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -sorted.length,
      End: sorted.length,
    };
    const by = step[e.key];
    if (by !== undefined) {
      const next = Math.max(0, Math.min(sorted.length - 1, active + by));
      setActive(next);
      virtual.scrollToIndex(next);
      e.preventDefault();
    } else if (e.key === 'Enter' && href && sorted[active]) navigate(href(sorted[active]));
  };
  if (state === 'denied') return <Denied message={props.message ?? ''} right={props.right} />;
  const tracks = { gridTemplateColumns: shown.map((c) => c.width).join(' ') };
  const height = fit ? Math.min(440, Math.max(1, sorted.length) * height1 + ROW + 4) : undefined;
  return (
    <div
      className={fit ? 'table fit' : 'table'}
      role="grid"
      aria-label={label}
      aria-rowcount={sorted.length + 1}
      aria-colcount={shown.length}
      aria-activedescendant={sorted.length > 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      ref={box}
      onKeyDown={keys}
      style={{ height }}
    >
      <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
        <div className="row head" role="row" aria-rowindex={1} style={tracks}>
          {shown.map((c) => {
            const now = by?.id === c.id;
            return (
              <div
                key={c.id}
                role="columnheader"
                className={c.end ? 'end' : undefined}
                aria-sort={now ? (down ? 'descending' : 'ascending') : undefined}
              >
                {c.sort ? (
                  <button
                    type="button"
                    onClick={() => change({ [sortParam]: now && !down ? `-${c.id}` : c.id })}
                    title={t('sortBy', { column: c.label })}
                  >
                    {c.label}
                    <span aria-hidden="true" className="arrow">
                      {now ? (down ? '↓' : '↑') : ''}
                    </span>
                  </button>
                ) : (
                  c.label
                )}
              </div>
            );
          })}
        </div>
        {virtual.getVirtualItems().map((item) => {
          const row = sorted[item.index];
          if (row === undefined) return null;
          return (
            <div
              key={rowKey(row)}
              id={`${id}-${item.index}`}
              role="row"
              aria-rowindex={item.index + 2}
              className={item.index === active ? 'row active' : 'row'}
              style={{ ...tracks, height: height1, transform: `translateY(${item.start}px)` }}
              data-key={rowKey(row)}
              onMouseDown={() => setActive(item.index)}
              onClick={(e) => {
                if (href && !(e.target as HTMLElement).closest('a,button') && !getSelection()?.toString())
                  navigate(href(row));
              }}
            >
              {shown.map((c) => (
                <div key={c.id} role="gridcell" className={c.end ? 'end' : undefined}>
                  {c.cell(row)}
                  {narrow && c.under && <div className="under-line">{c.under(row)}</div>}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {sorted.length === 0 && (
        <div className="row-empty" role="row">
          <div role="gridcell">
            <Empty>{state === 'waiting' ? t('loading') : props.filtered ? t('noMatch') : t('noRows')}</Empty>
          </div>
        </div>
      )}
    </div>
  );
}
