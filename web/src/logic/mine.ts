// The workloads of somebody's namespaces by where they stand.
import type { Workload } from '../data/rows';
import { holdsQuota } from './workloads';

const LATELY = 3_600_000;

export interface MyWork {
  waiting: Workload[]; // and inactive ones
  holding: Workload[];
  ended: Workload[]; // in the last hour
  failed: number; // of these
  oldest?: number; // ms, when the oldest began to wait
}

export function myWork(rows: Workload[], ns: string, now: number): MyWork {
  const out: MyWork = { waiting: [], holding: [], ended: [], failed: 0 };
  for (const w of rows) {
    if (ns && w.ns !== ns) continue;
    if (w.state === 'finished') {
      if ((w.finished ?? 0) <= now - LATELY) continue;
      out.ended.push(w);
      if (w.result === 'failed') out.failed++;
    } else if (holdsQuota(w)) out.holding.push(w);
    else {
      out.waiting.push(w);
      const since = w.waitsSince ?? w.created;
      if (since !== undefined && (out.oldest === undefined || since < out.oldest)) out.oldest = since;
    }
  }
  return out;
}
