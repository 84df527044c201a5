// The lists of local queues, cohorts, flavors, and checks with ProvisioningRequests.
import { useMemo } from 'react';
import { useCollection } from '../data/hooks';
import type { Check, Cohort, Flavor, LocalQueue, ProvisioningRequest } from '../data/rows';
import { amount, amounts, sentence, byResource, resourceName } from '../logic/format';
import { buildTree } from '../logic/tree';
import { useText } from '../text';
import { QuotaBar } from '../ui/bars';
import { Age, Badge, Card, CqLink, Page, QueueBadge, Search, WorkloadLink, type Tone } from '../ui/parts';
import { Link, path, useQuery } from '../ui/router';
import { Table, type Column } from '../ui/table';

const has = (text: string, ...where: (string | undefined)[]): boolean =>
  where.some((w) => w?.toLowerCase().includes(text.toLowerCase()));

export function LocalQueueTable({ rows, fit, filtered }: { rows: LocalQueue[]; fit?: boolean; filtered?: boolean }) {
  const { t } = useText();
  const all = useCollection('localqueues');
  const used = (q: LocalQueue) => {
    const sum: Record<string, number> = {};
    for (const u of q.usage) sum[u.resource] = (sum[u.resource] ?? 0) + u.reserved;
    return sum;
  };
  const columns: Column<LocalQueue>[] = [
    {
      id: 'name',
      label: t('name'),
      width: 'minmax(170px, 1.4fr)',
      sort: (q) => q.key,
      cell: (q) => (
        <Link to={path('localqueues', q.ns, q.name)} tabIndex={-1} className="main">
          <span className="quiet">{q.ns}/</span>
          {q.name}
        </Link>
      ),
    },
    {
      id: 'cq',
      label: t('clusterQueue'),
      width: 'minmax(110px, 1fr)',
      sort: (q) => q.cq,
      cell: (q) => <CqLink name={q.cq} />,
    },
    {
      id: 'pending',
      label: t('waiting'),
      width: '80px',
      end: true,
      sort: (q) => q.pending,
      cell: (q) => (q.pending ? <b className="waits">{q.pending}</b> : 0),
    },
    {
      id: 'reserving',
      label: t('running'),
      width: '92px',
      end: true,
      wide: true,
      sort: (q) => q.reserving,
      cell: (q) => q.reserving,
    },
    {
      id: 'admitted',
      label: t('admitted'),
      width: '76px',
      end: true,
      wide: true,
      sort: (q) => q.admitted,
      cell: (q) => q.admitted,
    },
    {
      id: 'usage',
      label: t('usage'),
      width: 'minmax(150px, 1.8fr)',
      wide: true,
      cell: (q) => <span className="amounts">{amounts(used(q))}</span>,
    },
    {
      id: 'past',
      label: t('pastUse'),
      width: 'minmax(110px, 0.8fr)',
      wide: true,
      sort: (q) => (q.past ? Object.values(q.past)[0] : undefined),
      cell: (q) => (q.past ? <span className="quiet">{amounts(q.past)}</span> : ''),
    },
    {
      id: 'state',
      label: t('state'),
      width: '100px',
      sort: (q) => `${q.stop}${q.active}`,
      cell: (q) => <QueueBadge queue={q} />,
    },
    {
      id: 'created',
      label: t('age'),
      width: '80px',
      end: true,
      wide: true,
      sort: (q) => (q.created === undefined ? undefined : -q.created),
      cell: (q) => <Age at={q.created} />,
    },
  ];
  // Past use exists with admission fair sharing only.
  const shown = rows.some((q) => q.past) ? columns : columns.filter((c) => c.id !== 'past');
  return (
    <Table
      label={t('localQueues')}
      rows={rows}
      columns={shown}
      rowKey={(q) => q.key}
      href={(q) => path('localqueues', q.ns, q.name)}
      sort="name"
      state={all.state}
      message={all.message}
      right="list localqueues.kueue.x-k8s.io"
      filtered={filtered}
      fit={fit}
    />
  );
}

export function LocalQueues() {
  const { t } = useText();
  const all = useCollection('localqueues');
  const [query, change] = useQuery();
  const [ns, text] = [query.get('ns') ?? '', query.get('text') ?? ''];
  const rows = useMemo(() => all.rows.filter((q) => (!ns || q.ns === ns) && has(text, q.key, q.cq)), [all, ns, text]);
  return (
    <Page fill title={t('localQueues')} quiet={t('rowsOf', { shown: rows.length, all: all.rows.length })}>
      <div className="filters" role="search">
        <Search value={text} onChange={(value) => change({ text: value })} />
      </div>
      <LocalQueueTable rows={rows} filtered={rows.length < all.rows.length} />
    </Page>
  );
}

interface CohortRow {
  name: string;
  cohort?: Cohort;
  queues: number;
  pending: number;
  bars: ReturnType<typeof buildTree>[number];
}

export function Cohorts() {
  const { t } = useText();
  const queues = useCollection('clusterqueues');
  const cohorts = useCollection('cohorts');
  const rows = useMemo(() => {
    const out: CohortRow[] = [];
    const walk = (n: CohortRow['bars']): number => {
      const queues = n.children.reduce((sum, c) => sum + walk(c), 0) + Number(n.kind === 'queue');
      if (n.kind === 'cohort') out.push({ name: n.name, cohort: n.cohort, queues, pending: n.pending, bars: n });
      return queues;
    };
    buildTree(queues.rows, cohorts.rows).forEach(walk);
    return out;
  }, [queues, cohorts]);
  const resources = [...new Set(rows.flatMap((r) => [...r.bars.use.keys()]))].sort(byResource).slice(0, 3);
  const columns: Column<CohortRow>[] = [
    {
      id: 'name',
      label: t('name'),
      width: 'minmax(150px, 1.2fr)',
      sort: (r) => r.name,
      cell: (r) => (
        <Link to={path('cohorts', r.name)} tabIndex={-1} className="main">
          {r.name}
        </Link>
      ),
    },
    {
      id: 'parent',
      label: t('parent'),
      width: 'minmax(90px, 0.8fr)',
      sort: (r) => r.cohort?.parent,
      cell: (r) => (r.cohort?.parent ? <Link to={path('cohorts', r.cohort.parent)}>{r.cohort.parent}</Link> : ''),
    },
    ...resources.map((resource): Column<CohortRow> => ({
      id: resource,
      label: resourceName(resource),
      width: 'minmax(150px, 1fr)',
      wide: true,
      sort: (r) => r.bars.use.get(resource)?.reserved,
      cell: (r) => {
        const use = r.bars.use.get(resource);
        return use ? <QuotaBar resource={resource} use={use} /> : '';
      },
    })),
    { id: 'queues', label: t('queues'), width: '80px', end: true, sort: (r) => r.queues, cell: (r) => r.queues },
    { id: 'pending', label: t('waiting'), width: '80px', end: true, sort: (r) => r.pending, cell: (r) => r.pending },
    {
      id: 'share',
      label: t('fairShare'),
      width: '100px',
      end: true,
      wide: true,
      sort: (r) => r.cohort?.share,
      cell: (r) => r.cohort?.share ?? '',
    },
  ];
  return (
    <Page fill title={t('cohorts')} quiet={t('rows', { all: rows.length })}>
      <Table
        label={t('cohorts')}
        rows={rows}
        columns={columns}
        rowKey={(r) => r.name}
        href={(r) => path('cohorts', r.name)}
        sort="name"
        state={queues.state === 'denied' ? cohorts.state : queues.state}
        message={cohorts.message}
        right="list cohorts.kueue.x-k8s.io"
      />
    </Page>
  );
}

export function Flavors() {
  const { t } = useText();
  const all = useCollection('flavors');
  const queues = useCollection('clusterqueues');
  const use = useMemo(() => {
    const found = new Map<string, Map<string, [number, number]>>();
    for (const q of queues.rows)
      for (const u of q.quotas) {
        const f = found.get(u.flavor) ?? new Map<string, [number, number]>();
        const [a, b] = f.get(u.resource) ?? [0, 0];
        f.set(u.resource, [a + u.used, b + (u.nominal ?? 0)]);
        found.set(u.flavor, f);
      }
    return found;
  }, [queues]);
  const columns: Column<Flavor>[] = [
    {
      id: 'name',
      label: t('name'),
      width: 'minmax(140px, 1fr)',
      sort: (f) => f.name,
      cell: (f) => (
        <Link to={path('flavors', f.name)} tabIndex={-1} className="main">
          {f.name}
        </Link>
      ),
    },
    {
      id: 'use',
      label: t('usage'),
      width: 'minmax(200px, 1.6fr)',
      cell: (f) => (
        <span className="amounts">
          {[...(use.get(f.name) ?? [])]
            .sort(([a], [b]) => byResource(a, b))
            .map(([r, [u, n]]) => `${amount(r, u)} / ${amount(r, n)} ${resourceName(r)}`)
            .join(' · ')}
        </span>
      ),
    },
    {
      id: 'topology',
      label: t('topology'),
      width: 'minmax(90px, 0.7fr)',
      sort: (f) => f.topology,
      cell: (f) =>
        f.topology ? <Link to={`/topology?topology=${encodeURIComponent(f.topology)}`}>{f.topology}</Link> : '',
    },
    {
      id: 'labels',
      label: t('labels'),
      width: 'minmax(150px, 1.3fr)',
      wide: true,
      cell: (f) => (
        <span className="quiet">
          {Object.entries(f.labels)
            .map(([k, v]) => `${k}=${v}`)
            .join(', ')}
        </span>
      ),
    },
    {
      id: 'taints',
      label: t('taints'),
      width: 'minmax(110px, 1fr)',
      wide: true,
      cell: (f) => <span className="quiet">{f.taints.join(', ')}</span>,
    },
    {
      id: 'created',
      label: t('age'),
      width: '80px',
      end: true,
      wide: true,
      sort: (f) => (f.created === undefined ? undefined : -f.created),
      cell: (f) => <Age at={f.created} />,
    },
  ];
  return (
    <Page fill title={t('flavors')} quiet={t('rows', { all: all.rows.length })}>
      <Table
        label={t('flavors')}
        rows={all.rows}
        columns={columns}
        rowKey={(f) => f.key}
        href={(f) => path('flavors', f.name)}
        sort="name"
        state={all.state}
        message={all.message}
        right="list resourceflavors.kueue.x-k8s.io"
      />
    </Page>
  );
}

const REQUEST_TONES: Record<string, Tone> = {
  pending: 'wait',
  accepted: 'info',
  provisioned: 'good',
  failed: 'bad',
  bookingExpired: 'bad',
  capacityRevoked: 'bad',
};

export function RequestTable({ rows }: { rows: ProvisioningRequest[] }) {
  const { t, said } = useText();
  const all = useCollection('provisioningrequests');
  const columns: Column<ProvisioningRequest>[] = [
    {
      id: 'name',
      label: t('name'),
      width: 'minmax(190px, 1.4fr)',
      sort: (r) => r.key,
      cell: (r) => (
        <Link to={path('provisioningrequests', r.ns, r.name)} className="main" tabIndex={-1}>
          <span className="quiet">{r.ns}/</span>
          {r.name}
        </Link>
      ),
    },
    {
      id: 'state',
      label: t('state'),
      width: '130px',
      sort: (r) => r.state,
      cell: (r) => <Badge tone={REQUEST_TONES[r.state] ?? 'off'}>{sentence(said(r.state))}</Badge>,
    },
    {
      id: 'workload',
      label: t('workload'),
      width: 'minmax(130px, 1fr)',
      sort: (r) => r.workload,
      cell: (r) =>
        r.workload ? <WorkloadLink name={r.workload.includes('/') ? r.workload : `${r.ns}/${r.workload}`} /> : '',
    },
    {
      id: 'class',
      label: t('className'),
      width: 'minmax(110px, 1fr)',
      wide: true,
      sort: (r) => r.class,
      cell: (r) => <span className="quiet">{r.class}</span>,
    },
    {
      id: 'message',
      label: t('message'),
      width: 'minmax(150px, 1.6fr)',
      wide: true,
      cell: (r) => (
        <span className="quiet" title={r.message}>
          {r.message}
        </span>
      ),
    },
    {
      id: 'created',
      label: t('age'),
      width: '80px',
      end: true,
      sort: (r) => (r.created === undefined ? undefined : -r.created),
      cell: (r) => <Age at={r.created} />,
    },
  ];
  return (
    <Table
      label={t('provisioningRequests')}
      rows={rows}
      columns={columns}
      rowKey={(r) => r.key}
      href={(r) => path('provisioningrequests', r.ns, r.name)}
      sort="created"
      sortParam="sortRequests"
      state={all.state}
      message={all.message}
      right="list provisioningrequests.autoscaling.x-k8s.io"
      fit
    />
  );
}

export function Checks() {
  const { t } = useText();
  const all = useCollection('checks');
  const requests = useCollection('provisioningrequests');
  const workloads = useCollection('workloads');
  const waiting = useMemo(() => {
    const found = new Map<string, number>();
    for (const w of workloads.rows)
      for (const c of w.checks ?? [])
        if (c.state !== 'Ready' && w.state !== 'finished') found.set(c.name, (found.get(c.name) ?? 0) + 1);
    return found;
  }, [workloads]);
  const columns: Column<Check>[] = [
    {
      id: 'name',
      label: t('name'),
      width: 'minmax(150px, 1fr)',
      sort: (c) => c.name,
      cell: (c) => (
        <Link to={path('checks', c.name)} tabIndex={-1} className="main">
          {c.name}
        </Link>
      ),
    },
    {
      id: 'state',
      label: t('state'),
      width: '110px',
      sort: (c) => String(c.active),
      cell: (c) => (
        <Badge tone={c.active ? 'good' : 'bad'} title={c.message}>
          {t(c.active ? 'active' : 'queueInactive')}
        </Badge>
      ),
    },
    {
      id: 'controller',
      label: t('controller'),
      width: 'minmax(150px, 1.2fr)',
      sort: (c) => c.controller,
      cell: (c) => <span className="quiet">{c.controller}</span>,
    },
    {
      id: 'waiting',
      label: t('waiting'),
      width: '90px',
      end: true,
      sort: (c) => waiting.get(c.name) ?? 0,
      cell: (c) => waiting.get(c.name) ?? 0,
    },
    {
      id: 'message',
      label: t('message'),
      width: 'minmax(150px, 1.6fr)',
      wide: true,
      cell: (c) => <span className="quiet">{c.message}</span>,
    },
    {
      id: 'created',
      label: t('age'),
      width: '80px',
      end: true,
      wide: true,
      sort: (c) => (c.created === undefined ? undefined : -c.created),
      cell: (c) => <Age at={c.created} />,
    },
  ];
  return (
    <Page title={t('checks')}>
      <Card title={t('checks')}>
        <Table
          label={t('checks')}
          rows={all.rows}
          columns={columns}
          rowKey={(c) => c.key}
          href={(c) => path('checks', c.name)}
          sort="name"
          state={all.state}
          message={all.message}
          right="list admissionchecks.kueue.x-k8s.io"
          fit
        />
      </Card>
      <Card title={t('provisioningRequests')}>
        <RequestTable rows={requests.rows} />
      </Card>
    </Page>
  );
}
