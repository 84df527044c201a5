// Amounts, times and durations as people read them.
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

function digits(value: number): string {
  const size = Math.abs(value);
  return String(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)));
}

function scaled(value: number, base: number, units: string[]): string {
  let step = 0;
  while (Math.abs(value) >= base && step < units.length - 1) {
    value /= base;
    step++;
  }
  return digits(value) + (units[step] ? `${base === 1024 ? ' ' : ''}${units[step]}` : '');
}

const inBytes = (resource: string): boolean =>
  resource === 'memory' ||
  resource.startsWith('ephemeral-storage') ||
  resource.startsWith('hugepages-') ||
  resource === 'storage';

// "12.5" for 12,500 thousandths of a CPU, "64 Gi" for bytes, "8" for units.
export function amount(resource: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return '∞';
  if (resource === 'cpu') return scaled(value / 1000, 1000, DECIMAL);
  if (inBytes(resource)) return scaled(value, 1024, BINARY);
  return Math.abs(value) >= 10_000 ? scaled(value, 1000, DECIMAL) : digits(value);
}

// The short name: "gpu" of "nvidia.com/gpu".
export function resourceName(resource: string): string {
  return resource.slice(resource.lastIndexOf('/') + 1);
}

export function amounts(all: Record<string, number>): string {
  return Object.keys(all)
    .sort(byResource)
    .map((r) => `${amount(r, all[r])} ${resourceName(r)}`)
    .join(' · ');
}

// The same for a column of a list: the unit of memory says what it is.
export function amountsInShort(all: Record<string, number>): string {
  return Object.keys(all)
    .sort(byResource)
    .map((r) => (r === 'memory' ? amount(r, all[r]) : `${amount(r, all[r])} ${resourceName(r)}`))
    .join(' · ');
}

// Accelerators come first: they are what people wait for.
export function byResource(a: string, b: string): number {
  const rank = (r: string) => (r.includes('/') ? 0 : r === 'cpu' ? 1 : r === 'memory' ? 2 : r === 'pods' ? 4 : 3);
  return rank(a) - rank(b) || a.localeCompare(b);
}

// "Booking expired" of "bookingExpired".
export function sentence(word: string): string {
  const words = word.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// "45s", "12m", "3h 20m", "2d 4h".
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 60) return m < 10 && s % 60 ? `${m}m ${s % 60}s` : `${m}m`;
  const h = Math.floor(m / 60);
  if (h < 24) return m % 60 ? `${h}h ${m % 60}m` : `${h}h`;
  const d = Math.floor(h / 24);
  return h % 24 && d < 10 ? `${d}d ${h % 24}h` : `${d}d`;
}

export function percent(part: number, whole: number): number {
  return whole > 0 ? (part / whole) * 100 : 0;
}

export function clock(ms: number, language: string, seconds = true): string {
  return new Date(ms).toLocaleTimeString(language, {
    hour: '2-digit',
    minute: '2-digit',
    second: seconds ? '2-digit' : undefined,
    hour12: false,
  });
}

export function dateTime(ms: number, language: string): string {
  return new Date(ms).toLocaleString(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
}

export function count(n: number, language: string): string {
  return n.toLocaleString(language);
}

// A quantity of Kubernetes as a number in the units of the rows; NaN when it is none.
export function parseQuantity(resource: string, text: string): number {
  const match = /^([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.exec(text);
  if (!match) return NaN;
  const unit = match[2] ?? '';
  const power = unit.endsWith('i')
    ? 1024 ** BINARY.indexOf(unit)
    : unit === 'm'
      ? 1e-3
      : 1000 ** ['', 'k', 'M', 'G', 'T', 'P', 'E'].indexOf(unit);
  return Number(match[1]) * power * (resource === 'cpu' ? 1000 : 1);
}
