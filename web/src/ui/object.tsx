// Events and YAML of an object, as tabs below its page.
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import type { ReactNode } from 'react';
import { url } from '../data/api';
import { useFetched } from '../data/hooks';
import { useText } from '../text';
import { Age, Copy, Denied, Empty } from './parts';

interface Event {
  time: number;
  count: number;
  type: string;
  reason: string;
  message: string;
  from: string;
}

export interface ObjectAnswer {
  object: Record<string, unknown>;
  yaml: string;
}

export interface ObjectRef {
  resource: string;
  kind: string;
  ns?: string;
  name: string;
}

export function useObject(ref: ObjectRef, stamp: unknown) {
  return useFetched<ObjectAnswer>(
    url('/api/object', { resource: ref.resource, namespace: ref.ns, name: ref.name }),
    stamp,
  );
}

const EVENTS_KEPT = 3_600_000; // ms, by API servers as they are configured mostly

export function Events({ of, stamp, created }: { of: ObjectRef; stamp: unknown; created?: number }) {
  const { t, said } = useText();
  const { data, error } = useFetched<{ events: Event[] }>(
    url('/api/events', { namespace: of.ns, kind: of.kind, name: of.name }),
    stamp,
  );
  if (error) return <Denied message={error.message} />;
  if (!data) return <Empty>{t('loading')}</Empty>;
  if (data.events.length === 0)
    return <Empty>{t(created !== undefined && Date.now() - created < EVENTS_KEPT ? 'noEventsYet' : 'noEvents')}</Empty>;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('events')}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t('age')}</th>
            <th>{t('reason')}</th>
            <th>{t('message')}</th>
            <th>{t('from')}</th>
            <th className="end">{t('count')}</th>
          </tr>
        </thead>
        <tbody>
          {data.events.map((e, i) => (
            <tr key={i} className={e.type === 'Warning' ? 'warning' : undefined}>
              <td>
                <Age at={e.time} />
              </td>
              <td title={e.reason}>{said(e.reason)}</td>
              <td>{e.message}</td>
              <td className="quiet">{e.from}</td>
              <td className="end">{e.count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Keys, strings and numbers in colours of their own; a line at a time, so it never takes long.
export function Yaml({ text }: { text: string }) {
  const { t } = useText();
  return (
    <div className="yaml">
      <Copy text={text} />
      <pre tabIndex={0} aria-label={t('yaml')}>
        {text.split('\n').map((line, i) => {
          const found = /^(\s*(?:- )*)([\w./~"'-]+:)(\s.*|)$/.exec(line);
          return (
            <span key={i} className="line">
              {found ? (
                <>
                  {found[1]}
                  <b>{found[2]}</b>
                  <span>{found[3]}</span>
                </>
              ) : (
                line
              )}
              {'\n'}
            </span>
          );
        })}
      </pre>
    </div>
  );
}

export function ObjectYaml({ of, stamp }: { of: ObjectRef; stamp: unknown }) {
  const { t } = useText();
  const { data, error } = useObject(of, stamp);
  if (error) return <Denied message={error.message} />;
  return data ? <Yaml text={data.yaml} /> : <Empty>{t('loading')}</Empty>;
}

export function ObjectTabs({
  of,
  stamp,
  first = [],
}: {
  of: ObjectRef;
  stamp: unknown;
  first?: [string, string, ReactNode][];
}) {
  const { t } = useText();
  return (
    <Tabs className="tabs">
      <TabList aria-label={of.name}>
        {first.map(([id, label]) => (
          <Tab key={id} id={id}>
            {label}
          </Tab>
        ))}
        <Tab id="events">{t('events')}</Tab>
        <Tab id="yaml">{t('yaml')}</Tab>
      </TabList>
      {first.map(([id, , content]) => (
        <TabPanel key={id} id={id}>
          {content}
        </TabPanel>
      ))}
      <TabPanel id="events">
        <Events of={of} stamp={stamp} created={(stamp as { created?: number } | undefined)?.created} />
      </TabPanel>
      <TabPanel id="yaml">
        <ObjectYaml of={of} stamp={stamp} />
      </TabPanel>
    </Tabs>
  );
}
