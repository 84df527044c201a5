import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { url } from '../data/api';
import { useCollection, useFetched, useNow } from '../data/hooks';
import { clock, dateTime, duration } from '../logic/format';
import { byQueue, countsAt, extent, stateAt, type History as Answer, type Strip } from '../logic/strips';
import { useText } from '../text';
import { Choice, Denied, Empty, Page, Segments, workloadPath } from '../ui/parts';
import { Link, path, useQuery } from '../ui/router';

// Ends that took the quota away.
const CUT = new Set(['preempted', 'evicted', 'deactivated']);
const RANGES = { '15m': 15 * 60_000, '1h': 3_600_000, '6h': 6 * 3_600_000, '24h': 24 * 3_600_000, '7d': 7 * 24 * 3_600_000 } as const;
type Range = keyof typeof RANGES;

type Line = { kind: 'queue'; cq: string; count: number; strips: Strip[] } | { kind: 'strip'; strip: Strip };

export function History() {
  const { t, language } = useText();
  const [query, change] = useQuery();
  const queues = useCollection('clusterqueues');
  const range = ((query.get('range') ?? '1h') in RANGES ? (query.get('range') ?? '1h') : '1h') as Range;
  const cq = query.get('queue') ?? '';
  const now = useNow(10_000);
  const fixed = query.get('to');
  const to = fixed ? Number(fixed) : Math.ceil(now / 10_000) * 10_000;
  const from = to - RANGES[range];
  const { data, error } = useFetched<Answer>(url('/api/history', { from, to, cq }));
  // While the next answer is on its way the last one stays.
  const kept = useRef<Answer>(undefined);
  if (data) kept.current = data;
  const shown = data ?? kept.current;
  const lines = useMemo(() => (shown ? byQueue(shown.strips).flatMap((q): Line[] => [{ kind: 'queue', cq: q.cq, count: q.strips.length, strips: q.strips }, ...q.strips.map((strip): Line => ({ kind: 'strip', strip }))]) : []), [shown]);
  const [moment, setMoment] = useState<number>();
  const at = moment !== undefined && moment >= from && moment <= to ? moment : undefined;
  const move = (steps: number) => {
    const next = to + steps * RANGES[range] * 0.5;
    change({ to: next >= Date.now() ? '' : String(Math.round(next)) }, true);
  };
  const night = () => {
    const six = new Date();
    if (six.getHours() < 6) six.setDate(six.getDate());
    six.setHours(6, 0, 0, 0);
    if (six.getTime() > Date.now()) six.setDate(six.getDate() - 1);
    change({ range: '24h', to: String(six.getTime() + 6 * 3_600_000 > Date.now() ? six.getTime() : six.getTime() + 6 * 3_600_000) }, true);
  };
  const counts = useMemo(() => (shown && at !== undefined ? countsAt(shown.strips, at) : undefined), [shown, at]);
  return (
    <Page fill title={t('history')} quiet={t('historyHelp')}>
      <div className="filters">
        <Segments label={t('range')} value={range} options={(Object.keys(RANGES) as Range[]).map((id) => ({ id, label: id }))} onChange={(id) => change({ range: id }, true)} />
        <button type="button" className="button small" onClick={() => move(-1)}>← {t('earlier')}</button>
        <button type="button" className="button small" onClick={() => move(1)} disabled={!fixed}>{t('later')} →</button>
        <button type="button" className="button small" onClick={() => change({ to: '' }, true)} disabled={!fixed}>{t('now')}</button>
        <button type="button" className="button small" onClick={night}>{t('lastNight')}</button>
        <Choice label={t('queue')} hideLabel value={cq} onChange={(id) => change({ queue: id }, true)} options={[{ id: '', label: t('anyQueue') }, ...queues.rows.map((q) => q.name).sort().map((id) => ({ id, label: id }))]} />
        <p className="legend" aria-hidden="true"><span><i className="s-waiting" />{t('h_waiting')}</span><span><i className="s-reserved" />{t('h_reserved')}</span><span><i className="s-admitted" />{t('h_admitted')}</span></p>
      </div>
      {error ? (
        error.status === 404 ? <Empty>{t('noHistory')}</Empty> : <Denied message={error.message} />
      ) : !shown ? (
        <Empty>{t('loading')}</Empty>
      ) : (
        <>
          {shown.truncated && <p className="notice">{t('truncated', { n: shown.strips.length })}</p>}
          <label className="scrub">
            <span className="hidden">{t('moment')}</span>
            <input type="range" min={from} max={to} step={1000} value={at ?? to} onChange={(e) => setMoment(Number(e.target.value))} aria-valuetext={dateTime(at ?? to, language)} />
          </label>
          <p className="moment" role="status">{counts && at !== undefined ? t('atMoment', { time: dateTime(at, language), ...counts }) : `${dateTime(from, language)} – ${dateTime(to, language)} · ${t('kept', { time: dateTime(shown.kept.from, language) })}`}</p>
          {lines.length === 0 ? <Empty>{t('noStrips')}</Empty> : <Strips lines={lines} from={from} to={to} at={at} onMoment={setMoment} />}
        </>
      )}
    </Page>
  );
}

function Strips({ lines, from, to, at, onMoment }: { lines: Line[]; from: number; to: number; at: number | undefined; onMoment: (at: number | undefined) => void }) {
  const { t, language } = useText();
  const box = useRef<HTMLDivElement>(null);
  const track = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: (i) => (lines[i]!.kind === 'queue' ? 32 : 18), overscan: 30, paddingStart: 26 });
  const ticks = Array.from({ length: 7 }, (_, i) => from + ((to - from) * i) / 6);
  const long = to - from > 24 * 3_600_000;
  const when = (ms: number) => (long ? new Date(ms).toLocaleDateString(language, { month: 'short', day: 'numeric' }) : clock(ms, language, to - from < 3_600_000));
  const left = at !== undefined ? ((at - from) / (to - from)) * 100 : undefined;
  return (
    <div
      className="strips" ref={box} tabIndex={0} role="region" aria-label={t('history')}
      onPointerMove={(e) => {
        const r = track.current?.getBoundingClientRect();
        if (r && e.clientX >= r.left && e.clientX <= r.right) onMoment(from + ((e.clientX - r.left) / r.width) * (to - from));
      }}
      onKeyDown={(e) => {
        const step = e.key === 'ArrowLeft' ? -1 : e.key === 'ArrowRight' ? 1 : 0;
        if (step) { onMoment(Math.max(from, Math.min(to, (at ?? to) + (step * (to - from)) / 100))); e.preventDefault(); }
      }}
    >
      <div className="strip-space" style={{ height: virtual.getTotalSize() }}>
        <div className="axis"><div ref={track} className="track" aria-hidden="true">{ticks.map((ms, i) => <span key={i} style={{ left: `${(i / 6) * 100}%` }}>{when(ms)}</span>)}{left !== undefined && <em style={{ left: `${left}%` }} />}</div></div>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index]!;
          const style = { transform: `translateY(${item.start}px)`, height: item.size };
          if (line.kind === 'queue') {
            const c = at !== undefined ? countsAt(line.strips, at) : undefined;
            return <div key={`q${line.cq}`} className="strip queue" style={style}><Link to={path('clusterqueues', line.cq)}>{line.cq || '–'}</Link> <span className="quiet">{c ? `${c.waiting} ${t('h_waiting')} · ${c.reserved + c.admitted} ${t('running')}` : line.count}</span></div>;
          }
          const s = line.strip;
          const now = at !== undefined ? stateAt(s, at) : undefined;
          return (
            <div key={s.uid + s.workload} className="strip" style={style}>
              <Link to={workloadPath(s.workload)} className={now ? `strip-name now ${now}` : 'strip-name'} title={`${s.workload} · ${t('priority')} ${s.priority}`}>{s.workload}</Link>
              <div className="track" role="img" aria-label={s.spans.map((x) => `${t(`h_${x.state}`)} ${clock(x.from, language)}–${x.to ? clock(x.to, language) : ''}${x.end ? ` (${x.end})` : ''}`).join(', ')}>
                {s.spans.map((x, i) => {
                  const e = extent(x, from, to);
                  return e && <span key={i} className={`s-${x.state}${x.state !== 'waiting' && CUT.has(x.end ?? '') ? ' cut' : ''}`} style={{ left: `${e.left}%`, width: `${e.width}%` }} title={`${t(`h_${x.state}`)} ${duration((x.to ?? to) - x.from)}${x.end ? ` · ${t('endedBy', { end: x.end })}` : ''}`} />;
                })}
                {left !== undefined && <em style={{ left: `${left}%` }} />}
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
}
