import { describe, expect, it } from 'vitest';
import { expected, shortTime } from '../../src/logic/starts';

const now = new Date(2026, 10, 28, 12, 0).getTime();
const time = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
const say = (start: object, more: object = {}) => expected({ summary: '', start, ...more }, now, 'en');

describe('the expected start', () => {
  it('is an interval, or one time where both are the same to the minute', () => {
    expect(say({ p50: time(10), p90: time(75) })).toEqual({ kind: 'between', p50: '12:10', p90: '13:15' });
    expect(say({ p50: time(10), p90: time(10.5) })).toEqual({ kind: 'at', time: '12:10' });
  });
  it('says after where what was played ends, and never where it cannot fit', () => {
    expect(say({ after: time(60) })).toEqual({ kind: 'after', time: '13:00' });
    expect(say({ p50: time(10), after: time(60) })).toEqual({ kind: 'half', p50: '12:10' });
    expect(say({}, { never: 'too large' })).toEqual({ kind: 'never' });
    expect(say({})).toEqual({ kind: 'unknown' });
  });
  it('names the day where it is another one', () => {
    expect(shortTime(now + 86_400_000, now, 'en')).toBe('Nov 29 12:00');
  });
});
