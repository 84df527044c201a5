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
    const hay = `${w.key} ${w.queue} ${w.cq ?? ''} ${w.owner?.name ?? ''} ${w.pc ?? ''} ${w.reason ?? ''} ${w.message ?? ''}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

export interface Reason {
  reason: string;
  count: number;
  oldest: number; // ms, when the oldest began to wait
}

// Why workloads wait, the most frequent reason first. Numbers and names in messages are taken out, so that workloads
// that lack the same thing are counted together.
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

// A workload that was not evaluated because an equivalent one was repeats what that one lacked: that counts. Kueue
// says no more than this.
const PATTERNS: [RegExp, (m: RegExpExecArray) => string][] = [
  [/can never fit/i, () => 'can never fit'],
  [/equivalent workload recently failed$/i, () => 'like another that does not fit'],
  [/^Preempted/i, () => 'preempted, waits again'],
  [/insufficient unused quota for ([^\s,]+) in flavor ([^\s,]+)/i, (m) => `quota: ${m[1]} in ${m[2]}`],
  [/insufficient quota for ([^\s,]+) in flavor ([^\s,]+)/i, (m) => `more than the quota: ${m[1]} in ${m[2]}`],
  [/topology "([^"]+)" (?:allows|doesn't allow)/i, (m) => `topology: ${m[1]}`],
  [/is inactive|is stopped|stopped/i, () => 'queue stopped'],
  [/doesn't exist|does not exist|not found/i, () => 'missing queue or flavor'],
  [/untolerated taint/i, () => 'taints of the flavor'],
  [/node ?affinity|doesn't match/i, () => 'node affinity of the flavor'],
  [/namespace .*match|match.* namespace/i, () => 'namespace not selected by the queue'],
  [/pods? ready|PodsReady/i, () => 'pods of others not ready yet'],
  [/maximum capacity|exceeds?/i, () => 'more than the queue can ever have'],
];

export function whyInShort(w: Workload): string {
  for (const [pattern, name] of PATTERNS) {
    const found = pattern.exec(w.message ?? '');
    if (found) return name(found);
  }
  return w.reason ?? (w.state === 'evicted' ? (w.lastEviction?.reason ?? 'evicted') : 'not considered yet');
}
