import { describe, expect, it } from 'vitest';
import type { ClusterQueue, Cohort, VolcanoQueue } from '../../src/data/rows';
import { buildTree, buildVolcanoTree, flatten } from '../../src/logic/tree';

const queue = (name: string, cohort: string | undefined, nominal: number | null, reserved: number): ClusterQueue => ({
  key: name,
  name,
  cohort,
  strategy: '',
  stop: 'None',
  active: true,
  pending: 1,
  reserving: 0,
  admitted: 2,
  quotas: [
    {
      flavor: 'f',
      resource: 'gpu',
      nominal,
      reserved,
      used: reserved,
      borrowed: Math.max(0, reserved - (nominal ?? Infinity)),
    },
  ],
});
const cohort = (name: string, parent?: string): Cohort => ({ key: name, name, parent, quotas: [] });

describe('the tree', () => {
  it('adds up what is below a cohort', () => {
    const [top] = buildTree([queue('a', 'c', 8, 10), queue('b', 'c', 8, 2)], [cohort('c', 'top')]);
    expect(top!.name).toBe('top');
    expect(top!.pending).toBe(2);
    expect(top!.use.get('gpu')).toMatchObject({ nominal: 16, reserved: 12, borrowed: 2 });
  });
  it('says that the idle sibling lends', () => {
    const [c] = buildTree([queue('a', 'c', 8, 10), queue('b', 'c', 8, 2)], []);
    const [a, b] = c!.children;
    expect(a!.use.get('gpu')!.lent).toBe(0);
    expect(b!.use.get('gpu')!.lent).toBe(2);
  });
  it('cuts cycles of cohorts', () => {
    const roots = buildTree([queue('q', 'a', 1, 0)], [cohort('a', 'b'), cohort('b', 'a')]);
    expect(
      flatten(roots, new Set())
        .map((r) => r.node.name)
        .sort(),
    ).toEqual(['a', 'b', 'q']);
  });
  it('keeps a cohort that is its own parent', () => {
    expect(buildTree([], [cohort('a', 'a')]).map((n) => n.name)).toEqual(['a']);
  });
  it('has unlimited quota', () => {
    const [q] = buildTree([queue('q', undefined, null, 5)], []);
    expect(q!.use.get('gpu')!.nominal).toBe(Infinity);
  });
});

describe('visible rows', () => {
  const roots = buildTree([queue('train', 'research', 1, 0), queue('serve', 'product', 1, 0)], []);
  it('leaves out what is below closed nodes', () => {
    expect(flatten(roots, new Set(['cohort/product'])).map((r) => r.node.name)).toEqual([
      'product',
      'research',
      'train',
    ]);
  });
  it('keeps what is above a match', () => {
    const rows = flatten(roots, new Set(), 'TRAIN');
    expect(rows.map((r) => [r.node.name, r.level])).toEqual([
      ['research', 1],
      ['train', 2],
    ]);
    expect(rows[0]).toMatchObject({ position: 1, siblings: 1 });
  });
});

it("Volcano's queues stand below their parents, also when they name each other", () => {
  const q = (name: string, parent?: string): VolcanoQueue => ({
    key: name,
    name,
    parent,
    state: 'Open',
    pending: 0,
    inqueue: 0,
    running: 0,
    unknown: 0,
    completed: 0,
  });
  const [root] = buildVolcanoTree([q('b', 'root'), q('root'), q('a', 'b')]);
  expect(root!.children[0]!.children[0]!.name).toBe('a');
  expect(flatten(buildVolcanoTree([q('x', 'y'), q('y', 'x')]), new Set()).length).toBeGreaterThan(0);
});
