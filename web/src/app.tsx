// The frame of the page: navigation, the namespace filter, settings, the state of the connection.
import { useEffect, useState, type ReactNode } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover, Separator } from 'react-aria-components';
import { useCollection, useLink } from './data/hooks';
import { signIn, signOut, useInfo, useSession } from './data/session';
import { setLanguage, setTheme, useChoice, useText, type Key, type Theme } from './text';
import {
  CheckPage,
  ClusterQueuePage,
  CohortPage,
  FlavorPage,
  LocalQueuePage,
  RequestPage,
  VolcanoQueuePage,
} from './pages/details';
import { History } from './pages/history';
import { Checks, Cohorts, Flavors, LocalQueues } from './pages/lists';
import { MyWork } from './pages/mine';
import { Overview } from './pages/overview';
import { Queues } from './pages/queues';
import { Topology } from './pages/topology';
import { TryJob } from './pages/try';
import { Workload } from './pages/workload';
import { Workloads } from './pages/workloads';
import { Choice, Empty, Page } from './ui/parts';
import { SearchEverything } from './ui/search';
import { Link, match, Params, usePath, useQuery } from './ui/router';

const ROUTES: [string, () => ReactNode][] = [
  ['/', Home],
  ['/overview', Overview],
  ['/mine', MyWork],
  ['/queues', Queues],
  ['/clusterqueues', Queues],
  ['/clusterqueues/:name', ClusterQueuePage],
  ['/vcqueues/:name', VolcanoQueuePage],
  ['/cohorts', Cohorts],
  ['/cohorts/:name', CohortPage],
  ['/localqueues', LocalQueues],
  ['/localqueues/:ns/:name', LocalQueuePage],
  ['/flavors', Flavors],
  ['/flavors/:name', FlavorPage],
  ['/checks', Checks],
  ['/checks/:name', CheckPage],
  ['/provisioningrequests/:ns/:name', RequestPage],
  ['/workloads', Workloads],
  ['/workloads/:ns/:name', Workload],
  ['/topology', Topology],
  ['/history', History],
  ['/try', TryJob],
];

// A user who may not see cluster queues is at home in the own namespaces.
function Home() {
  return useCollection('clusterqueues').state === 'denied' ? <MyWork /> : <Overview />;
}

// An icon is a path of 20 by 20.
const NAV: [Key, string, string][] = [
  ['overview', '/', 'M3 10.5 10 4l7 6.5M5 9v7h4v-4h2v4h4V9'],
  ['myWork', '/mine', 'M10 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6M4 17c0-3.300 2.700-5 6-5s6 1.700 6 5'],
  ['queues', '/queues', 'M4 4h5M4 4v12M4 10h5M4 16h5M12 4h4M12 10h4M12 16h4'],
  ['workloads', '/workloads', 'M3 5h14M3 10h14M3 15h9'],
  ['topology', '/topology', 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z'],
  ['history', '/history', 'M3 5h7M6 10h9M10 15h7'],
  ['tryJob', '/try', 'M6 3h8M8 3v5L4 15c-.6 1.200.2 2 1.500 2h9c1.300 0 2.100-.800 1.500-2L12 8V3'],
  ['localQueues', '/localqueues', 'M3 6h14v3H3zM3 12h9v3H3z'],
  ['cohorts', '/cohorts', 'M10 3v5M10 8 5 13M10 8l5 5M3.5 13h3v3h-3zM13.500 13h3v3h-3z'],
  ['flavors', '/flavors', 'M10 3l7 4-7 4-7-4zM3 11l7 4 7-4'],
  ['checks', '/checks', 'M4 10l4 4 8-9'],
];

const SHOWN_FIRST = 7;

export function App() {
  const session = useSession();
  const { t } = useText();
  if (session.is === 'out') return <Login why={session.why} message={session.message} />;
  if (session.is === 'gone')
    return (
      <main className="center" role="status">
        <Mark />
        <p>{t('gone')}</p>
      </main>
    );
  if (session.is === 'asking')
    return (
      <main className="center" aria-busy="true">
        <Mark />
      </main>
    );
  return <Frame />;
}

const Mark = () => (
  <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" className="mark">
    <rect width="32" height="32" rx="7" />
    <path d="M7 9h6v5H7zM7 17h6v5H7zM16 9h9v5h-9zM16 17h4v5h-4z" />
  </svg>
);

// Words of the page's language: "Workloads · Berth"; an object has its name and kind.
const TITLES: Record<string, Key> = {
  clusterqueues: 'clusterQueue',
  vcqueues: 'volcanoQueue',
  localqueues: 'localQueue',
  cohorts: 'cohort',
  flavors: 'flavor',
  checks: 'check',
  workloads: 'workload',
  provisioningrequests: 'provisioningRequests',
};
function useTitle(at: string): void {
  const { t, language } = useText();
  useEffect(() => {
    const parts = at.split('/').filter(Boolean).map(decodeURIComponent);
    const page =
      NAV.find(([, to]) => to === at)?.[0] ??
      (at === '/clusterqueues' ? 'queues' : at === '/overview' ? 'overview' : undefined);
    const kind = TITLES[parts[0] ?? ''];
    const words = page ? t(page) : parts.length > 1 && kind ? `${parts.at(-1)} · ${t(kind)}` : '404';
    document.title = `${words} · Berth`;
  }, [at, language]); // eslint-disable-line
}

function Frame() {
  const { t } = useText();
  const at = usePath();
  const [query, change] = useQuery();
  const [open, setOpen] = useState(false);
  const namespaces = useCollection('namespaces');
  useTitle(at);
  useEffect(() => setOpen(false), [at]);
  const ns = query.get('ns') ?? '';
  const found = ROUTES.map(([pattern, view]) => [match(pattern, at), view] as const).find(
    ([params]) => params !== null,
  );
  const View = found?.[1] ?? NotFound;
  const current = (to: string) =>
    to === '/'
      ? at === '/'
      : at === to || at.startsWith(`${to}/`) || (to === '/queues' && /^\/(clusterqueues|vcqueues)/.test(at));
  const keep = (to: string) =>
    ns && ['/', '/workloads', '/localqueues'].includes(to) ? `${to}?ns=${encodeURIComponent(ns)}` : to;
  // Pages of kinds that this user may not list.
  const states: [string, string][] = [
    ['/queues', useCollection('clusterqueues').state],
    ['/cohorts', useCollection('cohorts').state],
    ['/flavors', useCollection('flavors').state],
    ['/checks', useCollection('checks').state],
  ];
  const unseen = new Set(states.filter(([, state]) => state === 'denied').map(([to]) => to));
  if (unseen.has('/queues')) unseen.add('/mine'); // it is the home
  const pages = NAV.filter(([, to]) => !unseen.has(to)).map(([key, to]): [Key, string] => [key, to]);
  const filters = ['/', '/workloads', '/localqueues'].includes(at);
  return (
    <div className={open ? 'frame open' : 'frame'}>
      <a className="skip" href="#content">
        {t('skip')}
      </a>
      <aside className="side">
        <div className="brand">
          <Mark />
          <span>Berth</span>
        </div>
        <nav aria-label={t('pages')} id="nav">
          <ul>
            {NAV.map(([key, to, icon], i) =>
              unseen.has(to) ? null : (
                <li key={to} className={i === SHOWN_FIRST ? 'gap' : undefined}>
                  <Link to={keep(to)} current={current(to)}>
                    <svg viewBox="0 0 20 20" aria-hidden="true">
                      <path d={icon} />
                    </svg>
                    {t(key)}
                  </Link>
                </li>
              ),
            )}
          </ul>
        </nav>
      </aside>
      <div className="body">
        <header className="top">
          <button
            type="button"
            className="button icon menu"
            aria-expanded={open}
            aria-controls="nav"
            aria-label={t('menu')}
            onClick={() => setOpen(!open)}
          >
            ☰
          </button>
          {filters && (
            <Choice
              label={t('namespace')}
              hideLabel
              value={ns}
              onChange={(id) => change({ ns: id }, true)}
              options={[
                { id: '', label: t('allNamespaces') },
                ...namespaces.rows
                  .map((n) => n.name)
                  .sort()
                  .map((id) => ({ id, label: id })),
              ]}
            />
          )}
          <span className="grow" />
          <SearchEverything pages={pages} />
          <Connection />
          <Settings />
        </header>
        <Params.Provider value={found?.[0] ?? NONE}>
          <View key={View === Workload || at.split('/').length > 2 ? at : at.split('/')[1]} />
        </Params.Provider>
      </div>
    </div>
  );
}

const NONE = {};

function NotFound() {
  const { t } = useText();
  return (
    <Page title="404">
      <Empty>
        {t('notFound')} <Link to="/">{t('backHome')}</Link>
      </Empty>
    </Page>
  );
}

function Connection() {
  const { t } = useText();
  const link = useLink();
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (link === 'live') return;
    const timer = setTimeout(() => setLate(true), 1000);
    return () => clearTimeout(timer);
  }, [link]);
  const lost = link === 'lost' && late;
  return (
    <>
      <span className={`link ${link}`}>
        <i aria-hidden="true" />
        {link === 'live' ? t('live') : t('connecting')}
      </span>
      {lost && (
        <div className="banner" role="alert">
          {t('lost')}
        </div>
      )}
    </>
  );
}

function Settings() {
  const { t } = useText();
  const { language, theme } = useChoice();
  const info = useInfo();
  const themes: [Theme, Key][] = [
    ['system', 'themeSystem'],
    ['light', 'themeLight'],
    ['dark', 'themeDark'],
  ];
  return (
    <MenuTrigger>
      <Button className="button icon" aria-label={t('settings')}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="10" cy="7" r="3" />
          <path d="M4 17c0-3.300 2.700-5 6-5s6 1.700 6 5" />
        </svg>
      </Button>
      <Popover className="popover" placement="bottom end">
        {info && (
          <p className="who">
            {t('signedInAs', { user: info.user })}
            <br />
            <span className="quiet">{t('version', { version: info.version })}</span>
          </p>
        )}
        <Menu
          className="listbox"
          aria-label={t('settings')}
          onAction={(key) => {
            const [what, value] = String(key).split(':');
            if (what === 'theme') setTheme(value as Theme);
            else if (what === 'language') setLanguage(value as 'en' | 'zh-CN');
            else void signOut();
          }}
        >
          {themes.map(([id, key]) => (
            <MenuItem key={id} id={`theme:${id}`} className="option" textValue={t(key)}>
              <span className="tick">{theme === id ? '✓' : ''}</span>
              {t(key)}
            </MenuItem>
          ))}
          <Separator />
          <MenuItem id="language:en" className="option" textValue="English">
            <span className="tick">{language === 'en' ? '✓' : ''}</span>English
          </MenuItem>
          <MenuItem id="language:zh-CN" className="option" textValue="简体中文">
            <span className="tick">{language === 'zh-CN' ? '✓' : ''}</span>简体中文
          </MenuItem>
          <Separator />
          <MenuItem id="out" className="option" textValue={t('signOut')}>
            <span className="tick" />
            {t('signOut')}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Login({ why, message }: { why: string; message?: string }) {
  const { t, language } = useText();
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${t('signIn')} · Berth`;
  }, [language]); // eslint-disable-line
  return (
    <main className="login">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          setBusy(true);
          void signIn(token).finally(() => setBusy(false));
        }}
      >
        <div className="brand">
          <Mark />
          <span>Berth</span>
        </div>
        <h1>{t('signIn')}</h1>
        <p className="quiet">{t('consoleOf')}</p>
        {why === 'expired' && (
          <p className="notice" role="alert">
            {t('sessionExpired')}
          </p>
        )}
        {why === 'signedOut' && (
          <p className="notice" role="status">
            {t('sessionEnded')}
          </p>
        )}
        {why === 'refused' && (
          <p className="notice bad" role="alert">
            {t('refused', { message: message ?? '' })}
          </p>
        )}
        <label>
          {t('token')}
          <textarea
            className="field"
            rows={4}
            value={token}
            autoComplete="off"
            spellCheck={false}
            onChange={(e) => setToken(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && !e.shiftKey) {
                e.preventDefault();
                e.currentTarget.form?.requestSubmit();
              }
            }}
            required
          />
        </label>
        <p className="quiet small">{t('tokenHelp')}</p>
        <button type="submit" className="button primary" disabled={busy || token.trim() === ''}>
          {busy ? t('checking') : t('signIn')}
        </button>
        <div className="languages">
          <button type="button" onClick={() => setLanguage('en')} aria-pressed={language === 'en'}>
            English
          </button>
          <button type="button" lang="zh-CN" onClick={() => setLanguage('zh-CN')} aria-pressed={language === 'zh-CN'}>
            简体中文
          </button>
        </div>
      </form>
    </main>
  );
}
