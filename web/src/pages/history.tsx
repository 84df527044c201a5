import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { url } from '../data/api';
import { useCollection, useFetched, useNow } from '../data/hooks';
import { clock, count, dateTime, duration } from '../logic/format';
import { beginning, fitting, lastNight, NIGHT } from '../logic/night';
import {
  byQueue,
  countsAt,
  extent,
  stateAt,
  summary,
  type History as Answer,
  type Strip,
  type Summary,
} from '../logic/strips';
import { useText } from '../text';
import { Choice, CqLink, Denied, Empty, Page, Segments, When, workloadPath } from '../ui/parts';
import { Link, path, useQuery } from '../ui/router';
import { Table, type Column } from '../ui/table';

// Every other end took the quota away.
const GOOD = new Set(['', 'reserved', 'admitted', 'finished', 'failed', 'deleted']);
const RANGES = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '6h': 6 * 3_600_000,
  '12h': NIGHT,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
} as const;
type Range = keyof typeof RANGES;

type Line = { kind: 'queue'; cq: string; count: number; strips: Strip[] } | { kind: 'strip'; strip: Strip };

export function History() {
  const { t, language } = useText();
  const [query, change] = useQuery();
  const queues = useCollection('clusterqueues');
  // How far back the journal goes, as the last answer said.
  const [begun, setBegun] = useState<number>();
  const wanted = query.get('range') ?? '';
  const short = { '15m': RANGES['15m'], '1h': RANGES['1h'] };
  const range: Range =
    wanted in RANGES ? (wanted as Range) : begun === undefined ? '1h' : fitting(short, begun, Date.now());
  const cq = query.get('queue') ?? '';
  const asTable = query.get('view') === 'table';
  const now = useNow(10_000);
  const fixed = query.get('to');
  const to = fixed ? Number(fixed) : Math.ceil(now / 10_000) * 10_000;
  // Unless a time was chosen, the view begins where the journal does.
  const from = wanted || fixed || begun === undefined ? to - RANGES[range] : beginning(to, RANGES[range], begun);
  const { data, error } = useFetched<Answer>(url('/api/history', { from, to, cq }));
  // While the next answer is on its way the last one stays.
  const kept = useRef<Answer>(undefined);
  if (data) kept.current = data;
  const since = data?.kept.from;
  useEffect(() => {
    if (since !== undefined) setBegun(since);
  }, [since]);
  const shown = data ?? kept.current;
  const lines = useMemo(
    () =>
      shown
        ? byQueue(shown.strips).flatMap((q): Line[] => [
            { kind: 'queue', cq: q.cq, count: q.strips.length, strips: q.strips },
            ...q.strips.map((strip): Line => ({ kind: 'strip', strip })),
          ])
        : [],
    [shown],
  );
  const [moment, setMoment] = useState<number>();
  const at = moment !== undefined && moment >= from && moment <= to ? moment : undefined;
  const move = (steps: number) => {
    const next = to + steps * RANGES[range] * 0.5;
    change({ to: next >= Date.now() ? '' : String(Math.round(next)) }, true);
  };
  const night = () => {
    const { to: end } = lastNight(Date.now());
    change({ range: '12h', to: end === undefined ? '' : String(end) }, true);
  };
  const counts = useMemo(() => (shown && at !== undefined ? countsAt(shown.strips, at) : undefined), [shown, at]);
  return (
    <Page fill title={t('history')} quiet={asTable ? undefined : t('historyHelp')}>
      <div className="filters">
        <Segments
          label={t('range')}
          value={range}
          options={(Object.keys(RANGES) as Range[]).map((id) => ({ id, label: id }))}
          onChange={(id) => change({ range: id }, true)}
        />
        <button type="button" className="button small" onClick={() => move(-1)}>
          ← {t('earlier')}
        </button>
        <button type="button" className="button small" onClick={() => move(1)} disabled={!fixed}>
          {t('later')} →
        </button>
        <button type="button" className="button small" onClick={() => change({ to: '' }, true)} disabled={!fixed}>
          {t('now')}
        </button>
        <button type="button" className="button small" onClick={night}>
          {t('lastNight')}
        </button>
        <Segments
          label={t('view')}
          value={asTable ? 'table' : 'strips'}
          options={[
            { id: 'strips', label: t('asStrips') },
            { id: 'table', label: t('asTable') },
          ]}
          onChange={(id) => change({ view: id === 'table' ? id : '' }, true)}
        />
        <Choice
          label={t('queue')}
          hideLabel
          value={cq}
          onChange={(id) => change({ queue: id }, true)}
          options={[
            { id: '', label: t('anyQueue') },
            ...queues.rows
              .map((q) => q.name)
              .sort()
              .map((id) => ({ id, label: id })),
          ]}
        />
        {!asTable && (
          <p className="legend" aria-hidden="true">
            <span>
              <i className="s-waiting" />
              {t('h_waiting')}
            </span>
            <span>
              <i className="s-reserved" />
              {t('h_reserved')}
            </span>
            <span>
              <i className="s-admitted" />
              {t('h_admitted')}
            </span>
            <span>
              <i className="s-admitted cut" />
              {t('evicted')}
            </span>
          </p>
        )}
      </div>
      {error ? (
        error.status === 404 ? (
          <Empty>{t('noHistory')}</Empty>
        ) : (
          <Denied message={error.message} />
        )
      ) : !shown ? (
        <Empty>{t('loading')}</Empty>
      ) : (
        <>
          {shown.truncated && <p className="notice">{t('truncated', { n: shown.strips.length })}</p>}
          {!asTable && (
            <label className="scrub">
              <span className="hidden">{t('moment')}</span>
              <input
                type="range"
                min={from}
                max={to}
                step={1000}
                value={at ?? to}
                onChange={(e) => setMoment(Number(e.target.value))}
                aria-valuetext={dateTime(at ?? to, language)}
              />
            </label>
          )}
          <p className="moment" role="status">
            {counts && at !== undefined && !asTable
              ? t('atMoment', { time: dateTime(at, language), ...counts })
              : `${dateTime(from, language)} – ${dateTime(to, language)} · ${t('kept', { time: dateTime(shown.kept.from, language) })}`}
          </p>
          {asTable ? (
            <StripTable strips={shown.strips} from={from} to={to} />
          ) : lines.length === 0 ? (
            <Empty>{t('noStrips')}</Empty>
          ) : (
            <Strips lines={lines} from={from} to={to} at={at} onMoment={setMoment} />
          )}
        </>
      )}
    </Page>
  );
}

// The same as numbers, for those who do not see strips, and for sorting.
function StripTable({ strips, from, to }: { strips: Strip[]; from: number; to: number }) {
  const { t, said, language } = useText();
  const rows = useMemo(
    () =>
      strips.flatMap((strip): (Strip & Summary)[] => {
        const numbers = summary(strip, from, to);
        return numbers ? [{ ...strip, ...numbers }] : [];
      }),
    [strips, from, to],
  );
  // Within a day the time is enough.
  const when = (ms: number | undefined) =>
    ms === undefined ? (
      ''
    ) : to - from > RANGES['24h'] / 2 ? (
      <When at={ms} />
    ) : (
      <time dateTime={new Date(ms).toISOString()} title={dateTime(ms, language)}>
        {clock(ms, language, true)}
      </time>
    );
  const outcome = (s: Summary) =>
    s.to !== undefined ? said(s.end) : s.last === 'waiting' ? t('stillWaits') : t('stillRuns');
  const columns: Column<Strip & Summary>[] = [
    {
      id: 'name',
      label: t('workload'),
      width: 'minmax(170px, 2.4fr)',
      sort: (s) => s.workload,
      cell: (s) => (
        <Link to={workloadPath(s.workload)} tabIndex={-1} className="main">
          {s.workload}
        </Link>
      ),
    },
    {
      id: 'cq',
      label: t('clusterQueue'),
      width: 'minmax(86px, 1fr)',
      wide: true,
      sort: (s) => s.cq,
      cell: (s) => <CqLink name={s.cq} />,
    },
    {
      id: 'priority',
      label: t('priority'),
      width: '72px',
      end: true,
      wide: true,
      sort: (s) => s.priority,
      cell: (s) => count(s.priority, language),
    },
    {
      id: 'from',
      label: t('began'),
      width: 'minmax(92px, 0.8fr)',
      wide: true,
      sort: (s) => s.from,
      cell: (s) => when(s.from),
    },
    {
      id: 'to',
      label: t('ended'),
      width: 'minmax(92px, 0.8fr)',
      wide: true,
      sort: (s) => s.to,
      cell: (s) => when(s.to),
    },
    {
      id: 'waited',
      label: t('waitedFor'),
      width: '84px',
      end: true,
      sort: (s) => s.waited,
      cell: (s) => duration(s.waited),
    },
    { id: 'held', label: t('heldFor'), width: '92px', end: true, sort: (s) => s.held, cell: (s) => duration(s.held) },
    {
      id: 'times',
      label: t('times'),
      width: '96px',
      end: true,
      wide: true,
      sort: (s) => s.admissions,
      cell: (s) => s.admissions || '',
    },
    {
      id: 'outcome',
      label: t('outcome'),
      width: 'minmax(90px, 0.8fr)',
      sort: outcome,
      cell: (s) => <span title={s.end}>{outcome(s)}</span>,
    },
  ];
  return (
    <Table
      label={t('history')}
      rows={rows}
      columns={columns}
      rowKey={(s) => s.uid + s.workload}
      href={(s) => workloadPath(s.workload)}
      sort="-from"
    />
  );
}

function Strips({
  lines,
  from,
  to,
  at,
  onMoment,
}: {
  lines: Line[];
  from: number;
  to: number;
  at: number | undefined;
  onMoment: (at: number | undefined) => void;
}) {
  const { t, said, language } = useText();
  const box = useRef<HTMLDivElement>(null);
  const track = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (lines[i]!.kind === 'queue' ? 32 : 18),
    overscan: 30,
    paddingStart: 26,
  });
  const ticks = Array.from({ length: 7 }, (_, i) => from + ((to - from) * i) / 6);
  const long = to - from > 24 * 3_600_000;
  const when = (ms: number) =>
    long
      ? new Date(ms).toLocaleDateString(language, { month: 'short', day: 'numeric' })
      : clock(ms, language, to - from < 3_600_000);
  const left = at !== undefined ? ((at - from) / (to - from)) * 100 : undefined;
  return (
    <div
      className="strips"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={t('history')}
      onPointerMove={(e) => {
        const r = track.current?.getBoundingClientRect();
        if (r && e.clientX >= r.left && e.clientX <= r.right)
          onMoment(from + ((e.clientX - r.left) / r.width) * (to - from));
      }}
      onKeyDown={(e) => {
        const step = e.key === 'ArrowLeft' ? -1 : e.key === 'ArrowRight' ? 1 : 0;
        if (step) {
          onMoment(Math.max(from, Math.min(to, (at ?? to) + (step * (to - from)) / 100)));
          e.preventDefault();
        }
      }}
    >
      <div className="strip-space" style={{ height: virtual.getTotalSize() }}>
        <div className="axis">
          <div ref={track} className="track" aria-hidden="true">
            {ticks.map((ms, i) => (
              <span key={i} style={{ left: `${(i / 6) * 100}%` }}>
                {when(ms)}
              </span>
            ))}
            {left !== undefined && <em style={{ left: `${left}%` }} />}
          </div>
        </div>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index]!;
          const style = { transform: `translateY(${item.start}px)`, height: item.size };
          if (line.kind === 'queue') {
            const c = at !== undefined ? countsAt(line.strips, at) : undefined;
            return (
              <div key={`q${line.cq}`} className="strip queue" style={style}>
                <Link to={path('clusterqueues', line.cq)}>{line.cq || '–'}</Link>{' '}
                <span className="quiet">
                  {c ? `${c.waiting} ${t('h_waiting')} · ${c.reserved + c.admitted} ${t('running')}` : line.count}
                </span>
              </div>
            );
          }
          const s = line.strip;
          const now = at !== undefined ? stateAt(s, at) : undefined;
          return (
            <div key={s.uid + s.workload} className="strip" style={style}>
              <Link
                to={workloadPath(s.workload)}
                className={now ? `strip-name now ${now}` : 'strip-name'}
                title={`${s.workload} · ${t('priority')} ${s.priority}`}
              >
                {s.workload}
              </Link>
              <div
                className="track"
                role="img"
                aria-label={s.spans
                  .map(
                    (x) =>
                      `${t(`h_${x.state}`)} ${clock(x.from, language)}–${x.to ? clock(x.to, language) : ''}${x.end ? ` (${said(x.end)})` : ''}`,
                  )
                  .join(', ')}
              >
                {s.spans.map((x, i) => {
                  const e = extent(x, from, to);
                  return (
                    e && (
                      <span
                        key={i}
                        className={`s-${x.state}${x.state !== 'waiting' && !GOOD.has(x.end ?? '') ? ' cut' : ''}`}
                        style={{ left: `${e.left}%`, width: `${e.width}%` }}
                        title={`${t(`h_${x.state}`)} ${duration((x.to ?? to) - x.from)}${x.end ? ` · ${t('endedBy', { end: said(x.end) })}` : ''}`}
                      />
                    )
                  );
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
