import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { get, type ApiError } from './api';
import type { CollectionName, Collections, Workload } from './rows';
import { collection, type CollectionView } from './store';
import { streams, type Link } from './stream';

// The rows of a collection, now and after each burst of changes.
export function useCollection<N extends CollectionName>(name: N): CollectionView<Collections[N]> {
  const source = collection(name);
  useEffect(() => streams.need(name), [name]);
  return useSyncExternalStore(source.subscribe, source.look);
}

// All workloads. One without quota names no cluster queue; then it is the one of its local queue.
export function useWorkloads(): CollectionView<Workload> {
  const all = useCollection('workloads');
  const locals = useCollection('localqueues');
  return useMemo(() => {
    const fill = (w: Workload): Workload => {
      const cq = w.cq ?? locals.get(`${w.ns}/${w.queue}`)?.cq;
      return cq === w.cq ? w : { ...w, cq };
    };
    const get = (key: string) => {
      const found = all.get(key);
      return found && fill(found);
    };
    return { ...all, rows: all.rows.map(fill), get };
  }, [all, locals]);
}

export function useLink(): Link {
  return useSyncExternalStore(streams.subscribe, streams.link);
}

// The present time, read again every `every` ms.
export function useNow(every = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export interface Fetched<T> {
  data?: T;
  error?: ApiError;
  again: () => void;
}

// The answer to a GET; asked again when `stamp` changes. The last answer stays until the next one is here.
export function useFetched<T>(url: string | null, stamp: unknown = 0): Fetched<T> {
  const [state, setState] = useState<{ url: string | null; data?: T; error?: ApiError }>({ url });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (url === null) return;
    const stop = new AbortController();
    get<T>(url, stop.signal).then(
      (data) => setState({ url, data }),
      (error: ApiError) => {
        if (!stop.signal.aborted) setState((old) => ({ url, error, data: old.url === url ? old.data : undefined }));
      },
    );
    return () => stop.abort();
  }, [url, stamp, turn]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return state.url === url ? { data: state.data, error: state.error, again } : { again };
}

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

export const useNarrow = (): boolean => useMedia('(max-width: 800px)');
export const useRoomy = (): boolean => useMedia('(min-width: 1560px)');
