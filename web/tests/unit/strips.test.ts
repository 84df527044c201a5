import { expect, test } from 'vitest';
import { summary, type Strip } from '../../src/logic/strips';

const strip = (spans: Strip['spans']): Strip => ({
  workload: 'a/w',
  uid: 'u',
  queue: 'q',
  cq: 'c',
  priority: 0,
  spans,
});

test('a strip in numbers, within the window', () => {
  const s = strip([
    { state: 'waiting', from: 0, to: 100, end: 'reserved' },
    { state: 'reserved', from: 100, to: 150, end: 'admitted' },
    { state: 'admitted', from: 150, to: 400, end: 'preempted' },
    { state: 'waiting', from: 400 },
  ]);
  expect(summary(s, 50, 450)).toEqual({
    waited: 100,
    held: 300,
    admissions: 1,
    from: 0,
    to: undefined,
    end: '',
    last: 'waiting',
  });
  expect(summary(s, 500, 600)?.held).toBe(0);
  expect(summary(strip([]), 0, 1)).toBeNull();
});
