import { describe, expect, it } from 'vitest';
import type { Workload } from '../../src/data/rows';
import { sortRows } from '../../src/logic/sort';
import { filterWorkloads, pendingByReason, type WorkloadFilter } from '../../src/logic/workloads';

let n = 0;
const workload = (patch: Partial<Workload>): Workload => {
  const name = `w${n++}`;
  return { key: `ns/${name}`, ns: 'ns', name, uid: name, queue: 'main', cq: 'team', state: 'pending', priority: 0, evictions: 0, pods: 1, requests: {}, ...patch };
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

it('reasons are counted without the numbers in them', () => {
  const lack = (gpus: number) => workload({ waitsSince: gpus, message: `couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, ${gpus} more needed` });
  expect(pendingByReason([lack(8), lack(2), workload({ state: 'admitted' })])).toEqual([{ reason: 'quota: nvidia.com/gpu in h100', count: 2, oldest: 2 }]);
});

it('a workload that was not evaluated itself counts with what the equivalent one lacked', () => {
  const bypassed = 'Bypassed scheduling evaluation because an equivalent workload recently failed';
  const lacks = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed";
  const rows = [workload({ message: lacks }), workload({ message: `${bypassed}: ns/first: ${lacks}` }), workload({ message: bypassed })];
  expect(pendingByReason(rows).map((r) => [r.reason, r.count])).toEqual([['quota: nvidia.com/gpu in h100', 2], ['like another that does not fit', 1]]);
});

it('a workload that can never fit counts as that, whatever is short now', () => {
  const short = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 8 more needed";
  const never = `${short}. It can never fit: no rack has place for its pods, even without other workloads; at most 8 of 28 pods of pod set main fit`;
  expect(pendingByReason([workload({ message: never }), workload({ message: short })]).map((r) => r.reason).sort()).toEqual(['can never fit', 'quota: cpu in f']);
});

it('rows without a value come last in both directions', () => {
  const rows = [{ v: 2 }, { v: undefined }, { v: 10 }];
  expect(sortRows(rows, (r) => r.v, false).map((r) => r.v)).toEqual([2, 10, undefined]);
  expect(sortRows(rows, (r) => r.v, true).map((r) => r.v)).toEqual([10, 2, undefined]);
  expect(sortRows([{ v: 'n10' }, { v: 'n9' }], (r) => r.v, false)[0]!.v).toBe('n9');
});
