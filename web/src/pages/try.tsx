// "Try a job": what would become of a job that is not created, in each queue of its namespace.
import { useMemo, useState, type FormEvent } from 'react';
import { post, type ApiError } from '../data/api';
import { useCollection } from '../data/hooks';
import { resourceName } from '../logic/format';
import { manifestOf, verdict, type Fields, type TrialStatus, type Verdict } from '../logic/trial';
import { useText, type Key } from '../text';
import { Badge, Card, Choice, Denied, LqLink, Page, Segments } from '../ui/parts';

const MOST_QUEUES = 16; // each costs a question
const FIELDS: Fields = { pods: 1, cpu: '1', memory: '', gpus: 0, level: '', minutes: 0 };

interface Answer {
  queue: string;
  status?: TrialStatus;
  error?: string;
}

export function TryJob() {
  const { t } = useText();
  const queues = useCollection('localqueues');
  const topologies = useCollection('topologies');
  const [form, setForm] = useState<'fields' | 'manifest'>('fields');
  const [fields, setFields] = useState(FIELDS);
  const [manifest, setManifest] = useState('');
  const [chosen, setChosen] = useState('');
  const [queue, setQueue] = useState('');
  const [answers, setAnswers] = useState<Answer[]>();
  const [busy, setBusy] = useState(false);
  const namespaces = useMemo(() => [...new Set(queues.rows.map((q) => q.ns))].sort(), [queues]);
  const ns = chosen || (namespaces[0] ?? '');
  const own = useMemo(
    () =>
      queues.rows
        .filter((q) => q.ns === ns)
        .map((q) => q.name)
        .sort(),
    [queues, ns],
  );
  const first = queue || (form === 'fields' ? (own[0] ?? '') : '');
  const levels = useMemo(
    () => [...new Set(topologies.rows.flatMap((x) => x.levels))].filter((l) => l !== 'kubernetes.io/hostname'),
    [topologies],
  );
  const ask = async (name: string): Promise<Answer> => {
    try {
      return await post<Answer>('/api/try', {
        namespace: ns,
        queue: name,
        manifest: form === 'fields' ? manifestOf(fields) : manifest,
      });
    } catch (error) {
      return { queue: name, error: (error as ApiError).message };
    }
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setAnswers(undefined);
    const found = [await ask(first)];
    setAnswers([...found]);
    // One after the other: they share an allowance of the controller's time.
    for (const name of own.filter((q) => q !== found[0]!.queue).slice(0, MOST_QUEUES)) {
      if (found[0]!.error) break;
      found.push(await ask(name));
      setAnswers([...found]);
    }
    setBusy(false);
  };
  const number = (key: Key, field: 'pods' | 'gpus' | 'minutes', least: number) => (
    <label>
      {t(key)}
      <input
        className="field"
        type="number"
        min={least}
        max={1_000_000}
        value={fields[field]}
        onChange={(e) => setFields({ ...fields, [field]: Number(e.target.value) })}
        required
      />
    </label>
  );
  const text = (key: Key, field: 'cpu' | 'memory') => (
    <label>
      {t(key)}
      <input
        className="field"
        value={fields[field]}
        onChange={(e) => setFields({ ...fields, [field]: e.target.value.trim() })}
      />
    </label>
  );
  return (
    <Page title={t('tryJob')} quiet={t('tryHelp')}>
      {queues.state === 'denied' ? (
        <Denied message={queues.message} right="list localqueues.kueue.x-k8s.io" />
      ) : (
        <form className="card try" onSubmit={(e) => void submit(e)}>
          <div className="filters">
            <Segments
              label={t('tryJob')}
              value={form}
              options={[
                { id: 'fields', label: t('fillFields') },
                { id: 'manifest', label: t('pasteManifest') },
              ]}
              onChange={setForm}
            />
            <Choice
              label={t('chooseNamespace')}
              value={ns}
              onChange={(id) => {
                setChosen(id);
                setQueue('');
              }}
              options={namespaces.map((id) => ({ id, label: id }))}
            />
            <Choice
              label={t('localQueue')}
              value={first}
              onChange={setQueue}
              options={[
                ...(form === 'manifest' ? [{ id: '', label: t('asManifest') }] : []),
                ...own.map((id) => ({ id, label: id })),
              ]}
            />
          </div>
          {form === 'fields' ? (
            <div className="fields">
              {number('f_pods', 'pods', 1)}
              {number('f_gpus', 'gpus', 0)}
              {text('f_cpu', 'cpu')}
              {text('f_memory', 'memory')}
              {number('f_minutes', 'minutes', 0)}
              <Choice
                label={t('f_level')}
                value={fields.level}
                onChange={(level) => setFields({ ...fields, level })}
                options={[{ id: '', label: t('f_anywhere') }, ...levels.map((id) => ({ id, label: resourceName(id) }))]}
              />
            </div>
          ) : (
            <label>
              {t('pasteManifest')}
              <textarea
                className="field"
                rows={14}
                spellCheck={false}
                value={manifest}
                onChange={(e) => setManifest(e.target.value)}
                required
              />
            </label>
          )}
          <button type="submit" className="button primary" disabled={busy || !ns}>
            {busy ? t('trying') : t('tryIt')}
          </button>
        </form>
      )}
      <div aria-live="polite" className="stack">
        {answers?.[0] && <Outcome of={answers[0]} ns={ns} />}
        {answers && answers.length > 1 && (
          <Card title={t('inOtherQueues')}>
            <table className="plain">
              <tbody>
                {answers.slice(1).map((a) => (
                  <tr key={a.queue}>
                    <td>
                      <LqLink ns={ns} name={a.queue} />
                    </td>
                    <td>
                      <InOneLine of={a} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Card>
        )}
      </div>
    </Page>
  );
}

function useLine(): (v: Verdict) => string {
  const { t } = useText();
  return (v) =>
    v.is === 'starts'
      ? t('startsNow', { got: v.got })
      : v.is === 'waits'
        ? t('waitsThen', { when: v.when })
        : t('notQueued');
}

function InOneLine({ of: a }: { of: Answer }) {
  const { t } = useText();
  const line = useLine();
  return <>{a.status ? line(verdict(a.status)) : t('notTried', { message: a.error ?? '' })}</>;
}

function Outcome({ of: a, ns }: { of: Answer; ns: string }) {
  const { t } = useText();
  const line = useLine();
  if (!a.status)
    return (
      <p className="notice bad" role="alert">
        {t('notTried', { message: a.error ?? '' })}
      </p>
    );
  const v = verdict(a.status);
  const others = a.status.otherNamespaces?.preempted ?? 0;
  return (
    <Card
      title={
        <>
          <LqLink ns={ns} name={a.queue} />{' '}
          <Badge tone={v.is === 'starts' ? 'good' : 'wait'}>{t(v.is === 'starts' ? 'admitted' : 'waiting')}</Badge>
        </>
      }
      className="outcome"
    >
      <p className="summary">{line(v)}</p>
      {v.is === 'waits' && v.why && <p>{v.why}</p>}
      {(a.status.preempted?.length ?? 0) + others > 0 && (
        <p>
          {t('preemptsThese')}: {a.status.preempted?.map((x) => x.workload).join(', ')}{' '}
          {others > 0 && t('preemptsOthers', { n: others })}
        </p>
      )}
      {v.is === 'waits' && v.changes.length > 0 && (
        <>
          <h3>{t('eachStarts')}</h3>
          <ul className="list">
            {v.changes.map((c) => (
              <li key={c}>{c}</li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
