// What happened to a workload, from its status: conditions, checks, requeueing.
export interface Moment {
  at: number;
  what: string; // a condition's type, with "!" before it when it became False
  reason: string;
  message: string;
  tone: 'good' | 'wait' | 'info' | 'bad' | 'off';
}

interface Condition {
  type?: unknown;
  status?: unknown;
  reason?: unknown;
  message?: unknown;
  lastTransitionTime?: unknown;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
export const at = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : NaN);
export function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const TONES: Record<string, Moment['tone']> = {
  QuotaReserved: 'info',
  Admitted: 'good',
  PodsReady: 'good',
  Finished: 'off',
  Evicted: 'bad',
  Preempted: 'bad',
  Requeued: 'wait',
  DeactivationTarget: 'bad',
};

export function timeline(workload: Record<string, unknown>): Moment[] {
  const status = object(workload.status);
  const out: Moment[] = [];
  const add = (m: Moment) => Number.isFinite(m.at) && out.push(m);
  add({ at: at(object(workload.metadata).creationTimestamp), what: 'created', reason: '', message: '', tone: 'off' });
  for (const each of list(status.conditions)) {
    const c = object(each) as Condition;
    const yes = c.status === 'True';
    const type = text(c.type);
    // Evicted=False and the like only say that something has ended.
    if (!yes && type !== 'QuotaReserved' && type !== 'Admitted' && type !== 'PodsReady' && type !== 'Requeued')
      continue;
    add({
      at: at(c.lastTransitionTime),
      what: yes ? type : `!${type}`,
      reason: text(c.reason),
      message: text(c.message),
      tone: yes ? (TONES[type] ?? 'info') : 'wait',
    });
  }
  for (const each of list(status.admissionChecks)) {
    const c = object(each);
    const state = text(c.state);
    add({
      at: at(c.lastTransitionTime),
      what: text(c.name),
      reason: state,
      message: text(c.message),
      tone: state === 'Ready' ? 'good' : state === 'Pending' ? 'wait' : 'bad',
    });
  }
  const requeue = at(object(status.requeueState).requeueAt);
  if (Number.isFinite(requeue)) add({ at: requeue, what: 'requeue', reason: '', message: '', tone: 'wait' });
  return out.sort((a, b) => a.at - b.at);
}
