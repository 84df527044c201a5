import { expect, test } from 'vitest';
import type { Workload } from '../../src/data/rows';
import { myWork } from '../../src/logic/mine';
import { search, type Hit } from '../../src/logic/search';

const hit = (name: string, what: Hit['what'] = 'workload'): Hit => ({ what, name, to: `/${name}` });

test('the whole name comes first, then its beginning, then anything with all words', () => {
  const hits = ['b/pretrain-1', 'a/train', 'a/train-2', 'c/my-train', 'train/x', 'other'].map((n) => hit(n));
  expect(search(hits, 'train').map((h) => h.name)).toEqual([
    'a/train',
    'train/x',
    'a/train-2',
    'c/my-train',
    'b/pretrain-1',
  ]);
  expect(search(hits, 'TRAIN a/').map((h) => h.name)).toEqual(['a/train', 'a/train-2']);
  expect(search(hits, '  ')).toEqual([]);
  expect(search([hit('queues-of-ads'), hit('Queues', 'page')], 'queues')[0]!.what).toBe('page');
  expect(search([hit('a.b')], 'a.')).toHaveLength(1);
});

test('my work is divided by where it stands', () => {
  const w = (patch: Partial<Workload>): Workload => ({
    key: 'a/w',
    ns: 'a',
    name: 'w',
    uid: 'u',
    queue: 'q',
    state: 'pending',
    priority: 0,
    evictions: 0,
    pods: 1,
    requests: {},
    ...patch,
  });
  const now = 10_000_000;
  const rows = [
    w({ waitsSince: 5 }),
    w({ state: 'evicted', waitsSince: 3 }),
    w({ state: 'inactive', created: 9 }),
    w({ state: 'admitted' }),
    w({ state: 'finished', finished: now - 1, result: 'failed' }),
    w({ state: 'finished', finished: 1 }),
    w({ ns: 'b' }),
  ];
  const mine = myWork(rows, 'a', now);
  expect([mine.waiting.length, mine.holding.length, mine.ended.length, mine.failed, mine.oldest]).toEqual([
    3, 1, 1, 1, 3,
  ]);
  expect(myWork(rows, '', now).waiting).toHaveLength(4);
});
