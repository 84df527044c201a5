// The streams of changes. One stream has what most pages need, a second one what the present page needs besides. A hidden
// page closes both after a while: browsers open at most six connections to a server without HTTP/2.
import type { CollectionName } from './rows';
import { collection } from './store';

export const COMMON: CollectionName[] = [
  'namespaces',
  'clusterqueues',
  'cohorts',
  'localqueues',
  'flavors',
  'topologies',
  'checks',
  'provisioningrequests',
  'vcqueues',
  'workloads',
];

export type Link = 'connecting' | 'live' | 'lost' | 'ended';

const HIDDEN_FOR = 60_000; // ms until a hidden page closes its streams
const LINGER = 3_000; // ms that the second stream outlives the page that needed it
const RETRY = 2_000; // ms until a refused stream is tried again

interface SnapshotEvent {
  collection: CollectionName;
  first: boolean;
  last: boolean;
  rows: never[];
}

class Stream {
  private source: EventSource | null = null;
  private retry: ReturnType<typeof setTimeout> | undefined;
  names: CollectionName[] = [];
  link: Link = 'connecting';

  constructor(private readonly owner: Streams) {}

  open(names: CollectionName[]): void {
    this.close();
    this.names = names;
    if (names.length === 0) return;
    const source = new EventSource(`/api/stream?collections=${names.join(',')}`);
    this.source = source;
    const on = <T>(event: string, handle: (data: T) => void) =>
      source.addEventListener(event, (e) => {
        if (this.source === source) handle(JSON.parse((e as MessageEvent<string>).data) as T);
      });
    source.onopen = () => this.is('live');
    source.onerror = () => {
      if (this.source !== source) return;
      this.is('lost');
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      this.owner.refused();
      this.retry = setTimeout(() => this.source === source && this.open(this.names), RETRY);
    };
    on<SnapshotEvent>('snapshot', (e) => collection(e.collection).snapshot(e.first, e.last, e.rows));
    on<{ collection: CollectionName; set?: never[]; delete?: string[] }>('change', (e) =>
      collection(e.collection).change(e.set ?? [], e.delete ?? []),
    );
    on<{ collection: CollectionName; message: string }>('denied', (e) => collection(e.collection).deny(e.message));
    on<{ reason: string; message: string }>('end', (e) => {
      if (e.reason === 'stopping') return; // the browser connects again
      this.close();
      this.is('ended');
      this.owner.ended(e.reason);
    });
  }

  close(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  private is(link: Link): void {
    this.link = link;
    this.owner.changed();
  }
}

export class Streams {
  private common = new Stream(this);
  private extra = new Stream(this);
  private needs = new Map<CollectionName, number>();
  private running = false;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private hide: ReturnType<typeof setTimeout> | undefined;
  private listeners = new Set<() => void>();
  // The session has ended (reason: expired, signedOut), or a stream was refused and the session has to be asked about.
  onEnd: (reason: string) => void = () => {};
  onRefused: () => void = () => {};

  start(): void {
    if (this.running) return;
    this.running = true;
    this.common.open(COMMON);
    this.extra.open(this.wanted());
    document.addEventListener('visibilitychange', this.visibility);
  }

  stop(): void {
    this.running = false;
    this.common.close();
    this.extra.close();
    document.removeEventListener('visibilitychange', this.visibility);
  }

  // Asks for a collection until the returned function is called.
  need(name: CollectionName): () => void {
    if (COMMON.includes(name)) return () => {};
    this.needs.set(name, (this.needs.get(name) ?? 0) + 1);
    this.adjust(0);
    return () => {
      this.needs.set(name, (this.needs.get(name) ?? 1) - 1);
      this.adjust(LINGER);
    };
  }

  link = (): Link => (this.common.link === 'live' && this.extra.names.length > 0 ? this.extra.link : this.common.link);
  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  changed(): void {
    for (const listener of [...this.listeners]) listener();
  }
  refused(): void {
    this.onRefused();
  }
  ended(reason: string): void {
    this.stop();
    this.onEnd(reason);
  }

  private wanted(): CollectionName[] {
    return [...this.needs]
      .filter(([, count]) => count > 0)
      .map(([name]) => name)
      .sort();
  }

  private adjust(delay: number): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => {
      const wanted = this.wanted();
      const had = this.extra.names;
      if (!this.running || (wanted.length === had.length && wanted.every((name, i) => name === had[i]))) return;
      // What the page does not follow any more would grow old in memory.
      for (const name of had) if (!wanted.includes(name)) collection(name).clear();
      this.extra.open(wanted);
      this.changed();
    }, delay);
  }

  private visibility = (): void => {
    clearTimeout(this.hide);
    if (document.hidden) {
      this.hide = setTimeout(() => {
        this.common.close();
        this.extra.close();
        this.common.names = [];
      }, HIDDEN_FOR);
    } else if (this.running && this.common.names.length === 0) {
      this.common.open(COMMON);
      this.extra.open(this.wanted());
    }
  };
}

export const streams = new Streams();
