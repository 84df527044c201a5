// The pages of one cluster queue, cohort, local queue, flavor, check, ProvisioningRequest or Volcano queue.
import { useMemo, useState } from 'react';
import { useCollection, useWorkloads } from '../data/hooks';
import type { Quota, QuotaUse } from '../data/rows';
import { amount, amounts, byResource, percent, resourceName } from '../logic/format';
import { buildTree, buildVolcanoTree, type TreeNode, type Use } from '../logic/tree';
import { useText } from '../text';
import { Meter, QuotaBar, QuotaLegend } from '../ui/bars';
import { QueueChanges } from '../ui/changes';
import { ObjectTabs } from '../ui/object';
import {
  Badge,
  Card,
  CqLink,
  Denied,
  Empty,
  Facts,
  FlavorLink,
  Page,
  QueueBadge,
  When,
  WorkloadLink,
} from '../ui/parts';
import { Link, path, useParams } from '../ui/router';
import { LocalQueueTable, RequestTable } from './lists';
import { Tree } from './queues';
import { QueueWorkloads, WorkloadTable } from './workloads';

// What one queue uses itself: what others of its cohort borrow of it is not known here.
const ownUse = (quota: QuotaUse): Use => ({
  nominal: quota.nominal ?? Infinity,
  used: quota.used,
  reserved: quota.reserved,
  borrowed: quota.borrowed,
  lent: 0,
});

function Unknown({
  name,
  state,
  message,
  back,
}: {
  name: string;
  state: string;
  message: string;
  back: [string, string];
}) {
  const { t } = useText();
  return (
    <Page title={name} crumbs={[back]}>
      {state === 'denied' ? (
        <Denied message={message} />
      ) : (
        <Empty>{state === 'waiting' ? t('loading') : t('unknownObject', { name })}</Empty>
      )}
    </Page>
  );
}

function QuotaTable({ quotas }: { quotas: (Quota | QuotaUse)[] }) {
  const { t } = useText();
  const rows = [...quotas].sort((a, b) => a.flavor.localeCompare(b.flavor) || byResource(a.resource, b.resource));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('quota')}>
      <table className="plain quotas">
        <thead>
          <tr>
            <th>{t('flavor')}</th>
            <th>{t('resource')}</th>
            <th>{t('usage')}</th>
            <th className="end">{t('nominal')}</th>
            <th className="end">{t('borrowingLimit')}</th>
            <th className="end">{t('lendingLimit')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((q) => (
            <tr key={`${q.flavor}/${q.resource}`}>
              <td>
                <FlavorLink name={q.flavor} />
              </td>
              <td title={q.resource}>{resourceName(q.resource)}</td>
              <td>
                {'used' in q ? (
                  <QuotaBar resource={q.resource} use={ownUse(q)} label={`${q.flavor} ${resourceName(q.resource)}`} />
                ) : (
                  <span className="quiet">–</span>
                )}
              </td>
              <td className="end">{amount(q.resource, q.nominal)}</td>
              <td className="end">
                {q.borrowingLimit === undefined || q.borrowingLimit === null
                  ? t('unlimited')
                  : amount(q.resource, q.borrowingLimit)}
              </td>
              <td className="end">
                {q.lendingLimit === undefined || q.lendingLimit === null
                  ? t('unlimited')
                  : amount(q.resource, q.lendingLimit)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ClusterQueuePage() {
  const { name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('clusterqueues');
  const workloads = useWorkloads();
  const locals = useCollection('localqueues');
  const q = all.get(name);
  const mine = useMemo(() => workloads.rows.filter((w) => w.cq === name && w.state !== 'finished'), [workloads, name]);
  const own = useMemo(() => locals.rows.filter((l) => l.cq === name), [locals, name]);
  if (!q) return <Unknown name={name} state={all.state} message={all.message} back={[t('queues'), '/queues']} />;
  return (
    <Page
      title={
        <>
          {name} <QueueBadge queue={q} />
        </>
      }
      crumbs={[
        [t('queues'), '/queues'],
        ...(q.cohort ? [[q.cohort, path('cohorts', q.cohort)] as [string, string]] : []),
      ]}
      actions={<QueueChanges resource="clusterqueues" name={name} stop={q.stop} />}
    >
      {!q.active && q.message && <p className="notice">{q.message}</p>}
      <Facts
        facts={[
          [t('waiting'), <b>{q.pending}</b>],
          [t('running'), q.reserving],
          [t('admitted'), q.admitted],
          [t('strategy'), q.strategy],
          [
            t('fairShare'),
            q.share !== undefined || q.weight !== undefined ? (
              <span title={t('shareHelp')}>
                {q.share ?? 0}{' '}
                <span className="quiet">
                  {t('weight')} {q.weight ?? 1}
                </span>
              </span>
            ) : undefined,
          ],
          [
            t('preemption'),
            [
              q.withinClusterQueue && `${t('withinQueue')}: ${q.withinClusterQueue}`,
              q.reclaimWithinCohort && `${t('withinCohort')}: ${q.reclaimWithinCohort}`,
              q.borrowWithinCohort && `${t('whileBorrowing')}: ${q.borrowWithinCohort}`,
            ]
              .filter(Boolean)
              .join(' · '),
          ],
          [
            t('checks'),
            q.checks?.length
              ? q.checks.map((c) => (
                  <Link key={c} to={path('checks', c)}>
                    {c}
                  </Link>
                ))
              : undefined,
          ],
          ['Fair sharing', q.fairSharing],
          [t('created'), <When at={q.created} />],
        ]}
      />
      <Card title={t('quota')} aside={<QuotaLegend />}>
        <QuotaTable quotas={q.quotas} />
      </Card>
      <QueueWorkloads rows={mine} without={['cq']} all={`/workloads?queue=${encodeURIComponent(name)}`} />
      <Card title={t('localQueues')}>
        <LocalQueueTable rows={own} fit />
      </Card>
      <ObjectTabs of={{ resource: 'clusterqueues', kind: 'ClusterQueue', name }} stamp={q} />
    </Page>
  );
}

function find(roots: TreeNode[], id: string): TreeNode | undefined {
  for (const n of roots) {
    const found = n.id === id ? n : find(n.children, id);
    if (found) return found;
  }
  return undefined;
}

export function CohortPage() {
  const { name = '' } = useParams();
  const { t } = useText();
  const queues = useCollection('clusterqueues');
  const cohorts = useCollection('cohorts');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const node = useMemo(() => find(buildTree(queues.rows, cohorts.rows), `cohort/${name}`), [queues, cohorts, name]);
  const row = cohorts.get(name);
  if (!node)
    return (
      <Unknown
        name={name}
        state={queues.state === 'ready' ? 'ready' : cohorts.state}
        message={cohorts.message}
        back={[t('cohorts'), '/cohorts']}
      />
    );
  return (
    <Page
      title={name}
      crumbs={[
        [t('cohorts'), '/cohorts'],
        ...(row?.parent ? [[row.parent, path('cohorts', row.parent)] as [string, string]] : []),
      ]}
    >
      <Facts
        facts={[
          [t('waiting'), <b>{node.pending}</b>],
          [t('admitted'), node.admitted],
          [t('weight'), row?.weight],
          [t('share'), row?.share],
          [t('created'), row && <When at={row.created} />],
        ]}
      />
      <Card title={t('usage')} aside={<QuotaLegend />}>
        <div className="bars">
          {[...node.use]
            .sort(([a], [b]) => byResource(a, b))
            .map(([r, use]) => (
              <div key={r}>
                <h3>{r}</h3>
                <QuotaBar resource={r} use={use} />
              </div>
            ))}
        </div>
      </Card>
      <Card title={t('children')}>
        <Tree roots={node.children} text="" closed={closed} onClosed={setClosed} fit />
      </Card>
      {row && row.quotas.length > 0 && (
        <Card title={t('quota')}>
          <QuotaTable quotas={row.quotas} />
        </Card>
      )}
      {row && <ObjectTabs of={{ resource: 'cohorts', kind: 'Cohort', name }} stamp={row} />}
    </Page>
  );
}

export function LocalQueuePage() {
  const { ns = '', name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('localqueues');
  const queues = useCollection('clusterqueues');
  const workloads = useWorkloads();
  const q = all.get(`${ns}/${name}`);
  const mine = useMemo(
    () => workloads.rows.filter((w) => w.ns === ns && w.queue === name && w.state !== 'finished'),
    [workloads, ns, name],
  );
  if (!q)
    return (
      <Unknown
        name={`${ns}/${name}`}
        state={all.state}
        message={all.message}
        back={[t('localQueues'), '/localqueues']}
      />
    );
  const nominal = (flavor: string, resource: string) =>
    queues.get(q.cq)?.quotas.find((u) => u.flavor === flavor && u.resource === resource)?.nominal;
  return (
    <Page
      title={
        <>
          {name} <QueueBadge queue={q} />
        </>
      }
      crumbs={[
        [t('localQueues'), '/localqueues'],
        [ns, `/localqueues?ns=${encodeURIComponent(ns)}`],
      ]}
      actions={<QueueChanges resource="localqueues" ns={ns} name={name} stop={q.stop} />}
    >
      {!q.active && q.message && <p className="notice">{q.message}</p>}
      <Facts
        facts={[
          [t('clusterQueue'), <CqLink name={q.cq} />],
          [t('waiting'), <b>{q.pending}</b>],
          [t('running'), q.reserving],
          [t('admitted'), q.admitted],
          [t('weight'), q.weight],
          [t('pastUse'), q.past && amounts(q.past)],
          [t('created'), <When at={q.created} />],
        ]}
      />
      <Card title={t('usage')}>
        <div className="scroll" tabIndex={0} role="region" aria-label={t('usage')}>
          <table className="plain quotas">
            <thead>
              <tr>
                <th>{t('flavor')}</th>
                <th>{t('resource')}</th>
                <th>{t('usage')}</th>
                <th className="end">{t('used')}</th>
                <th className="end">{t('reserved')}</th>
              </tr>
            </thead>
            <tbody>
              {q.usage.map((u) => {
                const whole = nominal(u.flavor, u.resource);
                const part = percent(u.reserved, whole ?? 0);
                return (
                  <tr key={`${u.flavor}/${u.resource}`}>
                    <td>
                      <FlavorLink name={u.flavor} />
                    </td>
                    <td title={u.resource}>{resourceName(u.resource)}</td>
                    <td>{whole ? <Meter value={part} label={`${Math.round(part)} %`} /> : null}</td>
                    <td className="end">{amount(u.resource, u.used)}</td>
                    <td className="end">{amount(u.resource, u.reserved)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </Card>
      <QueueWorkloads
        rows={mine}
        without={['queue', 'cq']}
        all={`/workloads?queue=${encodeURIComponent(`${ns}/${name}`)}`}
      />
      <ObjectTabs of={{ resource: 'localqueues', kind: 'LocalQueue', ns, name }} stamp={q} />
    </Page>
  );
}

export function FlavorPage() {
  const { name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('flavors');
  const queues = useCollection('clusterqueues');
  const f = all.get(name);
  const users = useMemo(
    () =>
      queues.rows
        .flatMap((q) => q.quotas.filter((u) => u.flavor === name).map((u) => ({ q, u })))
        .sort((a, b) => byResource(a.u.resource, b.u.resource) || b.u.reserved - a.u.reserved),
    [queues, name],
  );
  if (!f) return <Unknown name={name} state={all.state} message={all.message} back={[t('flavors'), '/flavors']} />;
  return (
    <Page title={name} crumbs={[[t('flavors'), '/flavors']]}>
      <Facts
        facts={[
          [
            t('topology'),
            f.topology && <Link to={`/topology?topology=${encodeURIComponent(f.topology)}`}>{f.topology}</Link>,
          ],
          [
            t('labels'),
            Object.entries(f.labels).map(([k, v]) => (
              <span key={k} className="chip">
                {k}={v}
              </span>
            )),
          ],
          [
            t('taints'),
            f.taints.length
              ? f.taints.map((x) => (
                  <span key={x} className="chip">
                    {x}
                  </span>
                ))
              : undefined,
          ],
          [t('tolerations'), f.tolerations || undefined],
          [t('created'), <When at={f.created} />],
        ]}
      />
      <Card title={t('appliesTo')} aside={<QuotaLegend />}>
        {queues.state === 'denied' ? (
          <Denied message={queues.message} />
        ) : (
          <div className="scroll" tabIndex={0} role="region" aria-label={t('appliesTo')}>
            <table className="plain quotas">
              <thead>
                <tr>
                  <th>{t('clusterQueue')}</th>
                  <th>{t('resource')}</th>
                  <th>{t('usage')}</th>
                </tr>
              </thead>
              <tbody>
                {users.map(({ q, u }) => (
                  <tr key={`${q.name}/${u.resource}`}>
                    <td>
                      <CqLink name={q.name} />
                    </td>
                    <td title={u.resource}>{resourceName(u.resource)}</td>
                    <td>
                      <QuotaBar resource={u.resource} use={ownUse(u)} label={`${q.name} ${resourceName(u.resource)}`} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
      <ObjectTabs of={{ resource: 'resourceflavors', kind: 'ResourceFlavor', name }} stamp={f} />
    </Page>
  );
}

export function CheckPage() {
  const { name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('checks');
  const workloads = useWorkloads();
  const queues = useCollection('clusterqueues');
  const requests = useCollection('provisioningrequests');
  const c = all.get(name);
  const mine = useMemo(
    () => workloads.rows.filter((w) => w.state !== 'finished' && w.checks?.some((x) => x.name === name)),
    [workloads, name],
  );
  const names = useMemo(() => new Set(mine.map((w) => w.key)), [mine]);
  if (!c) return <Unknown name={name} state={all.state} message={all.message} back={[t('checks'), '/checks']} />;
  const users = queues.rows.filter((q) => q.checks?.includes(name));
  const asked = requests.rows.filter(
    (r) => r.workload && names.has(r.workload.includes('/') ? r.workload : `${r.ns}/${r.workload}`),
  );
  return (
    <Page
      title={
        <>
          {name} <Badge tone={c.active ? 'good' : 'bad'}>{t(c.active ? 'active' : 'queueInactive')}</Badge>
        </>
      }
      crumbs={[[t('checks'), '/checks']]}
    >
      {!c.active && c.message && <p className="notice">{c.message}</p>}
      <Facts
        facts={[
          [t('controller'), c.controller],
          [t('parameters'), c.parameters],
          [t('appliesTo'), users.map((q) => <CqLink key={q.name} name={q.name} />)],
          [t('created'), <When at={c.created} />],
        ]}
      />
      <Card title={t('workloads')}>
        <WorkloadTable label={t('workloads')} rows={mine} />
      </Card>
      {asked.length > 0 && (
        <Card title={t('provisioningRequests')}>
          <RequestTable rows={asked} />
        </Card>
      )}
      <ObjectTabs of={{ resource: 'admissionchecks', kind: 'AdmissionCheck', name }} stamp={c} />
    </Page>
  );
}

export function RequestPage() {
  const { ns = '', name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('provisioningrequests');
  const r = all.get(`${ns}/${name}`);
  if (!r)
    return <Unknown name={`${ns}/${name}`} state={all.state} message={all.message} back={[t('checks'), '/checks']} />;
  return (
    <Page
      title={
        <>
          {name}{' '}
          <Badge
            tone={r.state === 'provisioned' ? 'good' : r.state === 'pending' || r.state === 'accepted' ? 'wait' : 'bad'}
          >
            {r.state}
          </Badge>
        </>
      }
      crumbs={[[t('checks'), '/checks']]}
    >
      <Facts
        facts={[
          [
            t('workload'),
            r.workload && <WorkloadLink name={r.workload.includes('/') ? r.workload : `${ns}/${r.workload}`} />,
          ],
          [t('className'), r.class],
          [t('message'), r.message],
          [t('created'), <When at={r.created} />],
        ]}
      />
      <ObjectTabs of={{ resource: 'provisioningrequests', kind: 'ProvisioningRequest', ns, name }} stamp={r} />
    </Page>
  );
}

export function VolcanoQueuePage() {
  const { name = '' } = useParams();
  const { t } = useText();
  const all = useCollection('vcqueues');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const node = useMemo(() => find(buildVolcanoTree(all.rows), `volcano/${name}`), [all, name]);
  const q = all.get(name);
  if (!q || !node)
    return <Unknown name={name} state={all.state} message={all.message} back={[t('queues'), '/queues']} />;
  const resources = [
    ...new Set([q.capability, q.deserved, q.guarantee, q.allocated].flatMap((a) => Object.keys(a ?? {}))),
  ].sort(byResource);
  return (
    <Page
      title={
        <>
          {name} <Badge tone={q.state === 'Open' ? 'good' : 'wait'}>{q.state}</Badge>
        </>
      }
      crumbs={[
        [t('queues'), '/queues'],
        ...(q.parent ? [[q.parent, path('vcqueues', q.parent)] as [string, string]] : []),
      ]}
    >
      <Facts
        facts={[
          [t('weight'), q.weight],
          [t('priority'), q.priority],
          ['pending', q.pending],
          ['inqueue', q.inqueue],
          ['running', q.running],
          ['unknown', q.unknown],
          ['completed', q.completed],
          [t('created'), <When at={q.created} />],
        ]}
      />
      <Card title={t('quota')}>
        <div className="scroll" tabIndex={0} role="region" aria-label={t('quota')}>
          <table className="plain quotas">
            <thead>
              <tr>
                <th>{t('resource')}</th>
                <th>{t('usage')}</th>
                <th className="end">guarantee</th>
                <th className="end">deserved</th>
                <th className="end">capability</th>
              </tr>
            </thead>
            <tbody>
              {resources.map((r) => {
                const use = node.use.get(r);
                return (
                  <tr key={r}>
                    <td>{r}</td>
                    <td>{use && <QuotaBar resource={r} use={use} />}</td>
                    {[q.guarantee, q.deserved, q.capability].map((a, i) => (
                      <td key={i} className="end">
                        {a?.[r] === undefined ? '–' : amount(r, a[r])}
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </Card>
      {node.children.length > 0 && (
        <Card title={t('children')}>
          <Tree roots={node.children} text="" closed={closed} onClosed={setClosed} fit />
        </Card>
      )}
      <ObjectTabs of={{ resource: 'queues', kind: 'Queue', name }} stamp={q} />
    </Page>
  );
}
