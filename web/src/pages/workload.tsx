import { useMemo } from 'react';
import { url } from '../data/api';
import { useCollection, useFetched, useWorkloads } from '../data/hooks';
import type { Workload as Row } from '../data/rows';
import { useInfo } from '../data/session';
import { amounts } from '../logic/format';
import { object, timeline } from '../logic/timeline';
import { isWaiting } from '../logic/workloads';
import { useText } from '../text';
import { WorkloadChanges } from '../ui/changes';
import { Explanation } from '../ui/explanation';
import { ObjectTabs, useObject } from '../ui/object';
import { Age, Badge, Card, CqLink, Empty, Facts, FlavorLink, LqLink, Page, StateBadge, When } from '../ui/parts';
import { Link, path, useParams } from '../ui/router';
import { ExpectedStart } from '../ui/start';

interface Pod {
  name: string;
  node?: string;
  phase: string;
  ready: boolean;
  message?: string;
  domains: Record<string, string>;
}

export function Workload() {
  const { ns = '', name = '' } = useParams();
  const { t, said } = useText();
  const info = useInfo();
  const all = useWorkloads();
  const positions = useCollection('positions');
  const key = `${ns}/${name}`;
  const row = useMemo(() => all.get(key), [all, key]);
  const position = positions.get(key);
  const ref = { resource: 'workloads', kind: 'Workload', ns, name };
  // Asked again when the row changes; the row stands for the object.
  const stored = useCollection('workloads').get(key);
  const { data, error } = useObject(ref, stored);
  const moments = useMemo(() => (data ? timeline(data.object).reverse() : []), [data]);
  if (!row && all.state === 'ready' && error)
    return (
      <Page title={name}>
        <Empty>{t('unknownObject', { name: key })}</Empty>
      </Page>
    );
  const inactive = object(data?.object.spec).active === false || row?.state === 'inactive';
  return (
    <Page
      title={
        <>
          {name} {row && <StateBadge workload={row} />}
        </>
      }
      crumbs={[
        [t('workloads'), '/workloads'],
        [ns, `/workloads?ns=${encodeURIComponent(ns)}`],
      ]}
      actions={row && row.state !== 'finished' && <WorkloadChanges ns={ns} name={name} inactive={inactive} />}
    >
      {!row && all.state === 'ready' && <p className="notice">{t('gone404')}</p>}
      {row && (
        <Facts
          facts={[
            [t('clusterQueue'), row.cq && <CqLink name={row.cq} />],
            [t('localQueue'), <LqLink ns={ns} name={row.queue} />],
            [
              t('position'),
              isWaiting(row) && position ? (
                <>
                  {position.position + 1}{' '}
                  <span className="quiet">
                    ({position.localPosition + 1} {t('positionLocal')})
                  </span>
                </>
              ) : undefined,
            ],
            [
              t('expectedStart'),
              isWaiting(row) && info?.explain ? (
                <ExpectedStart ns={ns} name={name} stamp={`${row.state}${position?.position ?? ''}`} />
              ) : undefined,
            ],
            [
              t('priority'),
              <>
                {row.priority} {row.pc && <span className="quiet">{row.pc}</span>}
              </>,
            ],
            [t('owner'), row.owner && `${row.owner.kind} ${row.owner.name}`],
            [t('pods'), row.pods],
            [t('requests'), amounts(row.requests)],
            [
              t('flavorsUsed'),
              row.flavors?.length ? row.flavors.map((f) => <FlavorLink key={f} name={f} />) : undefined,
            ],
            [t('age'), <Age at={row.created} />],
            [t('evictions'), row.evictions || undefined],
            [
              t('checks'),
              row.checks?.length
                ? row.checks.map((c) => (
                    <Badge
                      key={c.name}
                      tone={c.state === 'Ready' ? 'good' : c.state === 'Pending' ? 'wait' : 'bad'}
                      title={c.message}
                    >
                      <Link to={path('checks', c.name)}>{c.name}</Link> {said(c.state)}
                    </Badge>
                  ))
                : undefined,
            ],
          ]}
        />
      )}
      <div className="columns">
        <div className="stack">
          {row &&
            row.state !== 'finished' &&
            (info?.explain ? (
              <Explanation
                ns={ns}
                name={name}
                waiting={isWaiting(row)}
                stamp={`${row.state}${row.message ?? ''}${position?.position ?? ''}`}
              />
            ) : (
              row.message && (
                <Card title={t('reason')}>
                  <p>{row.message}</p>
                </Card>
              )
            ))}
          <PodsOnRacks row={stored} ns={ns} name={name} />
        </div>
        <Card title={t('timeline')}>
          <ol className="timeline">
            {moments.map((m, i) => (
              <li key={i} className={m.tone}>
                <div>
                  <strong>
                    {m.what === 'created'
                      ? t('t_created')
                      : m.what === 'requeue'
                        ? t('t_requeue')
                        : m.what.startsWith('!')
                          ? t('t_not', { what: said(m.what.slice(1)) })
                          : said(m.what)}
                  </strong>{' '}
                  <span className="quiet" title={m.reason}>
                    {said(m.reason)}
                  </span>
                </div>
                <div className="quiet small">
                  <When at={m.at} />
                </div>
                {m.message && <p>{m.message}</p>}
              </li>
            ))}
            {row?.lastEviction && row.evictions > 0 && !moments.some((m) => m.what === 'Evicted') && (
              <li className="bad">
                <div>
                  <strong>{t('lastEviction')}</strong>{' '}
                  <span className="quiet">
                    {said(row.lastEviction.reason)} · {row.evictions}×
                  </span>
                </div>
                <div className="quiet small">
                  <When at={row.lastEviction.at} />
                </div>
                <p>{row.lastEviction.message}</p>
              </li>
            )}
          </ol>
          {!data && !error && <Empty>{t('loading')}</Empty>}
        </Card>
      </div>
      <ObjectTabs of={ref} stamp={stored} />
    </Page>
  );
}

// The pods in boxes of their outer domain, then their rack, then a cell each.
function PodsOnRacks({ row, ns, name }: { row: Row | undefined; ns: string; name: string }) {
  const { t } = useText();
  const { data, error } = useFetched<{ pods: Pod[] }>(url('/api/pods', { namespace: ns, workload: name }), row);
  const pods = data?.pods ?? NO_PODS;
  return (
    <Card
      title={t('podsOnRacks')}
      aside={
        row?.topology ? (
          <Link to={`/topology?by=workload&workload=${encodeURIComponent(`${ns}/${name}`)}`}>{t('onMap')}</Link>
        ) : undefined
      }
    >
      {error && <p className="quiet">{error.message}</p>}
      {data && pods.length === 0 && <Empty>{t('noPods')}</Empty>}
      {troubles(pods).length > 0 && (
        <ul className="troubles">
          {troubles(pods).map(([why, n]) => (
            <li key={why}>
              <strong>{t('podsWait', { n })}</strong> {why}
            </li>
          ))}
        </ul>
      )}
      {pods.some((p) => p.node) ? (
        <OnNodes pods={pods} />
      ) : (
        pods.length > 0 && <Racks pods={pods} domains={(p) => p.domains} />
      )}
    </Card>
  );
}

const NO_PODS: Pod[] = [];

// Why pods do not run, and how many for each reason, the most frequent first.
function troubles(pods: Pod[]): [string, number][] {
  const found = new Map<string, number>();
  for (const p of pods)
    if (p.message && !p.ready && p.phase !== 'Succeeded') found.set(p.message, (found.get(p.message) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

// The nodes know their racks; pods name at most what they select.
function OnNodes({ pods }: { pods: Pod[] }) {
  const nodes = useCollection('nodes');
  return <Racks pods={pods} domains={(p) => ({ ...p.domains, ...nodes.get(p.node ?? '')?.domains })} />;
}

function Racks({ pods, domains }: { pods: Pod[]; domains: (pod: Pod) => Record<string, string> }) {
  const { t } = useText();
  const topologies = useCollection('topologies');
  const placed = pods.map((pod) => ({ pod, domains: pod.node ? domains(pod) : {} }));
  // The topology of which the nodes carry most labels.
  const carried = new Set(placed.flatMap((p) => Object.keys(p.domains)));
  const carries = (levels: string[]) => levels.filter((l) => carried.has(l));
  const best = [...topologies.rows].sort((a, b) => carries(b.levels).length - carries(a.levels).length)[0];
  const levels = carries(best?.levels ?? []).filter((l) => l !== 'kubernetes.io/hostname');
  const racks = new Map<string, Pod[]>();
  for (const { pod, domains: of } of placed) {
    const where = pod.node ? levels.map((l) => of[l] ?? '?').join(' › ') : '\uffff';
    const some = racks.get(where);
    if (some) some.push(pod);
    else racks.set(where, [pod]);
  }
  const sorted = [...racks].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true }));
  return (
    <div className="pod-racks" tabIndex={0} role="region" aria-label={t('podsOnRacks')}>
      {sorted.map(([where, some]) => (
        <div key={where} className="pod-rack">
          <h3>
            {where === '\uffff' ? t('notPlaced') : where || t('noTopology')}{' '}
            <span className="quiet">{some.length}</span>
          </h3>
          <ul>
            {some.slice(0, 600).map((p) => {
              const words = `${p.name} · ${p.node ?? ''} · ${p.phase}${p.message ? ` · ${p.message}` : ''}`;
              return (
                <li key={p.name} className={`pod ${p.phase.toLowerCase()}${p.ready ? ' ready' : ''}`} title={words}>
                  <span className="hidden">{words}</span>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </div>
  );
}
