// Strips of the history: one per workload, with spans of states.
export interface Span {
  state: 'waiting' | 'reserved' | 'admitted';
  from: number;
  to?: number; // open: still so
  end?: string;
}
export interface Strip {
  workload: string;
  uid: string;
  queue: string;
  cq: string;
  priority: number;
  spans: Span[];
}
export interface History {
  from: number;
  to: number;
  kept: { from: number; to: number };
  truncated: boolean;
  strips: Strip[];
}

export interface QueueStrips {
  cq: string;
  strips: Strip[];
}

const start = (s: Strip): number => s.spans[0]?.from ?? Infinity;

export function byQueue(strips: Strip[]): QueueStrips[] {
  const found = new Map<string, Strip[]>();
  for (const s of strips) {
    const list = found.get(s.cq);
    if (list) list.push(s);
    else found.set(s.cq, [s]);
  }
  return [...found]
    .sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true }))
    .map(([cq, list]) => ({
      cq,
      strips: list.sort((a, b) => start(a) - start(b) || a.workload.localeCompare(b.workload)),
    }));
}

export function stateAt(strip: Strip, at: number): Span['state'] | undefined {
  return strip.spans.find((s) => s.from <= at && (s.to === undefined || s.to > at))?.state;
}

export function countsAt(strips: Strip[], at: number): Record<Span['state'], number> {
  const out = { waiting: 0, reserved: 0, admitted: 0 };
  for (const s of strips) {
    const state = stateAt(s, at);
    if (state) out[state]++;
  }
  return out;
}

// What a strip tells in numbers, within a window.
export interface Summary {
  waited: number; // ms
  held: number; // ms, with quota reserved or admitted
  admissions: number;
  from: number;
  to?: number; // open: it still waits or holds quota
  end: string; // of its last span; "" when it is open or not known
  last: Span['state'];
}

export function summary(strip: Strip, from: number, to: number): Summary | null {
  const first = strip.spans[0];
  const last = strip.spans.at(-1);
  if (!first || !last) return null;
  const out: Summary = {
    waited: 0,
    held: 0,
    admissions: 0,
    from: first.from,
    to: last.to,
    end: last.end ?? '',
    last: last.state,
  };
  for (const s of strip.spans) {
    const within = Math.max(0, Math.min(s.to ?? to, to) - Math.max(s.from, from));
    if (s.state === 'waiting') out.waited += within;
    else out.held += within;
    if (s.state === 'admitted' && s.from >= from && s.from < to) out.admissions++;
  }
  return out;
}

// Left edge and width in percent of a span in the window; null: outside.
export function extent(span: Span, from: number, to: number): { left: number; width: number } | null {
  const a = Math.max(span.from, from);
  const b = Math.min(span.to ?? to, to);
  if (b <= a && span.to !== undefined) return null;
  if (a >= to) return null;
  const whole = to - from;
  return { left: ((a - from) / whole) * 100, width: Math.max(0.12, ((b - a) / whole) * 100) };
}
