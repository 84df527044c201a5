// Predictions of the workloads that are on the screen: each is asked for once and again after half a minute while it is
// shown, and only a few at a time.
import { useEffect, useState } from 'react';
import type { Prediction } from '../logic/starts';
import { get, url, type ApiError } from './api';

export const ASK_AGAIN = 30_000; // ms
const AT_ONCE = 4;
const MOST_KEPT = 500;

export interface Told {
  data?: Prediction;
  error?: ApiError;
}
interface Known extends Told {
  at: number;
}

const known = new Map<string, Known>();
const waiting: (() => void)[] = [];
let asking = 0;

function next(): void {
  while (asking < AT_ONCE && waiting.length > 0) waiting.shift()!();
}

function ask(path: string, signal: AbortSignal, told: (answer: Known) => void): void {
  waiting.push(() => {
    if (signal.aborted) return;
    asking++;
    get<Prediction>(path, signal)
      .then(
        (data): Known => ({ data, at: Date.now() }),
        (error: ApiError): Known => ({ error, at: Date.now() }),
      )
      .then((answer) => {
        asking--;
        if (!signal.aborted) {
          known.delete(path);
          known.set(path, answer);
          if (known.size > MOST_KEPT) known.delete(known.keys().next().value!);
          told(answer);
        }
        next();
      });
  });
  next();
}

// `stamp`: what changes when the answer may have changed much, such as its state.
export function usePrediction(ns: string, name: string, stamp: unknown = ''): Told {
  const path = url('/api/prediction', { namespace: ns, name });
  const [told, setTold] = useState<{ path: string; answer?: Told }>({ path });
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = (answer: Known) => {
      setTold({ path, answer });
      timer = setTimeout(() => ask(path, stop.signal, take), Math.max(1000, answer.at + ASK_AGAIN - Date.now()));
    };
    const before = known.get(path);
    if (before && Date.now() - before.at < ASK_AGAIN) take(before);
    else ask(path, stop.signal, take);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, stamp]);
  return told.path === path ? (told.answer ?? {}) : {};
}
