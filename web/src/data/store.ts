// What the server has sent: one map per collection. Views subscribe to a collection and get changes in bursts.
import type { CollectionName, Collections } from './rows';

export type CollectionState = 'waiting' | 'ready' | 'denied';

// A burst of changes reaches the views after this time (ms); of a large collection less often, because every view of it
// filters and sorts all rows.
const BURST = 50;
const LARGE_BURST = 250;
const LARGE = 10_000;
const LOADING = 1500; // ms between bursts while a snapshot arrives

export class Collection<R extends { key: string }> {
  private map = new Map<string, R>();
  private staged: Map<string, R> | null = null;
  private sorted: R[] | null = null;
  private listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private view: CollectionView<R> | null = null;
  private told = Date.now();
  state: CollectionState = 'waiting';
  message = '';

  get(key: string): R | undefined {
    return this.map.get(key);
  }

  // A part of a snapshot. The rows of before stay until the last part is here, so that a reconnect does not flicker.
  snapshot(first: boolean, last: boolean, rows: R[]): void {
    if (first) this.staged = new Map();
    const target = this.staged ?? (this.staged = new Map());
    for (const row of rows) target.set(row.key, row);
    const fresh = this.state === 'waiting';
    if (last) this.staged = null;
    if (last || fresh) this.map = target; // the first part is shown at once
    if (last || this.map.size > 0) this.state = 'ready';
    // Views that work on every part would delay the parts behind it.
    if (last || fresh || Date.now() - this.told > LOADING) this.changed();
  }

  change(set: R[], remove: string[]): void {
    for (const map of this.staged && this.staged !== this.map ? [this.map, this.staged] : [this.map]) {
      for (const row of set) map.set(row.key, row);
      for (const key of remove) map.delete(key);
    }
    this.changed();
  }

  deny(message: string): void {
    this.map = new Map();
    this.staged = null;
    this.state = 'denied';
    this.message = message;
    this.changed();
  }

  clear(): void {
    this.map = new Map();
    this.staged = null;
    this.state = 'waiting';
    this.changed();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  // The same object until the next burst.
  look = (): CollectionView<R> => {
    if (!this.view) {
      this.sorted ??= [...this.map.values()];
      this.view = { rows: this.sorted, state: this.state, message: this.message, get: (key) => this.map.get(key) };
    }
    return this.view;
  };

  private changed(): void {
    if (this.timer !== null) return;
    this.timer = setTimeout(
      () => {
        this.timer = null;
        this.told = Date.now();
        this.sorted = null;
        this.view = null;
        for (const listener of [...this.listeners]) listener();
      },
      this.map.size > LARGE ? LARGE_BURST : BURST,
    );
  }
}

export interface CollectionView<R> {
  rows: R[];
  state: CollectionState;
  message: string;
  get(key: string): R | undefined;
}

const collections = new Map<CollectionName, Collection<{ key: string }>>();

export function collection<N extends CollectionName>(name: N): Collection<Collections[N]> {
  let found = collections.get(name);
  if (!found) collections.set(name, (found = new Collection()));
  return found as unknown as Collection<Collections[N]>;
}

export function clearAll(): void {
  for (const each of collections.values()) each.clear();
}
