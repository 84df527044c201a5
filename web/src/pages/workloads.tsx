import { useMemo } from 'react';
import { useCollection, useWorkloads } from '../data/hooks';
import type { Workload } from '../data/rows';
import { useInfo } from '../data/session';
import { amounts, amountsInShort, byResource, count } from '../logic/format';
import { filterWorkloads, holdsQuota, kindOf, whyInColumn, whyInShort, isWaiting } from '../logic/workloads';
import { useText } from '../text';
import { Age, Card, Choice, CqLink, LqLink, Page, Search, StateBadge, workloadPath } from '../ui/parts';
import { Link, useQuery } from '../ui/router';
import { StartCell } from '../ui/start';
import { Table, type Column } from '../ui/table';

export function useWorkloadColumns(without: string[] = []): Column<Workload>[] {
  const { t, said, language } = useText();
  const positions = useCollection('positions');
  const info = useInfo();
  return useMemo(() => {
    const place = (w: Workload) => (isWaiting(w) ? positions.get(w.key)?.position : undefined);
    const all: Column<Workload>[] = [
      {
        id: 'name',
        label: t('name'),
        width: 'minmax(170px, 2.4fr)',
        sort: (w) => w.key,
        cell: (w) => (
          <Link to={workloadPath(w.key)} tabIndex={-1} className="main" title={`${kindOf(w)} ${w.key}`}>
            <span className="quiet">{w.ns}/</span>
            {w.name}
          </Link>
        ),
        under: (w) => (w.why ? <span className="quiet">{said(whyInColumn(w))}</span> : null),
      },
      {
        id: 'state',
        label: t('state'),
        width: '112px',
        sort: (w) => w.state + (w.result ?? ''),
        cell: (w) => <StateBadge workload={w} />,
      },
      {
        id: 'position',
        label: '#',
        width: '40px',
        end: true,
        sort: place,
        cell: (w) => {
          const p = place(w);
          return p === undefined ? '' : p + 1;
        },
      },
      {
        id: 'cq',
        label: t('clusterQueue'),
        width: 'minmax(92px, 0.7fr)',
        wide: true,
        sort: (w) => w.cq,
        cell: (w) => <CqLink name={w.cq} />,
      },
      {
        id: 'queue',
        label: t('localQueue'),
        width: 'minmax(70px, 0.7fr)',
        wide: true,
        roomy: !without.includes('cq'),
        sort: (w) => w.queue,
        cell: (w) => <LqLink ns={w.ns} name={w.queue} />,
      },
      {
        id: 'kind',
        label: t('kind'),
        width: 'minmax(66px, 0.6fr)',
        wide: true,
        roomy: true,
        sort: kindOf,
        cell: kindOf,
      },
      {
        id: 'priority',
        label: t('priority'),
        width: '66px',
        end: true,
        wide: true,
        sort: (w) => w.priority,
        cell: (w) => <span title={w.pc}>{count(w.priority, language)}</span>,
      },
      {
        id: 'requests',
        label: t('requests'),
        width: 'minmax(182px, 0.6fr)',
        wide: true,
        sort: (w) => w.requests[Object.keys(w.requests).sort(byResource)[0] ?? ''],
        cell: (w) => (
          <span className="amounts" title={amounts(w.requests)}>
            {amountsInShort(w.requests)}
          </span>
        ),
      },
      {
        id: 'why',
        label: t('reason'),
        width: 'minmax(172px, 1fr)',
        wide: true,
        sort: (w) => (isWaiting(w) ? whyInShort(w) : undefined),
        cell: (w) =>
          isWaiting(w) || w.why ? (
            <span title={w.message} className="quiet">
              {said(whyInColumn(w))}
            </span>
          ) : w.flavors ? (
            <span className="quiet">{w.flavors.join(', ')}</span>
          ) : (
            ''
          ),
      },
      {
        id: 'start',
        label: t('expectedStart'),
        width: '118px',
        wide: true,
        cell: (w) => (place(w) === undefined || !info?.explain ? '' : <StartCell ns={w.ns} name={w.name} />),
      },
      {
        id: 'evictions',
        label: t('evictions'),
        width: '78px',
        end: true,
        wide: true,
        roomy: true,
        sort: (w) => w.evictions,
        cell: (w) => w.evictions || '',
      },
      {
        id: 'created',
        label: t('age'),
        width: '68px',
        end: true,
        sort: (w) => (w.created === undefined ? undefined : -w.created),
        cell: (w) => <Age at={w.created} />,
      },
    ];
    return all.filter((c) => !without.includes(c.id));
  }, [positions, info, language, without.join()]); // eslint-disable-line
}

export function WorkloadTable({
  rows,
  without,
  label,
  right,
  sort = 'created',
}: {
  rows: Workload[];
  without?: string[];
  label: string;
  right?: string;
  sort?: string;
}) {
  const all = useWorkloads();
  const columns = useWorkloadColumns(without);
  return (
    <Table
      label={label}
      rows={rows}
      columns={columns}
      rowKey={(w) => w.key}
      href={(w) => workloadPath(w.key)}
      sort={sort}
      sortParam={sort === 'created' ? 'sort' : `sort-${sort}`}
      state={all.state}
      message={all.message}
      right={right ?? 'list workloads.kueue.x-k8s.io'}
      fit
    />
  );
}

// Those of a queue: what waits in the order of the queue, apart from what holds quota.
export function QueueWorkloads({ rows, without, all }: { rows: Workload[]; without: string[]; all: string }) {
  const { t } = useText();
  const holding = useMemo(() => rows.filter(holdsQuota), [rows]);
  const others = useMemo(() => rows.filter((w) => !holdsQuota(w)), [rows]);
  return (
    <>
      <Card
        title={
          <>
            {t('waiting')} <span className="quiet">{others.length}</span>
          </>
        }
        aside={<Link to={all}>{t('workloads')}</Link>}
      >
        <WorkloadTable label={t('waiting')} rows={others} without={without} sort="position" />
      </Card>
      <Card
        title={
          <>
            {t('holdsQuotaNow')} <span className="quiet">{holding.length}</span>
          </>
        }
      >
        <WorkloadTable label={t('holdsQuotaNow')} rows={holding} without={[...without, 'position', 'start']} />
      </Card>
    </>
  );
}

export function Workloads() {
  const { t, language } = useText();
  const all = useWorkloads();
  const queues = useCollection('clusterqueues');
  const locals = useCollection('localqueues');
  const [query, change] = useQuery();
  const filter = {
    ns: query.get('ns') ?? '',
    queue: query.get('queue') ?? '',
    state: query.get('state') ?? '',
    kind: query.get('kind') ?? '',
    text: query.get('text') ?? '',
  };
  const rows = useMemo(() => filterWorkloads(all.rows, filter), [all, ...Object.values(filter)]); // eslint-disable-line
  const kinds = useMemo(() => [...new Set(all.rows.map(kindOf))].sort(), [all]);
  const columns = useWorkloadColumns();
  const any = Object.values(filter).some(Boolean);
  const states = [
    '',
    'waiting',
    'running',
    'pending',
    'quotaReserved',
    'admitted',
    'evicted',
    'inactive',
    'finished',
    'failed',
    'all',
  ] as const;
  return (
    <Page
      fill
      title={t('workloads')}
      quiet={
        <span aria-live="polite">
          {t('rowsOf', { shown: count(rows.length, language), all: count(all.rows.length, language) })}
        </span>
      }
    >
      <div className="filters" role="search">
        <Search value={filter.text} onChange={(text) => change({ text })} />
        <Choice
          label={t('anyState')}
          hideLabel
          value={filter.state}
          onChange={(state) => change({ state }, true)}
          options={states.map((id) => ({ id, label: t(id === '' ? 'notFinished' : id) }))}
        />
        <Choice
          label={t('queue')}
          hideLabel
          value={filter.queue}
          onChange={(queue) => change({ queue }, true)}
          options={[
            { id: '', label: t('anyQueue') },
            ...queues.rows
              .map((q) => q.name)
              .sort()
              .map((id) => ({ id, label: id })),
            ...locals.rows
              .filter((q) => !filter.ns || q.ns === filter.ns)
              .map((q) => q.key)
              .sort()
              .map((id) => ({ id, label: id })),
          ]}
        />
        <Choice
          label={t('kind')}
          hideLabel
          value={filter.kind}
          onChange={(kind) => change({ kind }, true)}
          options={[{ id: '', label: t('anyKind') }, ...kinds.map((id) => ({ id, label: id }))]}
        />
        {any && (
          <button
            type="button"
            className="button small"
            onClick={() => change({ ns: '', queue: '', state: '', kind: '', text: '' }, true)}
          >
            {t('clearFilters')}
          </button>
        )}
      </div>
      <Table
        label={t('workloads')}
        rows={rows}
        columns={columns}
        rowKey={(w) => w.key}
        href={(w) => workloadPath(w.key)}
        sort="created"
        state={all.state}
        message={all.message}
        right="list workloads.kueue.x-k8s.io"
        filtered={rows.length < all.rows.length}
      />
    </Page>
  );
}
