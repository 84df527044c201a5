// Who is signed in. The token of a link (#token=...) is posted once and removed from the address.
import { useSyncExternalStore } from 'react';
import { ApiError, get, post, whenUnauthorized } from './api';
import { clearAll } from './store';
import { streams } from './stream';

export interface SessionInfo {
  user: string;
  groups: string[];
  allowChanges: boolean;
  version: string;
  explain: boolean;
  history: boolean;
  now: number;
}

export type Session =
  | { is: 'asking' }
  | { is: 'in'; info: SessionInfo }
  | { is: 'out'; why: 'none' | 'expired' | 'signedOut' | 'refused'; message?: string }
  | { is: 'gone'; message: string };

let session: Session = { is: 'asking' };
const listeners = new Set<() => void>();

function become(next: Session): void {
  session = next;
  if (next.is === 'in') streams.start();
  else streams.stop();
  if (next.is === 'out') clearAll();
  for (const listener of [...listeners]) listener();
}

async function ask(whenOut: 'none' | 'expired'): Promise<void> {
  try {
    become({ is: 'in', info: await get<SessionInfo>('/api/session') });
  } catch (error) {
    const e = error as ApiError;
    if (e.status === 401) become({ is: 'out', why: session.is === 'out' ? session.why : whenOut });
    else if (session.is !== 'in') {
      become({ is: 'gone', message: e.message });
      setTimeout(() => void (session.is === 'gone' && ask('none')), 2000);
    }
  }
}

export async function signIn(token: string): Promise<void> {
  try {
    await post('/api/login', { token: token.trim() }, true);
  } catch (error) {
    const e = error as ApiError;
    if (session.is !== 'in') become({ is: 'out', why: 'refused', message: e.message });
    return;
  }
  await ask('none');
}

export async function signOut(): Promise<void> {
  await post('/api/logout', {}).catch(() => {});
  become({ is: 'out', why: 'signedOut' });
}

// Also when the link is opened in a page that is already there: only the fragment changes then.
addEventListener('hashchange', () => new URLSearchParams(location.hash.slice(1)).has('token') && void begin());

export async function begin(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    history.replaceState(null, '', location.pathname + location.search);
    await signIn(token);
    return;
  }
  await ask('none');
}

whenUnauthorized(() => session.is === 'in' && become({ is: 'out', why: 'expired' }));
streams.onEnd = (reason) => become({ is: 'out', why: reason === 'signedOut' ? 'signedOut' : 'expired' });
streams.onRefused = () => void ask('expired');

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

export function useInfo(): SessionInfo | undefined {
  const now = useSession();
  return now.is === 'in' ? now.info : undefined;
}
