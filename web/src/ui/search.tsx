// Search over everything (/ or Ctrl-K): a dialog with a text and the best hits. Arrow keys choose, Enter opens.
import { useEffect, useId, useMemo, useState, type KeyboardEvent } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { useCollection } from '../data/hooks';
import { search, type Hit } from '../logic/search';
import { useText, type Key } from '../text';
import { workloadPath } from './parts';
import { navigate, path } from './router';

const typing = (e: Event): boolean =>
  (e.target as HTMLElement).matches?.('input, textarea, select, [contenteditable]') ?? false;

export function SearchEverything({ pages }: { pages: [Key, string][] }) {
  const { t } = useText();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const keys = (e: globalThis.KeyboardEvent) => {
      const slash = e.key === '/' && !e.ctrlKey && !e.metaKey && !e.altKey && !typing(e);
      if (!slash && !(e.key.toLowerCase() === 'k' && (e.ctrlKey || e.metaKey))) return;
      e.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
  return (
    <>
      <button type="button" className="button small find" onClick={() => setOpen(true)} aria-keyshortcuts="/ Control+K">
        {t('search')} <kbd aria-hidden="true">/</kbd>
      </button>
      <ModalOverlay className="overlay top" isOpen={open} onOpenChange={setOpen} isDismissable>
        <Modal className="modal">
          <Dialog className="dialog search-all" aria-label={t('searchAll')}>
            {open && <Hits pages={pages} onDone={() => setOpen(false)} />}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}

// Mounted while the dialog is open only: it needs the rows of most collections.
function Hits({ pages, onDone }: { pages: [Key, string][]; onDone: () => void }) {
  const { t } = useText();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [workloads, queues, locals, cohorts, flavors, checks] = [
    useCollection('workloads'),
    useCollection('clusterqueues'),
    useCollection('localqueues'),
    useCollection('cohorts'),
    useCollection('flavors'),
    useCollection('checks'),
  ];
  const hits = useMemo(() => {
    const all: Hit[] = [
      ...pages.map(([key, to]): Hit => ({ what: 'page', name: t(key), to })),
      ...queues.rows.map((q): Hit => ({ what: 'clusterQueue', name: q.name, to: path('clusterqueues', q.name) })),
      ...locals.rows.map((q): Hit => ({ what: 'localQueue', name: q.key, to: path('localqueues', q.ns, q.name) })),
      ...cohorts.rows.map((c): Hit => ({ what: 'cohort', name: c.name, to: path('cohorts', c.name) })),
      ...flavors.rows.map((f): Hit => ({ what: 'flavor', name: f.name, to: path('flavors', f.name) })),
      ...checks.rows.map((c): Hit => ({ what: 'check', name: c.name, to: path('checks', c.name) })),
      ...workloads.rows.map((w): Hit => ({ what: 'workload', name: w.key, to: workloadPath(w.key) })),
    ];
    return search(all, text);
  }, [text, workloads, queues, locals, cohorts, flavors, checks]); // eslint-disable-line
  const chosen = Math.min(at, hits.length - 1);
  const go = (hit: Hit) => {
    onDone();
    navigate(hit.to);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      setAt(Math.max(0, Math.min(hits.length - 1, chosen + (e.key === 'ArrowDown' ? 1 : -1))));
      e.preventDefault();
    } else if (e.key === 'Enter' && hits[chosen]) go(hits[chosen]);
  };
  return (
    <>
      <input
        className="field"
        autoFocus
        role="combobox"
        aria-label={t('searchAll')}
        aria-expanded={hits.length > 0}
        aria-controls={`${id}-hits`}
        aria-autocomplete="list"
        aria-activedescendant={hits[chosen] ? `${id}-${chosen}` : undefined}
        placeholder={t('searchAll')}
        value={text}
        onChange={(e) => {
          setText(e.target.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <ul className="hits" id={`${id}-hits`} role="listbox" aria-label={t('searchAll')}>
        {hits.map((hit, i) => (
          <li
            key={`${hit.what} ${hit.to}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            onMouseMove={() => setAt(i)}
            onClick={() => go(hit)}
            ref={(li) => {
              if (i === chosen) li?.scrollIntoView?.({ block: 'nearest' });
            }}
          >
            <span>{hit.name}</span> <span className="quiet">{hit.what === 'page' ? t('page') : t(hit.what)}</span>
          </li>
        ))}
      </ul>
      {text.trim() !== '' && hits.length === 0 && (
        <p className="quiet" role="status">
          {t('noHits')}
        </p>
      )}
    </>
  );
}
