// The span of "last night": from six in the evening to six in the morning, in local time. Before six it is the night
// that has not ended: `to` is absent.
const HOUR = 3_600_000;
export const NIGHT = 12 * HOUR;

export function lastNight(now: number): { to?: number } {
  const six = new Date(now);
  six.setHours(6, 0, 0, 0);
  return six.getTime() > now ? {} : { to: six.getTime() };
}

// The shortest of the ranges that shows everything since `begun`, at most the longest.
export function fitting<R extends string>(ranges: Record<R, number>, begun: number, now: number): R {
  const sorted = (Object.entries(ranges) as [R, number][]).sort((a, b) => a[1] - b[1]);
  return (sorted.find(([, length]) => length >= now - begun) ?? sorted.at(-1)!)[0];
}

// Where a view that ends at `to` begins: `length` before, or where the data begin if that is later; at least a minute.
export function beginning(to: number, length: number, begun: number): number {
  const tens = Math.floor(begun / 10_000) * 10_000; // it moves in steps, as the end does
  return Math.min(to - 60_000, Math.max(to - length, tens));
}
