import { describe, expect, it } from 'vitest';
import type { Workload } from '../../src/data/rows';
import { sortRows } from '../../src/logic/sort';
import { filterWorkloads, pendingByReason, whyInColumn, type WorkloadFilter } from '../../src/logic/workloads';

let n = 0;
const workload = (patch: Partial<Workload>): Workload => {
  const name = `w${n++}`;
  return {
    key: `ns/${name}`,
    ns: 'ns',
    name,
    uid: name,
    queue: 'main',
    cq: 'team',
    state: 'pending',
    priority: 0,
    evictions: 0,
    pods: 1,
    requests: {},
    ...patch,
  };
};
const none: WorkloadFilter = { ns: '', queue: '', state: '', kind: '', text: '' };

describe('filters', () => {
  const rows = [
    workload({ name: 'train', key: 'a/train', ns: 'a', owner: { kind: 'Job', name: 'train', group: 'batch' } }),
    workload({ name: 'eval', key: 'b/eval', ns: 'b', state: 'admitted', cq: 'other' }),
    workload({ name: 'old', key: 'a/old', ns: 'a', state: 'finished', result: 'failed' }),
  ];
  const names = (patch: Partial<WorkloadFilter>) => filterWorkloads(rows, { ...none, ...patch }).map((w) => w.name);
  it('leave out finished ones unless asked for', () => {
    expect(names({})).toEqual(['train', 'eval']);
    expect(names({ state: 'all' })).toHaveLength(3);
    expect(names({ state: 'failed' })).toEqual(['old']);
    expect(names({ state: 'running' })).toEqual(['eval']);
  });
  it('select by namespace, queue, kind and text', () => {
    expect(names({ ns: 'a' })).toEqual(['train']);
    expect(names({ queue: 'other' })).toEqual(['eval']);
    expect(names({ queue: 'b/main' })).toEqual(['eval']);
    expect(names({ kind: 'Job' })).toEqual(['train']);
    expect(names({ text: 'TRAIN a/' })).toEqual(['train']);
    expect(names({ text: 'train eval' })).toEqual([]);
  });
});

it('reasons are counted, with the time of the oldest', () => {
  const lack = (waitsSince: number) => workload({ waitsSince, why: 'quota: nvidia.com/gpu in h100' });
  expect(
    pendingByReason([lack(8), lack(2), workload({ state: 'admitted' }), workload({ state: 'evicted', waitsSince: 5 })]),
  ).toEqual([
    { reason: 'quota: nvidia.com/gpu in h100', count: 2, oldest: 2 },
    { reason: 'evicted', count: 1, oldest: 5 },
  ]);
});

it('a column leaves out the group of a resource', () => {
  expect(whyInColumn(workload({ why: 'quota: nvidia.com/gpu in h100' }))).toBe('quota: gpu in h100');
  expect(whyInColumn(workload({ why: 'more than the quota: cpu in f' }))).toBe('more than the quota: cpu in f');
  expect(whyInColumn(workload({ why: 'can never fit' }))).toBe('can never fit');
});

it('rows without a value come last in both directions', () => {
  const rows = [{ v: 2 }, { v: undefined }, { v: 10 }];
  expect(sortRows(rows, (r) => r.v, false).map((r) => r.v)).toEqual([2, 10, undefined]);
  expect(sortRows(rows, (r) => r.v, true).map((r) => r.v)).toEqual([10, 2, undefined]);
  expect(sortRows([{ v: 'n10' }, { v: 'n9' }], (r) => r.v, false)[0]!.v).toBe('n9');
});
