// Small pieces of pages.
import { useState, type ReactNode } from 'react';
import {
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField,
  Input,
  Select,
  SelectValue,
  ToggleButton,
  ToggleButtonGroup,
} from 'react-aria-components';
import { useNow } from '../data/hooks';
import type { ClusterQueue, LocalQueue, Workload } from '../data/rows';
import { dateTime, duration } from '../logic/format';
import { useText, type Key } from '../text';
import { Link, path } from './router';

export function Empty({ children }: { children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

export function Denied({ message, right }: { message: string; right?: string }) {
  const { t } = useText();
  return (
    <div className="denied" role="note">
      <strong>{t('deniedTitle')}</strong>
      <p>{message}</p>
      {right && <p className="quiet">{t('deniedHelp', { right })}</p>}
    </div>
  );
}

export function Page({
  title,
  crumbs,
  actions,
  children,
  fill,
  quiet,
}: {
  title: ReactNode;
  crumbs?: [string, string][];
  actions?: ReactNode;
  children: ReactNode;
  fill?: boolean;
  quiet?: ReactNode;
}) {
  const { t } = useText();
  return (
    <main id="content" className={fill ? 'page fill' : 'page'} tabIndex={-1}>
      <header className="page-head">
        <div>
          {crumbs && (
            <nav aria-label={t('breadcrumb')} className="crumbs">
              {crumbs.map(([label, to]) => (
                <span key={to}>
                  <Link to={to}>{label}</Link>
                </span>
              ))}
            </nav>
          )}
          <h1>{title}</h1>
          {quiet && <p className="quiet under">{quiet}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export function Card({
  title,
  help,
  children,
  aside,
  className = '',
}: {
  title: ReactNode;
  help?: string;
  children: ReactNode;
  aside?: ReactNode;
  className?: string;
}) {
  return (
    <section className={`card ${className}`}>
      <header>
        <h2>{title}</h2>
        {help && <p className="quiet">{help}</p>}
        {aside && <div className="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export type Tone = 'good' | 'wait' | 'info' | 'bad' | 'off';
export function Badge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`badge ${tone}`} title={title}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}

const TONES: Record<string, Tone> = {
  pending: 'wait',
  quotaReserved: 'info',
  admitted: 'good',
  evicted: 'bad',
  inactive: 'off',
  finished: 'off',
};
export function StateBadge({ workload: w }: { workload: Workload }) {
  const { t } = useText();
  if (w.state === 'finished' && w.result)
    return <Badge tone={w.result === 'failed' ? 'bad' : 'off'}>{t(w.result)}</Badge>;
  return <Badge tone={TONES[w.state] ?? 'off'}>{t(w.state)}</Badge>;
}

export function QueueBadge({
  queue: q,
}: {
  queue: Pick<ClusterQueue | LocalQueue, 'stop' | 'active' | 'reason' | 'message'>;
}) {
  const { t } = useText();
  if (q.stop === 'HoldAndDrain') return <Badge tone="wait">{t('stopDrain')}</Badge>;
  if (q.stop === 'Hold') return <Badge tone="wait">{t('stopHold')}</Badge>;
  if (!q.active)
    return (
      <Badge tone="bad" title={q.message ?? q.reason}>
        {t('queueInactive')}
      </Badge>
    );
  return <Badge tone="good">{t('active')}</Badge>;
}

export function Age({ at }: { at: number | undefined }) {
  const { language } = useText();
  const now = useNow(at !== undefined && Date.now() - at < 120_000 ? 1000 : 15_000);
  if (at === undefined) return null;
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at, language)}>
      {duration(now - at)}
    </time>
  );
}

export function When({ at }: { at: number | undefined }) {
  const { language } = useText();
  if (at === undefined) return null;
  return <time dateTime={new Date(at).toISOString()}>{dateTime(at, language)}</time>;
}

export interface Option {
  id: string;
  label: string;
}

// A choice from a list. The id "" is the first option: nothing chosen.
export function Choice({
  label,
  value,
  options,
  onChange,
  hideLabel,
}: {
  label: string;
  value: string;
  options: Option[];
  onChange: (id: string) => void;
  hideLabel?: boolean;
}) {
  return (
    <Select
      className="choice"
      selectedKey={value === '' ? '\0' : value}
      onSelectionChange={(key) => onChange(key === '\0' ? '' : String(key))}
      aria-label={hideLabel ? label : undefined}
    >
      {!hideLabel && <Label>{label}</Label>}
      <Button className="field">
        <SelectValue className="value">{() => options.find((o) => o.id === value)?.label ?? value}</SelectValue>
        <span aria-hidden="true" className="chevron">
          ▾
        </span>
      </Button>
      <Popover className="popover">
        <ListBox className="listbox" items={options.map((o) => ({ ...o, id: o.id === '' ? '\0' : o.id }))}>
          {(o) => (
            <ListBoxItem className="option" textValue={o.label}>
              {o.label}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: { id: T; label: string }[];
  onChange: (id: T) => void;
}) {
  return (
    <ToggleButtonGroup
      className="segments"
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => keys !== ('all' as never) && onChange([...keys][0] as T)}
    >
      {options.map((o) => (
        <ToggleButton key={o.id} id={o.id} className="segment">
          {o.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}

export function Search({
  value,
  onChange,
  label,
}: {
  value: string;
  onChange: (text: string) => void;
  label?: string;
}) {
  const { t } = useText();
  return (
    <SearchField className="search" value={value} onChange={onChange} aria-label={label ?? t('search')}>
      <Input className="field" placeholder={label ?? t('search')} />
      <Button className="clear" aria-label={t('clearFilters')}>
        ×
      </Button>
    </SearchField>
  );
}

export function Copy({ text }: { text: string }) {
  const { t } = useText();
  const [done, setDone] = useState(false);
  return (
    <Button
      className="button small"
      onPress={() =>
        navigator.clipboard?.writeText(text).then(
          () => {
            setDone(true);
            setTimeout(() => setDone(false), 1500);
          },
          () => {},
        )
      }
    >
      {done ? t('copied') : t('copy')}
    </Button>
  );
}

export const workloadPath = (key: string): string => path('workloads', ...splitKey(key));
export const splitKey = (key: string): [string, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
};
// A workload by its key; one of another namespace that may not be named has none.
export function WorkloadLink({ name }: { name: string }) {
  return name.includes('/') ? <Link to={workloadPath(name)}>{name}</Link> : <span className="quiet">{name}</span>;
}
export const CqLink = ({ name }: { name: string | undefined }) =>
  name ? <Link to={path('clusterqueues', name)}>{name}</Link> : null;
export const LqLink = ({ ns, name }: { ns: string; name: string }) =>
  name ? <Link to={path('localqueues', ns, name)}>{name}</Link> : null;
export const FlavorLink = ({ name }: { name: string }) => <Link to={path('flavors', name)}>{name}</Link>;
export type { Key };
