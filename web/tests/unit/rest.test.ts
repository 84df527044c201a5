// The timeline, the strips of the history, what needs attention, addresses, and the two languages.
import { describe, expect, it } from 'vitest';
import { attention, type Scene } from '../../src/logic/attention';
import { byQueue, countsAt, extent, type Strip } from '../../src/logic/strips';
import { timeline } from '../../src/logic/timeline';
import { en } from '../../src/text/en';
import { zh } from '../../src/text/zh';

describe('the timeline', () => {
  it('orders what happened, and survives half-done objects', () => {
    const moments = timeline({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: {
        conditions: [
          { type: 'Admitted', status: 'True', lastTransitionTime: '2026-01-01T00:02:00Z', reason: 'Admitted' },
          { type: 'QuotaReserved', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' },
          { type: 'Evicted', status: 'False', lastTransitionTime: '2026-01-01T00:03:00Z' },
          null,
          { type: 5 },
        ],
      },
    });
    expect(moments.map((m) => m.what)).toEqual(['created', 'QuotaReserved', 'Admitted']);
    expect(timeline({ status: 'broken' })).toEqual([]);
  });
});

describe('strips', () => {
  const strip: Strip = {
    workload: 'a/b',
    uid: 'u',
    queue: 'q',
    cq: 'c',
    priority: 0,
    spans: [
      { state: 'waiting', from: 10, to: 20 },
      { state: 'admitted', from: 20 },
    ],
  };
  it('count states at a moment', () => {
    expect([5, 15, 20, 99].map((at) => countsAt([strip], at).admitted + 10 * countsAt([strip], at).waiting)).toEqual([
      0, 10, 1, 1,
    ]);
  });
  it('are cut at the window', () => {
    expect(extent(strip.spans[0]!, 15, 25)).toEqual({ left: 0, width: 50 });
    expect(extent(strip.spans[1]!, 0, 40)).toEqual({ left: 50, width: 50 });
    expect(extent(strip.spans[0]!, 30, 40)).toBeNull();
  });
  it('stand by queue', () => expect(byQueue([strip, { ...strip, cq: 'a' }]).map((q) => q.cq)).toEqual(['a', 'c']));
});

describe('attention', () => {
  const scene: Scene = {
    queues: [],
    locals: [],
    checks: [],
    requests: [],
    nodes: [],
    placements: [],
    workloads: [],
    now: 3_600_000,
  };
  it('names failed nodes only when they hold workloads', () => {
    const nodes = ['n1', 'n2'].map((name) => ({
      key: name,
      name,
      ready: false,
      domains: {},
      allocatable: {},
      used: {},
    }));
    const placements = [
      {
        key: 'n1/a',
        node: 'n1',
        ns: 'a',
        workloads: [
          ['w', {}],
          ['', {}],
        ] as [string, Record<string, number>][],
      },
    ];
    expect(attention({ ...scene, nodes, placements }).map((a) => [a.name, a.detail])).toEqual([['n1', 'a/w']]);
  });
  it('puts what is broken before what only waits', () => {
    const workload = {
      key: 'a/w',
      ns: 'a',
      name: 'w',
      uid: '',
      queue: '',
      state: 'pending' as const,
      priority: 0,
      evictions: 4,
      pods: 1,
      requests: {},
      waitsSince: 0,
    };
    const check = { key: 'c', name: 'c', controller: '', active: false };
    expect(attention({ ...scene, workloads: [workload], checks: [check] }).map((a) => a.what)).toEqual([
      'checkInactive',
      'waitsLong',
      'evictedOften',
    ]);
  });
});

it('both languages use the same values', () => {
  const values = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join();
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    expect(zh[key], key).toBeTruthy();
    expect(values(zh[key]), key).toBe(values(en[key]));
  }
});
