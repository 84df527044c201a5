// When a waiting workload is expected to start (docs/explain.md).
import { clock } from './format';

export interface Prediction {
  summary: string;
  at?: string; // when it was made
  never?: string; // why it can never fit
  start?: { p10?: string; p50?: string; p90?: string; after?: string };
  restsOn?: { basis: string; workloads: number }[];
  limit?: string;
}

// A time of this day is a clock, any other has its day.
export function shortTime(time: number, now: number, language: string): string {
  const day = (ms: number) => new Date(ms).toDateString();
  const date =
    day(time) === day(now) ? '' : `${new Date(time).toLocaleDateString(language, { month: 'short', day: 'numeric' })} `;
  return date + clock(time, language, false);
}

export type Expected =
  | { kind: 'never' }
  | { kind: 'unknown' }
  | { kind: 'after'; time: string }
  | { kind: 'at'; time: string }
  | { kind: 'between'; p50: string; p90: string }
  | { kind: 'half'; p50: string };

// What a cell says: one time where both are the same to the minute.
export function expected(p: Prediction, now: number, language: string): Expected {
  if (p.never) return { kind: 'never' };
  const say = (time: string | undefined) =>
    time === undefined ? undefined : shortTime(Date.parse(time), now, language);
  const [p50, p90, after] = [say(p.start?.p50), say(p.start?.p90), say(p.start?.after)];
  if (p50 && p90) return p50 === p90 ? { kind: 'at', time: p50 } : { kind: 'between', p50, p90 };
  if (p50) return { kind: 'half', p50 };
  if (after) return { kind: 'after', time: after };
  return { kind: 'unknown' };
}
