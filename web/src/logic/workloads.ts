// Filters and counts of workloads.
import type { Workload } from '../data/rows';

export interface WorkloadFilter {
  ns: string;
  queue: string; // "namespace/queue", or the name of a cluster queue
  state: string; // one state; "waiting": pending or evicted; "running": holds quota; "": all that are not finished
  kind: string;
  text: string; // every word must occur
}

// Kueue counts a workload as evicted until its pods have stopped and it waits again.
export const isWaiting = (w: Workload): boolean => w.state === 'pending' || w.state === 'evicted';
export const holdsQuota = (w: Workload): boolean => w.state === 'quotaReserved' || w.state === 'admitted';

function stateMatches(w: Workload, state: string): boolean {
  switch (state) {
    case '':
      return w.state !== 'finished';
    case 'all':
      return true;
    case 'waiting':
      return isWaiting(w);
    case 'running':
      return holdsQuota(w);
    case 'failed':
      return w.result === 'failed';
    default:
      return w.state === state;
  }
}

export const kindOf = (w: Workload): string => w.owner?.kind ?? 'Workload';

export function filterWorkloads(rows: Workload[], filter: WorkloadFilter): Workload[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const slash = filter.queue.indexOf('/');
  const queueNs = slash < 0 ? '' : filter.queue.slice(0, slash);
  const queueName = filter.queue.slice(slash + 1);
  return rows.filter((w) => {
    if (filter.ns && w.ns !== filter.ns) return false;
    if (!stateMatches(w, filter.state)) return false;
    if (filter.queue && (queueNs ? w.ns !== queueNs || w.queue !== queueName : w.cq !== queueName)) return false;
    if (filter.kind && kindOf(w) !== filter.kind) return false;
    if (words.length === 0) return true;
    const hay =
      `${w.key} ${w.queue} ${w.cq ?? ''} ${w.owner?.name ?? ''} ${w.pc ?? ''} ${w.reason ?? ''} ${w.message ?? ''}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

export interface Reason {
  reason: string;
  count: number;
  oldest: number; // ms, when the oldest began to wait
}

// Why workloads wait, the most frequent reason first.
export function pendingByReason(rows: Workload[]): Reason[] {
  const found = new Map<string, Reason>();
  for (const w of rows) {
    if (!isWaiting(w)) continue;
    const reason = whyInShort(w);
    const since = w.waitsSince ?? w.created ?? 0;
    const entry = found.get(reason);
    if (!entry) found.set(reason, { reason, count: 1, oldest: since });
    else {
      entry.count++;
      if (since < entry.oldest) entry.oldest = since;
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}

// For a column of a list: without the group of a resource, "quota: gpu in h100".
export const whyInColumn = (w: Workload): string =>
  whyInShort(w).replace(/^((?:more than the )?quota: )\S*\/(\S+ in )/, '$1$2');

export const whyInShort = (w: Workload): string => w.why ?? (w.state === 'evicted' ? 'evicted' : 'not considered yet');
