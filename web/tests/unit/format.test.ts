import { describe, expect, it } from 'vitest';
import { amount, amounts, duration, parseQuantity, percent } from '../../src/logic/format';

describe('amounts', () => {
  it('shows cpu in CPUs, memory in binary units, others as counts', () => {
    expect(amount('cpu', 12_500)).toBe('12.5');
    expect(amount('cpu', 250)).toBe('0.25');
    expect(amount('memory', 64 * 2 ** 30)).toBe('64 Gi');
    expect(amount('nvidia.com/gpu', 8)).toBe('8');
    expect(amount('pods', 25_000)).toBe('25k');
    expect(amount('cpu', null)).toBe('∞');
  });
  it('names accelerators first', () => {
    expect(amounts({ memory: 2 ** 30, cpu: 1000, 'nvidia.com/gpu': 2 })).toBe('2 gpu · 1 cpu · 1 Gi memory');
  });
  it('reads quantities', () => {
    expect(parseQuantity('cpu', '1500m')).toBe(1500);
    expect(parseQuantity('cpu', '2')).toBe(2000);
    expect(parseQuantity('memory', '2Gi')).toBe(2 ** 31);
    expect(parseQuantity('memory', '3k')).toBe(3000);
    expect(parseQuantity('cpu', 'unlimited')).toBeNaN();
  });
});

it('durations have two units at most', () => {
  expect([5_000, 65_000, 720_000, 12_000_000, 187_200_000].map(duration)).toEqual([
    '5s',
    '1m 5s',
    '12m',
    '3h 20m',
    '2d 4h',
  ]);
});

it('a percentage of nothing is nothing', () => expect(percent(5, 0)).toBe(0));
