// The tree of cohorts and cluster queues (and Volcano's queues) with the sums of each node.
import type { ClusterQueue, Cohort, Quota, VolcanoQueue } from '../data/rows';

export interface Use {
  nominal: number; // Infinity: unlimited
  used: number;
  reserved: number;
  borrowed: number; // of the queue; of a cohort: by all queues below it
  lent: number; // about so much of its unused quota is in use by others of its cohort
}

export interface TreeNode {
  id: string; // "cohort/NAME", "queue/NAME", "volcano/NAME"
  kind: 'cohort' | 'queue' | 'volcano';
  name: string;
  children: TreeNode[];
  use: Map<string, Use>; // by resource
  pending: number;
  admitted: number;
  weight?: number;
  share?: number;
  queue?: ClusterQueue;
  cohort?: Cohort;
  volcano?: VolcanoQueue;
}

const none = (): Use => ({ nominal: 0, used: 0, reserved: 0, borrowed: 0, lent: 0 });

function usageOf(map: Map<string, Use>, resource: string): Use {
  let use = map.get(resource);
  if (!use) map.set(resource, (use = none()));
  return use;
}

export function quotaUse(queue: ClusterQueue): Map<string, Use> {
  const out = new Map<string, Use>();
  for (const q of queue.quotas) {
    const use = usageOf(out, q.resource);
    use.nominal += q.nominal ?? Infinity;
    use.used += q.used;
    use.reserved += q.reserved;
    use.borrowed += q.borrowed;
  }
  return out;
}

function addQuotas(map: Map<string, Use>, quotas: Quota[]): void {
  for (const q of quotas) usageOf(map, q.resource).nominal += q.nominal ?? 0;
}

// Borrowed quota is lent by the siblings that leave theirs unused, in proportion to what they leave. The API does not say
// whose quota it is, so this is an estimate.
function lend(parent: TreeNode): void {
  for (const [resource, total] of parent.use) {
    const idle = parent.children.map((child) => {
      const use = child.use.get(resource);
      return use && Number.isFinite(use.nominal) ? Math.max(0, use.nominal - use.reserved) : 0;
    });
    const all = idle.reduce((sum, n) => sum + n, 0);
    const borrowed = parent.children.reduce((sum, child) => {
      const use = child.use.get(resource);
      return sum + (use ? Math.max(0, use.reserved - use.nominal) : 0);
    }, 0);
    const lent = Math.min(all, borrowed);
    if (lent <= 0 || total.used < 0) continue;
    parent.children.forEach((child, i) => {
      if (idle[i]! > 0) child.use.get(resource)!.lent = Math.round((lent * idle[i]!) / all);
    });
  }
}

function sum(node: TreeNode): void {
  for (const child of node.children) {
    sum(child);
    node.pending += child.pending;
    node.admitted += child.admitted;
    for (const [resource, use] of child.use) {
      const mine = usageOf(node.use, resource);
      mine.nominal += use.nominal;
      mine.used += use.used;
      mine.reserved += use.reserved;
      mine.borrowed += use.borrowed;
    }
  }
  lend(node);
}

const byName = (a: TreeNode, b: TreeNode): number =>
  Number(a.kind === 'queue') - Number(b.kind === 'queue') || a.name.localeCompare(b.name, undefined, { numeric: true });

// A cohort that only a queue or another cohort names has a node too. Cohorts in a cycle, which the controller refuses, are
// cut at the first one by name.
export function buildTree(queues: ClusterQueue[], cohorts: Cohort[]): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  const node = (name: string): TreeNode => {
    let found = nodes.get(name);
    if (!found) {
      found = { id: `cohort/${name}`, kind: 'cohort', name, children: [], use: new Map(), pending: 0, admitted: 0 };
      nodes.set(name, found);
    }
    return found;
  };
  const parents = new Map<string, string>();
  for (const c of [...cohorts].sort((a, b) => a.name.localeCompare(b.name))) {
    const n = node(c.name);
    n.cohort = c;
    n.weight = c.weight;
    n.share = c.share;
    addQuotas(n.use, c.quotas);
    if (!c.parent) continue;
    node(c.parent);
    let up: string | undefined = c.parent;
    while (up !== undefined && up !== c.name) up = parents.get(up);
    if (up === undefined) parents.set(c.name, c.parent);
  }
  const roots: TreeNode[] = [];
  for (const q of queues) {
    const leaf: TreeNode = {
      id: `queue/${q.name}`,
      kind: 'queue',
      name: q.name,
      children: [],
      use: quotaUse(q),
      pending: q.pending,
      admitted: q.admitted,
      weight: q.weight,
      share: q.share,
      queue: q,
    };
    if (q.cohort) node(q.cohort).children.push(leaf);
    else roots.push(leaf);
  }
  for (const [name, n] of nodes) {
    const parent = parents.get(name);
    if (parent !== undefined) node(parent).children.push(n);
    else roots.push(n);
  }
  for (const n of nodes.values()) n.children.sort(byName);
  roots.sort(byName);
  roots.forEach(sum);
  return roots;
}

export function buildVolcanoTree(queues: VolcanoQueue[]): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const q of queues) {
    const use = new Map<string, Use>();
    const resources = new Set([...Object.keys(q.allocated ?? {}), ...Object.keys(q.deserved ?? q.capability ?? {})]);
    for (const r of resources) {
      const used = q.allocated?.[r] ?? 0;
      const nominal = q.deserved?.[r] ?? q.guarantee?.[r] ?? q.capability?.[r] ?? Infinity;
      use.set(r, { nominal, used, reserved: used, borrowed: Math.max(0, used - nominal), lent: 0 });
    }
    nodes.set(q.name, {
      id: `volcano/${q.name}`,
      kind: 'volcano',
      name: q.name,
      children: [],
      use,
      pending: q.pending + q.inqueue,
      admitted: q.running,
      weight: q.weight,
      volcano: q,
    });
  }
  const roots: TreeNode[] = [];
  for (const n of nodes.values()) {
    // A queue that names itself or a descendant as its parent stays at the top.
    let up = n.volcano?.parent;
    for (let steps = 0; up && up !== n.name && steps < nodes.size; steps++) up = nodes.get(up)?.volcano?.parent;
    const parent = up === n.name ? undefined : nodes.get(n.volcano?.parent ?? '');
    if (parent) parent.children.push(n);
    else roots.push(n);
  }
  for (const n of nodes.values()) n.children.sort(byName);
  return roots.sort(byName);
}

export interface TreeRow {
  node: TreeNode;
  level: number; // 1 = top
  position: number; // 1 = the first of its siblings
  siblings: number;
  open: boolean;
}

// The visible rows. With a text, the nodes whose names have it, what is above them, and what is below them when open.
export function flatten(roots: TreeNode[], closed: ReadonlySet<string>, text = ''): TreeRow[] {
  const words = text.toLowerCase().trim();
  const keep = new Set<TreeNode>();
  const mark = (n: TreeNode, above: boolean): boolean => {
    const hit = above || words === '' || n.name.toLowerCase().includes(words);
    let any = hit;
    for (const child of n.children) any = mark(child, hit) || any;
    if (any) keep.add(n);
    return any;
  };
  roots.forEach((n) => mark(n, false));
  const out: TreeRow[] = [];
  const walk = (all: TreeNode[], level: number) => {
    const visible = all.filter((n) => keep.has(n));
    visible.forEach((n, i) => {
      const open = n.children.length > 0 && !closed.has(n.id);
      out.push({ node: n, level, position: i + 1, siblings: visible.length, open });
      if (open) walk(n.children, level + 1);
    });
  };
  walk(roots, 1);
  return out;
}
