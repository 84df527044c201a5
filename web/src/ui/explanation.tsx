// Why a workload waits and what would change that (docs/explain.md).
import { Fragment } from 'react';
import { url } from '../data/api';
import { useFetched } from '../data/hooks';
import { amount, byResource, parseQuantity, resourceName } from '../logic/format';
import { at } from '../logic/timeline';
import { useText, type Key } from '../text';
import { Meter } from './bars';
import { Card, CqLink, Denied, Empty, FlavorLink, When, WorkloadLink } from './parts';

interface Holder {
  workload: string;
  clusterQueue: string;
  amount: string;
  priority: number;
  endsBy?: string;
}
interface Shortage {
  podSets: string[];
  flavor?: string;
  resource?: string;
  mismatch?: string;
  wanted?: string;
  available?: string;
  most?: string;
  missing?: string;
  holders?: Holder[];
  moreHolders?: number;
}
interface Change {
  kind: string;
  text: string;
  preempts?: string[];
}
interface Document {
  summary: string;
  position?: number;
  ahead?: { workload: string; priority: number }[];
  blockers?: { reason: string; text: string; remedy?: string; until?: string }[];
  shortages?: Shortage[];
  places?: string;
  waitsFor?: string[];
  forecast?: { at: string; endedWorkloads: number };
  changes?: Change[];
  assigned?: {
    podSet: string;
    count: number;
    flavors: Record<string, string>;
    topology?: string;
    domains?: { domain: string; pods: number }[];
    moreDomains?: number;
  }[];
  considered?: string;
  victims?: string[];
}

export function Explanation({
  ns,
  name,
  waiting,
  stamp,
}: {
  ns: string;
  name: string;
  waiting: boolean;
  stamp: unknown;
}) {
  const { t, said } = useText();
  const { data: e, error, again } = useFetched<Document>(url('/api/explanation', { namespace: ns, name }), stamp);
  const title = t(waiting ? 'why' : 'whyHere');
  if (error)
    return (
      <Card title={title}>
        <Denied
          message={t('explanationGone', { message: error.message })}
          right={error.status === 403 ? 'get workloads/explanation.visibility.kueue.x-k8s.io' : undefined}
        />
      </Card>
    );
  if (!e)
    return (
      <Card title={title}>
        <Empty>{t('loading')}</Empty>
      </Card>
    );
  return (
    <Card
      title={title}
      aside={
        <button type="button" className="button small" onClick={again}>
          {t('again')}
        </button>
      }
      className="explanation"
    >
      <p className="summary">{e.summary}</p>
      {waiting && e.changes && e.changes.length > 0 && (
        <section className="changes">
          <h3>{t('smallest')}</h3>
          <ul>
            {e.changes.map((c, i) => (
              <li key={i}>
                <strong>{c.kind in KINDS ? t(KINDS[c.kind]!) : c.kind}</strong>
                <span>{c.text}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {waiting && e.shortages && (!e.changes || e.changes.length === 0) && <p className="quiet">{t('noChange')}</p>}
      {e.blockers && (
        <section>
          <h3>{t('blockers')}</h3>
          <ul>
            {e.blockers.map((b, i) => (
              <li key={i}>
                <strong>{said(b.reason)}</strong> {b.text}{' '}
                {b.until && (
                  <span className="quiet">
                    {t('until', { time: '' })}
                    <When at={at(b.until)} />
                  </span>
                )}{' '}
                {b.remedy && <em>{b.remedy}</em>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {[...(e.shortages ?? [])].sort(mostMissing).map((s, i) => (
        <ShortageView key={i} of={s} />
      ))}
      {e.places && (
        <p>
          <strong>{t('places')}:</strong> {e.places}
        </p>
      )}
      {e.forecast && <p className="quiet">{t('forecast', { time: new Date(e.forecast.at).toLocaleString() })}</p>}
      {e.waitsFor && (
        <p>
          {t('waitsFor')}: <Names of={e.waitsFor} />
        </p>
      )}
      {e.ahead && e.ahead.length > 0 && (
        <details>
          <summary>
            {t('ahead')} ({e.position ?? e.ahead.length})
          </summary>
          <ol className="ahead">
            {e.ahead.map((a) => (
              <li key={a.workload}>
                <WorkloadLink name={a.workload} />{' '}
                <span className="quiet">
                  {t('priority')} {a.priority}
                </span>
              </li>
            ))}
          </ol>
        </details>
      )}
      {waiting && e.position === 0 && <p className="quiet">{t('nothingAhead')}</p>}
      {e.assigned?.map((a) => (
        <p key={a.podSet}>
          <strong>{a.podSet}</strong> × {a.count}:{' '}
          {Object.entries(a.flavors).map(([r, f]) => (
            <span key={r} className="chip">
              {r} → <FlavorLink name={f} />
            </span>
          ))}
          {a.domains && (
            <span className="quiet">
              {' '}
              {a.domains
                .slice(0, 8)
                .map((d) => `${d.domain} (${d.pods})`)
                .join(', ')}
              {a.domains.length > 8 || a.moreDomains ? ' …' : ''}
            </span>
          )}
        </p>
      ))}
      {e.considered && (
        <p className="quiet">
          {t('considered')}: {e.considered}
        </p>
      )}
      {e.victims && (
        <p>
          {t('victims')}: <Names of={e.victims} />
        </p>
      )}
    </Card>
  );
}

function Names({ of: names }: { of: string[] }) {
  return names.map((name, i) => (
    <Fragment key={name}>
      {i > 0 && ', '}
      <WorkloadLink name={name} />
    </Fragment>
  ));
}

const KINDS: Record<string, Key> = {
  RaiseNominalQuota: 'c_RaiseNominalQuota',
  RaiseBorrowingLimit: 'c_RaiseBorrowingLimit',
  EndWorkload: 'c_EndWorkload',
  RestoreNode: 'c_RestoreNode',
  ReducePods: 'c_ReducePods',
};

const lacks = (s: Shortage): boolean => s.mismatch !== undefined || (s.missing !== undefined && s.missing !== '0');
// What is missing comes first.
const mostMissing = (a: Shortage, b: Shortage): number =>
  Number(lacks(b)) - Number(lacks(a)) || byResource(a.resource ?? '', b.resource ?? '');

function ShortageView({ of: s }: { of: Shortage }) {
  const { t } = useText();
  const resource = s.resource ?? '';
  // As everywhere on the page; what is no quantity stays as it is.
  const say = (text: string) => {
    const n = parseQuantity(resource, text);
    return Number.isFinite(n) ? amount(resource, n) : text;
  };
  const [wanted, available] = [parseQuantity(resource, s.wanted ?? ''), parseQuantity(resource, s.available ?? '')];
  return (
    <section className="shortage">
      <h3>
        {s.flavor ? <FlavorLink name={s.flavor} /> : '–'}{' '}
        <span className="quiet" title={resource}>
          {resourceName(resource)} · {s.podSets.join(', ')}
        </span>
      </h3>
      {s.mismatch ? (
        <p>{s.mismatch}</p>
      ) : (
        <>
          {wanted > 0 && (
            <Meter
              value={((available || 0) / wanted) * 100}
              label={`${t('available')} ${s.available ?? 0}, ${t('wanted')} ${s.wanted}`}
              tone={available >= wanted ? '' : 'short'}
            />
          )}
          <p className="numbers">
            <span>
              {t('wanted')} <b>{say(s.wanted ?? '')}</b>
            </span>
            {s.available && (
              <span>
                {t('available')} <b>{say(s.available)}</b>
              </span>
            )}
            {s.missing && s.missing !== '0' && (
              <span className="short">
                {t('missing')} <b>{say(s.missing)}</b>
              </span>
            )}
            {s.most && (
              <span>
                {t('most')} <b>{say(s.most)}</b>
              </span>
            )}
          </p>
        </>
      )}
      {s.holders && (
        <details>
          <summary>{t('holders')}</summary>
          <ul className="holders">
            {s.holders.map((h) => (
              <li key={h.workload}>
                <WorkloadLink name={h.workload} /> <b>{say(h.amount)}</b> <CqLink name={h.clusterQueue} />{' '}
                <span className="quiet">
                  {t('priority')} {h.priority}
                </span>
              </li>
            ))}
            {s.moreHolders ? <li className="quiet">{t('moreHolders', { n: s.moreHolders })}</li> : null}
          </ul>
        </details>
      )}
    </section>
  );
}
