import { expect, it, vi } from 'vitest';
import { Collection } from '../../src/data/store';

const row = (key: string, n = 0) => ({ key, n });

it('a snapshot in parts is shown while it arrives, and replaces what was there', () => {
  const c = new Collection<{ key: string; n: number }>();
  c.snapshot(true, false, [row('a')]);
  expect(c.get('a')).toBeDefined();
  c.snapshot(false, true, [row('b')]);
  // After a reconnect the old rows stay until the last part is here.
  c.snapshot(true, false, [row('b', 1)]);
  expect([c.get('a'), c.get('b')!.n]).toEqual([row('a'), 0]);
  c.change([row('c')], []);
  c.snapshot(false, true, []);
  expect([c.get('a'), c.get('b')!.n, c.get('c')]).toEqual([undefined, 1, row('c')]);
});

it('tells of changes in bursts', () => {
  vi.useFakeTimers();
  const c = new Collection<{ key: string; n: number }>();
  const told = vi.fn();
  c.subscribe(told);
  c.snapshot(true, true, [row('a')]);
  const before = c.look();
  c.change([row('b')], ['a']);
  expect(c.look()).toBe(before);
  vi.advanceTimersByTime(60);
  expect(told).toHaveBeenCalledTimes(1);
  expect(c.look().rows).toEqual([row('b')]);
  vi.useRealTimers();
});

it('a denied collection is empty and says why', () => {
  const c = new Collection<{ key: string; n: number }>();
  c.snapshot(true, true, [row('a')]);
  c.deny('no right');
  expect([c.state, c.message, c.get('a')]).toEqual(['denied', 'no right', undefined]);
  c.snapshot(true, true, []);
  expect(c.state).toBe('ready');
});
