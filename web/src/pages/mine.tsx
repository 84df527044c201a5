// "My work": the namespaces that the user sees, where each job stands, what is next, and what the queues use. The home of a
// user who may not see cluster queues.
import { useMemo } from 'react';
import { useCollection, useNow, useWorkloads } from '../data/hooks';
import type { LocalQueue, Workload } from '../data/rows';
import { amount, amounts, byResource, count, duration, percent, resourceName } from '../logic/format';
import { myWork } from '../logic/mine';
import { useText } from '../text';
import { Meter } from '../ui/bars';
import { Card, Choice, Denied, Empty, FlavorLink, LqLink, Page, QueueBadge } from '../ui/parts';
import { Link, useQuery } from '../ui/router';
import { WorkloadTable } from './workloads';

export function MyWork() {
  const { t, language } = useText();
  const now = useNow(15_000);
  const all = useWorkloads();
  const locals = useCollection('localqueues');
  const [query, change] = useQuery();
  const wanted = query.get('ns') ?? '';
  const namespaces = useMemo(() => [...new Set([...locals.rows, ...all.rows].map((r) => r.ns))].sort(), [locals, all]);
  const ns = namespaces.includes(wanted) ? wanted : '';
  const mine = useMemo(() => myWork(all.rows, ns, now), [all, ns, now]);
  const queues = useMemo(
    () => locals.rows.filter((q) => !ns || q.ns === ns).sort((a, b) => a.key.localeCompare(b.key)),
    [locals, ns],
  );
  const table = (label: string, rows: Workload[], sort: string, without: string[]) => (
    <Card
      title={
        <>
          {label} <span className="quiet">{count(rows.length, language)}</span>
        </>
      }
    >
      <WorkloadTable label={label} rows={rows} sort={sort} without={without} />
    </Card>
  );
  if (all.state === 'denied' && locals.state === 'denied')
    return (
      <Page title={t('myWork')}>
        <Denied message={all.message} right="list workloads.kueue.x-k8s.io" />
      </Page>
    );
  return (
    <Page
      title={t('myWork')}
      quiet={t('myWorkHelp', { namespaces: ns || namespaces.join(', ') || '–' })}
      actions={
        <>
          <Choice
            label={t('namespace')}
            hideLabel
            value={ns}
            onChange={(id) => change({ ns: id }, true)}
            options={[{ id: '', label: t('allNamespaces') }, ...namespaces.map((id) => ({ id, label: id }))]}
          />
          <Link to="/try" className="button">
            {t('tryJob')}
          </Link>
        </>
      }
    >
      <ul className="tiles">
        {(
          [
            [
              mine.waiting.length,
              t('waitingNow'),
              mine.oldest === undefined ? '' : t('oldest', { age: duration(now - mine.oldest) }),
            ],
            [mine.holding.length, t('holdQuotaNow'), ''],
            [mine.ended.length, t('finishedHour'), mine.failed ? `${mine.failed} ${t('failed')}` : ''],
          ] as const
        ).map(([n, label, under]) => (
          <li key={label}>
            <div className="tile">
              <b>{count(n, language)}</b>
              <span>{label}</span>
              <em>{under}</em>
            </div>
          </li>
        ))}
      </ul>
      {table(t('nextUp'), mine.waiting, 'position', ['kind', 'evictions', 'cq', 'priority'])}
      {table(t('holdsQuotaNow'), mine.holding, 'created', ['kind', 'evictions', 'position', 'start', 'cq'])}
      {mine.ended.length > 0 &&
        table(t('endedLately'), mine.ended, 'created', ['kind', 'position', 'start', 'why', 'cq'])}
      <Card title={t('myQueues')} help={t('myQueuesHelp')}>
        {queues.length === 0 ? <Empty>{t('noRows')}</Empty> : <Uses queues={queues} />}
      </Card>
    </Page>
  );
}

function Uses({ queues }: { queues: LocalQueue[] }) {
  const { t } = useText();
  const all = useCollection('clusterqueues');
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('myQueues')}>
      <table className="plain quotas">
        <thead>
          <tr>
            <th>{t('localQueue')}</th>
            <th>{t('state')}</th>
            <th>{t('usage')}</th>
            <th className="end">{t('waiting')}</th>
            <th>{t('pastUse')}</th>
          </tr>
        </thead>
        <tbody>
          {queues.map((q) => (
            <tr key={q.key}>
              <td>
                <LqLink ns={q.ns} name={q.name} /> <span className="quiet">{q.ns}</span>
              </td>
              <td>
                <QueueBadge queue={q} />
              </td>
              <td>
                {[...q.usage]
                  .sort((a, b) => byResource(a.resource, b.resource))
                  .map((u) => {
                    const whole = all
                      .get(q.cq)
                      ?.quotas.find((x) => x.flavor === u.flavor && x.resource === u.resource)?.nominal;
                    return (
                      <div key={`${u.flavor}/${u.resource}`} className="node-use">
                        <span>
                          <FlavorLink name={u.flavor} /> <span className="quiet">{resourceName(u.resource)}</span>
                        </span>
                        {whole ? (
                          <Meter
                            value={percent(u.reserved, whole)}
                            label={`${u.flavor} ${u.resource}: ${Math.round(percent(u.reserved, whole))} %`}
                          />
                        ) : (
                          <span />
                        )}
                        <span className="amounts">
                          {amount(u.resource, u.reserved)}
                          {whole ? ` / ${amount(u.resource, whole)}` : ''}
                        </span>
                      </div>
                    );
                  })}
              </td>
              <td className="end">{q.pending}</td>
              <td>{q.past ? amounts(q.past) : <span className="quiet">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
