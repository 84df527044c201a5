// What somebody should look at, the most urgent first.
import type { Check, ClusterQueue, LocalQueue, Node, Placement, ProvisioningRequest, Workload } from '../data/rows';
import { isWaiting } from './workloads';

export interface Attention {
  id: string;
  level: 'bad' | 'warn';
  what:
    | 'queueInactive'
    | 'queueStopped'
    | 'localInactive'
    | 'checkInactive'
    | 'provisioningFailed'
    | 'nodeDown'
    | 'waitsLong'
    | 'evictedOften'
    | 'failed';
  name: string;
  detail: string;
  since?: number;
  to: string; // address
}

const LONG = 30 * 60_000; // ms; waiting longer is worth a look
const OFTEN = 3; // evictions
const EACH = 5; // entries of one sort

export interface Scene {
  queues: ClusterQueue[];
  locals: LocalQueue[];
  checks: Check[];
  requests: ProvisioningRequest[];
  nodes: Node[];
  placements: Placement[];
  workloads: Workload[];
  now: number;
}

const to = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

export function attention(scene: Scene): Attention[] {
  const out: Attention[] = [];
  for (const q of scene.queues) {
    if (q.stop !== 'None')
      out.push({
        id: `q/${q.key}`,
        level: 'warn',
        what: 'queueStopped',
        name: q.name,
        detail: q.stop,
        to: to('clusterqueues', q.name),
      });
    else if (!q.active)
      out.push({
        id: `q/${q.key}`,
        level: 'bad',
        what: 'queueInactive',
        name: q.name,
        detail: q.message ?? q.reason ?? '',
        to: to('clusterqueues', q.name),
      });
  }
  const stopped = new Set(scene.queues.filter((q) => !q.active || q.stop !== 'None').map((q) => q.name));
  for (const l of scene.locals) {
    if (l.active && (l.stop === 'None' || !l.stop)) continue;
    if (stopped.has(l.cq)) continue; // the cluster queue is on the list
    out.push({
      id: `l/${l.key}`,
      level: 'warn',
      what: 'localInactive',
      name: l.key,
      detail: l.stop && l.stop !== 'None' ? l.stop : (l.message ?? l.reason ?? ''),
      to: to('localqueues', l.ns, l.name),
    });
  }
  for (const c of scene.checks)
    if (!c.active)
      out.push({
        id: `c/${c.key}`,
        level: 'bad',
        what: 'checkInactive',
        name: c.name,
        detail: c.message ?? c.reason ?? '',
        to: to('checks', c.name),
      });
  for (const r of scene.requests)
    if (r.state === 'failed' || r.state === 'capacityRevoked' || r.state === 'bookingExpired')
      out.push({
        id: `p/${r.key}`,
        level: 'warn',
        what: 'provisioningFailed',
        name: r.key,
        detail: r.message ?? r.state,
        to: to('checks'),
      });
  out.push(...brokenNodes(scene));
  const waiting = scene.workloads.filter(
    (w) => isWaiting(w) && scene.now - (w.waitsSince ?? w.created ?? scene.now) > LONG,
  );
  waiting.sort((a, b) => (a.waitsSince ?? a.created ?? 0) - (b.waitsSince ?? b.created ?? 0));
  for (const w of waiting.slice(0, EACH))
    out.push({
      id: `w/${w.key}`,
      level: 'warn',
      what: 'waitsLong',
      name: w.key,
      detail: w.message ?? '',
      since: w.waitsSince ?? w.created,
      to: to('workloads', w.ns, w.name),
    });
  const evicted = scene.workloads.filter((w) => w.state !== 'finished' && w.evictions >= OFTEN);
  evicted.sort((a, b) => b.evictions - a.evictions || a.key.localeCompare(b.key));
  for (const w of evicted.slice(0, EACH))
    out.push({
      id: `e/${w.key}`,
      level: 'warn',
      what: 'evictedOften',
      name: w.key,
      detail: [`${w.evictions}×`, w.lastEviction?.reason].filter(Boolean).join(' · '),
      to: to('workloads', w.ns, w.name),
    });
  return out.sort((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'));
}

function brokenNodes(scene: Scene): Attention[] {
  const down = new Map(scene.nodes.filter((n) => !n.ready).map((n) => [n.name, n]));
  if (down.size === 0) return [];
  const held = new Map<string, string[]>();
  for (const p of scene.placements) {
    if (!down.has(p.node)) continue;
    const names = p.workloads.filter(([name]) => name !== '').map(([name]) => `${p.ns}/${name}`);
    if (names.length > 0) held.set(p.node, [...(held.get(p.node) ?? []), ...names]);
  }
  return [...held].slice(0, EACH).map(([node, names]) => ({
    id: `n/${node}`,
    level: 'bad',
    what: 'nodeDown',
    name: node,
    detail: names.slice(0, 3).join(', ') + (names.length > 3 ? ` +${names.length - 3}` : ''),
    to: `/topology?node=${encodeURIComponent(node)}`,
  }));
}
