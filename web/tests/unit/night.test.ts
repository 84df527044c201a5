import { expect, test } from 'vitest';
import { beginning, fitting, lastNight } from '../../src/logic/night';

test('before six in the morning last night has not ended', () => {
  const at = (hour: number) => new Date(2026, 5, 10, hour, 30).getTime();
  expect(lastNight(at(3))).toEqual({});
  expect(lastNight(at(9))).toEqual({ to: new Date(2026, 5, 10, 6).getTime() });
});

test('the range fits what is known', () => {
  const ranges = { '15m': 900_000, '1h': 3_600_000, '6h': 21_600_000 };
  expect(fitting(ranges, 0, 120_000)).toBe('15m');
  expect(fitting(ranges, 0, 1_000_000)).toBe('1h');
  expect(fitting(ranges, 0, 1e12)).toBe('6h');
});

test('the view begins where the data do', () => {
  expect(beginning(1_000_000, 900_000, 905_000)).toBe(900_000);
  expect(beginning(1_000_000, 900_000, 5_000)).toBe(100_000);
  expect(beginning(1_000_000, 900_000, 999_000)).toBe(940_000);
});
