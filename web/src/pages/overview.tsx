import { useMemo, useState } from 'react';
import { useCollection, useNow } from '../data/hooks';
import type { Rate } from '../data/rows';
import { attention, type Attention } from '../logic/attention';
import { amount, byResource, count, duration, percent, resourceName } from '../logic/format';
import { coloursOf } from '../logic/colours';
import { holdsQuota, isWaiting, pendingByReason } from '../logic/workloads';
import { useText, type Key } from '../text';
import { Chart, type Line } from '../ui/chart';
import { Badge, Card, Denied, Empty, Page } from '../ui/parts';
import { Link, path, useQuery } from '../ui/router';

const MINUTE = 60_000;
const WINDOW = 60 * MINUTE;

export function Overview() {
  const { t, said, language } = useText();
  const now = useNow(5000);
  const [query] = useQuery();
  const ns = query.get('ns') ?? '';
  const [workloads, queues, locals, checks, requests, nodes, placements, series, rates] = [
    useCollection('workloads'),
    useCollection('clusterqueues'),
    useCollection('localqueues'),
    useCollection('checks'),
    useCollection('provisioningrequests'),
    useCollection('nodes'),
    useCollection('placements'),
    useCollection('series'),
    useCollection('rates'),
  ];
  const mine = useMemo(() => (ns ? workloads.rows.filter((w) => w.ns === ns) : workloads.rows), [workloads, ns]);
  const numbers = useMemo(() => {
    let [waiting, holding, oldest] = [0, 0, Infinity];
    for (const w of mine) {
      if (isWaiting(w)) {
        waiting++;
        oldest = Math.min(oldest, w.waitsSince ?? w.created ?? Infinity);
      } else if (holdsQuota(w)) holding++;
    }
    return { waiting, holding, oldest };
  }, [mine]);
  const hour = useMemo(() => {
    const sum = { finished: 0, preempted: 0 };
    for (const r of rates.rows)
      if (r.t > now - WINDOW && (!ns || r.ns === ns)) {
        sum.finished += r.finished;
        sum.preempted += r.preempted;
      }
    return sum;
  }, [rates, ns, now]);
  const [whole, setWhole] = useState(false);
  const down = nodes.rows.filter((n) => !n.ready).length;
  const off = queues.rows.filter((q) => !q.active || q.stop !== 'None').length;
  const reasons = useMemo(() => pendingByReason(mine), [mine]);
  const list = useMemo(
    () =>
      attention({
        queues: queues.rows,
        locals: ns ? locals.rows.filter((l) => l.ns === ns) : locals.rows,
        checks: checks.rows,
        requests: requests.rows,
        nodes: nodes.rows,
        placements: placements.rows,
        workloads: mine,
        now,
      }),
    [queues, locals, checks, requests, nodes, placements, mine, ns, Math.floor(now / 15_000)], // eslint-disable-line
  );
  const unseen = (state: string) => state === 'denied';
  const tiles: [string, string, string, string, boolean][] = [
    [
      unseen(workloads.state) ? '–' : count(numbers.waiting, language),
      t('waitingNow'),
      unseen(workloads.state)
        ? t('notAllowed')
        : numbers.waiting > 0 && Number.isFinite(numbers.oldest)
          ? t('oldest', { age: duration(now - numbers.oldest) })
          : '',
      '/workloads?state=waiting',
      false,
    ],
    [
      unseen(workloads.state) ? '–' : count(numbers.holding, language),
      t('holdQuotaNow'),
      unseen(workloads.state) ? t('notAllowed') : '',
      '/workloads?state=running',
      false,
    ],
    [
      unseen(rates.state) ? '–' : count(hour.finished, language),
      t('finishedHour'),
      unseen(rates.state)
        ? t('notAllowed')
        : hour.preempted
          ? t('preemptedHour', { n: count(hour.preempted, language) })
          : '',
      '/history',
      false,
    ],
    [
      unseen(queues.state) ? '–' : count(queues.rows.length, language),
      t('clusterQueuesNow'),
      unseen(queues.state)
        ? t('notAllowed')
        : queues.rows.length === 0
          ? ''
          : off
            ? t('stoppedNow', { n: off })
            : t('allActive'),
      '/queues',
      off > 0,
    ],
    [
      unseen(nodes.state) ? '–' : count(nodes.rows.length, language),
      t('nodesNow'),
      unseen(nodes.state)
        ? t('notAllowed')
        : down
          ? t('notReadyNow', { n: down })
          : nodes.rows.length
            ? t('allReady')
            : '',
      '/topology',
      down > 0,
    ],
  ];
  return (
    <Page title={t('overview')}>
      <ul className="tiles">
        {tiles.map(([value, label, under, to, bad]) => (
          <li key={label}>
            <Link to={to + (ns && to.startsWith('/workloads') ? `&ns=${encodeURIComponent(ns)}` : '')} className="tile">
              <b>{value}</b>
              <span>{label}</span>
              <em className={bad ? 'bad' : undefined}>{under}</em>
            </Link>
          </li>
        ))}
      </ul>
      <div className="grid2">
        <Card title={t('attention')} className="attention">
          {list.length === 0 ? (
            <Empty>{t('allWell')}</Empty>
          ) : (
            <ul className="attention-list">
              {list.slice(0, whole ? 50 : SHORT).map((a) => (
                <AttentionRow key={a.id} of={a} now={now} />
              ))}
            </ul>
          )}
          {list.length > SHORT && (
            <button type="button" className="button small more" aria-expanded={whole} onClick={() => setWhole(!whole)}>
              {whole ? t('fewer') : t('moreHolders', { n: list.length - SHORT })}
            </button>
          )}
        </Card>
        <Card title={t('whyPending')}>
          {reasons.length === 0 ? (
            <Empty>{t('noPending')}</Empty>
          ) : (
            <ul className="reasons">
              {reasons.slice(0, SHORT + 1).map((r) => (
                <li key={r.reason}>
                  <Link to={`/workloads?state=waiting&sort=why${ns ? `&ns=${encodeURIComponent(ns)}` : ''}`}>
                    {said(r.reason)}
                  </Link>
                  <span className="quiet">{t('oldest', { age: duration(now - r.oldest) })}</span>
                  <b>{count(r.count, language)}</b>
                  <i style={{ width: `${percent(r.count, reasons[0]!.count)}%` }} />
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Card title={t('utilisation')} help={t('utilisationHelp')}>
          <Utilisation state={series.state} message={series.message} samples={series.rows} />
        </Card>
        <Card title={t('perMinute')} help={t('perMinuteHelp')}>
          {rates.state === 'denied' ? (
            <Denied message={rates.message} />
          ) : (
            <Rates rows={rates.rows} ns={ns} now={now} />
          )}
        </Card>
      </div>
      <WhoHolds />
    </Page>
  );
}

const ATTENTION: Record<Attention['what'], Key> = {
  queueInactive: 'a_queueInactive',
  queueStopped: 'a_queueStopped',
  localInactive: 'a_localInactive',
  checkInactive: 'a_checkInactive',
  provisioningFailed: 'a_provisioningFailed',
  nodeDown: 'a_nodeDown',
  waitsLong: 'a_waitsLong',
  evictedOften: 'a_evictedOften',
  failed: 'a_failed',
};

function AttentionRow({ of: a, now }: { of: Attention; now: number }) {
  const { t, said } = useText();
  return (
    <li>
      <Badge tone={a.level === 'bad' ? 'bad' : 'wait'}>
        {t(ATTENTION[a.what], { age: a.since ? duration(now - a.since) : '' })}
      </Badge>
      <Link to={a.to}>{a.name}</Link>
      <span className="quiet" title={a.detail}>
        {a.detail.split(' · ').map(said).join(' · ')}
      </span>
    </li>
  );
}

const SHORT = 6; // what needs attention, before the rest is asked for

function Utilisation({
  samples,
  state,
  message,
}: {
  samples: { t: number; usage: Record<string, Record<string, [number, number]>> }[];
  state: string;
  message: string;
}) {
  const { t } = useText();
  const { times, lines } = useMemo(() => {
    const sorted = [...samples].sort((a, b) => a.t - b.t);
    const names = new Map<string, [string, string]>();
    for (const s of sorted.slice(-1))
      for (const [f, rs] of Object.entries(s.usage))
        for (const r of Object.keys(rs).sort(byResource)) names.set(`${f}\0${r}`, [f, r]);
    // Accelerators tell more than CPUs: with many flavors only the first resource of each.
    const all = [...names.values()].sort((a, b) => byResource(a[1], b[1]) || a[0].localeCompare(b[0])).slice(0, 6);
    const colours = coloursOf(all.map(([f, r]) => `${f} ${r}`));
    const lines: Line[] = all.map(([f, r]) => ({
      label: `${f} ${resourceName(r)}`,
      colour: colours.get(`${f} ${r}`)!,
      values: sorted.map((s) => {
        const u = s.usage[f]?.[r];
        return u ? percent(u[0], u[1]) : null;
      }),
    }));
    return { times: sorted.map((s) => s.t), lines };
  }, [samples]);
  if (state === 'denied') return <Denied message={message} right="list clusterqueues.kueue.x-k8s.io" />;
  if (times.length < 2) return <Empty>{t('noSamples')}</Empty>;
  return <Chart label={t('utilisation')} times={times} lines={lines} unit="%" max={100} />;
}

function Rates({ rows, ns, now }: { rows: Rate[]; ns: string; now: number }) {
  const { t } = useText();
  const last = Math.floor(now / MINUTE) - 1; // the present minute has not ended
  const { times, lines } = useMemo(() => {
    // An hour; less when less is known.
    const begun = rows.reduce((least, r) => Math.min(least, Math.floor(r.t / MINUTE)), last);
    const length = Math.max(15, Math.min(60, last - begun + 2));
    const first = last - length + 1;
    const zeros = () => new Array<number>(length).fill(0);
    const sums = { admitted: zeros(), preempted: zeros(), finished: zeros() };
    for (const r of rows) {
      const i = Math.floor(r.t / MINUTE) - first;
      if (i < 0 || i >= length || (ns && r.ns !== ns)) continue;
      sums.admitted[i]! += r.admitted;
      sums.preempted[i]! += r.preempted;
      sums.finished[i]! += r.finished;
    }
    return {
      times: Array.from({ length }, (_, i) => (first + i) * MINUTE),
      lines: [
        { label: t('admittedN'), colour: '--c1', values: sums.admitted },
        { label: t('finishedN'), colour: '--c4', values: sums.finished },
        { label: t('preempted'), colour: '--c3', values: sums.preempted },
      ] satisfies Line[],
    };
  }, [rows, ns, last, t('admittedN')]); // eslint-disable-line
  return <Chart label={t('perMinute')} times={times} lines={lines} />;
}

// A bar per flavor and resource, divided by the cluster queues that hold it.
function WhoHolds() {
  const { t } = useText();
  const queues = useCollection('clusterqueues');
  const { bars, colours } = useMemo(() => {
    const found = new Map<string, { flavor: string; resource: string; nominal: number; parts: [string, number][] }>();
    for (const q of queues.rows)
      for (const u of q.quotas) {
        const key = `${u.flavor}\0${u.resource}`;
        const bar = found.get(key) ?? { flavor: u.flavor, resource: u.resource, nominal: 0, parts: [] };
        bar.nominal += u.nominal ?? 0;
        if (u.reserved > 0) bar.parts.push([q.name, u.reserved]);
        found.set(key, bar);
      }
    const total = new Map<string, number>();
    for (const b of found.values())
      for (const [name, n] of b.parts) total.set(name, (total.get(name) ?? 0) + n / Math.max(1, b.nominal));
    const order = [...total].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    const all = coloursOf(queues.rows.map((q) => q.name));
    const colours = new Map(order.slice(0, 8).map((name) => [name, all.get(name)!]));
    for (const b of found.values()) b.parts.sort((x, y) => order.indexOf(x[0]) - order.indexOf(y[0]));
    return {
      bars: [...found.values()]
        .sort((a, b) => byResource(a.resource, b.resource) || a.flavor.localeCompare(b.flavor))
        .slice(0, 12),
      colours,
    };
  }, [queues]);
  if (queues.state === 'denied')
    return (
      <Card title={t('whoHolds')}>
        <Denied message={queues.message} right="list clusterqueues.kueue.x-k8s.io" />
      </Card>
    );
  return (
    <Card
      title={t('whoHolds')}
      help={t('whoHoldsHelp')}
      aside={
        <p className="legend" aria-hidden="true">
          {[...colours].map(([name, c]) => (
            <span key={name}>
              <i style={{ background: `var(${c})` }} />
              {name}
            </span>
          ))}
        </p>
      }
    >
      <ul className="holds">
        {bars.map((b) => {
          const held = b.parts.reduce((sum, [, n]) => sum + n, 0);
          const scale = Math.max(b.nominal, held, 1);
          return (
            <li key={`${b.flavor}/${b.resource}`}>
              <Link to={path('flavors', b.flavor)}>
                {b.flavor} <span className="quiet">{resourceName(b.resource)}</span>
              </Link>
              <div
                className="hold-bar"
                role="img"
                aria-label={`${b.flavor} ${b.resource}: ${b.parts.map(([n, v]) => `${n} ${amount(b.resource, v)}`).join(', ') || t('none')}`}
              >
                {b.parts.map(([name, n]) => (
                  <span
                    key={name}
                    title={`${name}: ${amount(b.resource, n)}`}
                    style={{ width: `${(n / scale) * 100}%`, background: `var(${colours.get(name) ?? '--other'})` }}
                  />
                ))}
              </div>
              <span className="amounts">
                {amount(b.resource, held)} / {amount(b.resource, b.nominal)}
              </span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
