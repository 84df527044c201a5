// Addresses of pages: the history API, links, and filters that stay in the address.
import { createContext, useCallback, useContext, useMemo, useSyncExternalStore, type ReactNode } from 'react';

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of [...listeners]) listener();
};
addEventListener('popstate', tell);

export function navigate(to: string, replace = false): void {
  if (to === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  tell();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

// The parameters of the address and a function that changes some of them; "" removes one. With `push` the back button
// returns to the present ones.
export function useQuery(): [URLSearchParams, (patch: Record<string, string>, push?: boolean) => void] {
  const text = useSyncExternalStore(subscribe, () => location.search);
  const query = useMemo(() => new URLSearchParams(text), [text]);
  const change = useCallback((patch: Record<string, string>, push = false) => {
    const next = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(patch)) {
      if (value === '') next.delete(key);
      else next.set(key, value);
    }
    const search = next.toString();
    navigate(location.pathname + (search ? `?${search}` : ''), !push);
  }, []);
  return [query, change];
}

export function path(...parts: string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

interface LinkProps {
  to: string;
  children: ReactNode;
  className?: string;
  tabIndex?: number;
  title?: string;
  current?: boolean;
  label?: string;
}

export function Link({ to, children, current, label, ...rest }: LinkProps) {
  return (
    <a
      href={to}
      aria-current={current ? 'page' : undefined}
      aria-label={label}
      onClick={(e) => {
        if (e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || e.button !== 0) return;
        e.preventDefault();
        navigate(to);
      }}
      {...rest}
    >
      {children}
    </a>
  );
}

// The variable parts of the present address, e.g. {ns, name} for "/workloads/:ns/:name".
export const Params = createContext<Record<string, string>>({});
export const useParams = (): Record<string, string> => useContext(Params);

// The values of the pattern's names in the path; null: it does not match.
export function match(pattern: string, at: string): Record<string, string> | null {
  const want = pattern.split('/');
  const have = at.replace(/\/+$/, '').split('/');
  if (at === '/' || at === '') have.splice(0, have.length, '', '');
  if (want.length !== have.length) return null;
  const found: Record<string, string> = {};
  for (let i = 0; i < want.length; i++) {
    const name = want[i]!;
    if (name.startsWith(':')) {
      try {
        found[name.slice(1)] = decodeURIComponent(have[i]!);
      } catch {
        return null;
      }
    } else if (name !== have[i]) return null;
  }
  return found;
}
