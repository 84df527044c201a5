import { useVirtualizer } from '@tanstack/react-virtual';
import { useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useCollection, useNarrow } from '../data/hooks';
import { byResource, count, resourceName } from '../logic/format';
import { buildTree, buildVolcanoTree, flatten, type TreeNode } from '../logic/tree';
import { useText } from '../text';
import { QuotaBar, QuotaLegend } from '../ui/bars';
import { Badge, Denied, Empty, Page, QueueBadge, Search } from '../ui/parts';
import { Link, navigate, path, useQuery } from '../ui/router';

const ROW = 44;
const HEAD = 38;

export const nodePath = (n: TreeNode): string =>
  path(n.kind === 'cohort' ? 'cohorts' : n.kind === 'queue' ? 'clusterqueues' : 'vcqueues', n.name);

export function Queues() {
  const { t, language } = useText();
  const queues = useCollection('clusterqueues');
  const cohorts = useCollection('cohorts');
  const volcano = useCollection('vcqueues');
  const [query, change] = useQuery();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const text = query.get('text') ?? '';
  const roots = useMemo(
    () => [...buildTree(queues.rows, cohorts.rows), ...buildVolcanoTree(volcano.rows)],
    [queues, cohorts, volcano],
  );
  const closeAll = () => {
    const all = new Set<string>();
    const walk = (n: TreeNode) => {
      if (n.children.length > 0) all.add(n.id);
      n.children.forEach(walk);
    };
    roots.forEach(walk);
    setClosed(all);
  };
  return (
    <Page
      fill
      title={t('queues')}
      quiet={t('queuesShown', { n: count(queues.rows.length + volcano.rows.length, language) })}
    >
      <div className="filters" role="search">
        <Search value={text} onChange={(value) => change({ text: value })} />
        <button type="button" className="button small" onClick={() => setClosed(new Set())}>
          {t('expandAll')}
        </button>
        <button type="button" className="button small" onClick={closeAll}>
          {t('collapseAll')}
        </button>
        <QuotaLegend />
      </div>
      {queues.state === 'denied' && <Denied message={queues.message} right="list clusterqueues.kueue.x-k8s.io" />}
      {!(queues.state === 'denied' && roots.length === 0) && (
        <Tree roots={roots} text={text} closed={closed} onClosed={setClosed} loading={queues.state === 'waiting'} />
      )}
    </Page>
  );
}

export function Tree({
  roots,
  text,
  closed,
  onClosed,
  loading,
  fit,
}: {
  roots: TreeNode[];
  text: string;
  closed: ReadonlySet<string>;
  onClosed: (closed: ReadonlySet<string>) => void;
  loading?: boolean;
  fit?: boolean;
}) {
  const { t } = useText();
  const narrow = useNarrow();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState('');
  const rows = useMemo(() => flatten(roots, closed, text), [roots, closed, text]);
  const resources = useMemo(() => {
    const all = new Set<string>();
    const walk = (n: TreeNode) => {
      for (const r of n.use.keys()) all.add(r);
      n.children.forEach(walk);
    };
    roots.forEach(walk);
    return [...all].sort(byResource).slice(0, narrow ? 1 : 4);
  }, [roots, narrow]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 10,
    paddingStart: HEAD,
    scrollPaddingStart: HEAD,
  });
  const at = Math.max(
    0,
    rows.findIndex((r) => r.node.id === active),
  );
  const toggle = (n: TreeNode) => {
    const next = new Set(closed);
    if (!next.delete(n.id)) next.add(n.id);
    onClosed(next);
  };
  const go = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    setActive(row.node.id);
    virtual.scrollToIndex(rows.indexOf(row));
  };
  const keys = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget) return;
    const row = rows[at];
    if (!row) return;
    if (e.key === 'ArrowDown') go(at + 1);
    else if (e.key === 'ArrowUp') go(at - 1);
    else if (e.key === 'Home') go(0);
    else if (e.key === 'End') go(rows.length - 1);
    else if (e.key === 'PageDown') go(at + 10);
    else if (e.key === 'PageUp') go(at - 10);
    else if (e.key === 'Enter') navigate(nodePath(row.node));
    else if (e.key === ' ' && row.node.children.length > 0) toggle(row.node);
    else if (e.key === 'ArrowRight') {
      if (row.node.children.length > 0 && !row.open) toggle(row.node);
      else if (row.open) go(at + 1);
    } else if (e.key === 'ArrowLeft') {
      if (row.open) toggle(row.node);
      else
        for (let i = at - 1; i >= 0; i--)
          if (rows[i]!.level < row.level) {
            go(i);
            break;
          }
    } else return;
    e.preventDefault();
  };
  const tracks = {
    gridTemplateColumns: narrow
      ? 'minmax(130px, 1.4fr) minmax(96px, 1fr) 48px'
      : `minmax(220px, 1.6fr) ${resources.map(() => 'minmax(130px, 1fr)').join(' ')} 72px 76px 92px 100px`,
  };
  const columns = [
    t('name'),
    ...resources.map(resourceName),
    t('waiting'),
    ...(narrow ? [] : [t('admitted'), t('fairShare'), t('state')]),
  ];
  return (
    <div
      className={fit ? 'table tree fit' : 'table tree'}
      role="treegrid"
      aria-label={t('queues')}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${id}-${at}` : undefined}
      ref={box}
      onKeyDown={keys}
      style={fit ? { height: Math.min(480, rows.length * ROW + HEAD + 4) } : undefined}
    >
      <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
        <div className="row head" role="row" aria-rowindex={1} style={tracks}>
          {columns.map((c, i) => (
            <div
              key={i}
              role="columnheader"
              className={i > resources.length && (narrow || i <= resources.length + 3) ? 'end' : undefined}
            >
              {c}
            </div>
          ))}
        </div>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          const n = row.node;
          return (
            <div
              key={n.id}
              id={`${id}-${item.index}`}
              role="row"
              aria-rowindex={item.index + 2}
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.siblings}
              aria-expanded={n.children.length > 0 ? row.open : undefined}
              className={`row ${n.kind}${item.index === at ? ' active' : ''}`}
              data-key={n.id}
              style={{ ...tracks, height: ROW, transform: `translateY(${item.start}px)` }}
              onMouseDown={() => setActive(n.id)}
            >
              <div role="gridcell" className="tree-name" style={{ paddingLeft: 8 + (row.level - 1) * 18 }}>
                {n.children.length > 0 ? (
                  <button
                    type="button"
                    tabIndex={-1}
                    className={row.open ? 'twist open' : 'twist'}
                    aria-label={`${t(row.open ? 'collapse' : 'expand')} ${n.name}`}
                    onClick={() => toggle(n)}
                  >
                    ▸
                  </button>
                ) : (
                  <span className="twist" />
                )}
                <Link to={nodePath(n)} tabIndex={-1} className="main">
                  {n.name}
                </Link>
                {n.kind === 'cohort' && !narrow && <span className="tag">{t('cohort')}</span>}
                {n.kind === 'volcano' && <span className="tag">Volcano</span>}
              </div>
              {resources.map((r) => {
                const use = n.use.get(r);
                return (
                  <div key={r} role="gridcell">
                    {use ? (
                      <QuotaBar resource={r} use={use} label={`${n.name} ${resourceName(r)}`} />
                    ) : (
                      <span className="quiet">–</span>
                    )}
                  </div>
                );
              })}
              <div role="gridcell" className="end">
                {n.pending > 0 ? <b className="waits">{n.pending}</b> : <span className="quiet">0</span>}
              </div>
              {!narrow && (
                <div role="gridcell" className="end">
                  {n.admitted}
                </div>
              )}
              {!narrow && (
                <div role="gridcell" className="end" title={t('shareHelp')}>
                  {n.share ?? (n.weight === undefined ? <span className="quiet">–</span> : null)}
                  {n.weight !== undefined && <span className="quiet"> ×{n.weight}</span>}
                </div>
              )}
              {!narrow && (
                <div role="gridcell">
                  {n.queue ? (
                    <QueueBadge queue={n.queue} />
                  ) : n.volcano ? (
                    <Badge tone={n.volcano.state === 'Open' ? 'good' : 'wait'}>{n.volcano.state}</Badge>
                  ) : null}
                </div>
              )}
            </div>
          );
        })}
      </div>
      {rows.length === 0 && (
        <div className="row-empty" role="row">
          <div role="gridcell">
            <Empty>{loading ? t('loading') : text ? t('noMatch') : t('noRows')}</Empty>
          </div>
        </div>
      )}
    </div>
  );
}
