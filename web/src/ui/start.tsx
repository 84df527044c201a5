// When a waiting workload is expected to start: a cell of a list, and a fact on its page.
import { usePrediction } from '../data/predictions';
import { expected, type Prediction } from '../logic/starts';
import { useText } from '../text';

function useWords(): (p: Prediction) => string {
  const { t, language } = useText();
  return (p) => {
    const e = expected(p, Date.now(), language);
    switch (e.kind) {
      case 'never':
        return t('never');
      case 'after':
        return t('startAfter', { time: e.time });
      case 'at':
        return e.time;
      case 'between':
        return `${e.p50} – ${e.p90}`;
      case 'half':
        return t('startHalf', { time: e.p50 });
      default:
        return '–';
    }
  };
}

export function StartCell({ ns, name }: { ns: string; name: string }) {
  const { data } = usePrediction(ns, name);
  const words = useWords();
  return data ? (
    <span className="start" title={data.summary}>
      {words(data)}
    </span>
  ) : null;
}

// With what it depends on.
export function ExpectedStart({ ns, name, stamp }: { ns: string; name: string; stamp: unknown }) {
  const { t } = useText();
  const { data, error } = usePrediction(ns, name, stamp);
  const words = useWords();
  if (error) return <span className="quiet">{error.status === 403 ? t('startDenied') : error.message}</span>;
  if (!data) return <span className="quiet">{t('loading')}</span>;
  return (
    <span className="expected-start">
      {words(data)} {data.start?.p90 && <span className="quiet">{t('startHelp')}</span>}
      <span className="quiet small block">{data.summary}</span>
      {data.restsOn?.map((r) => (
        <span key={r.basis} className="quiet small block">
          {t('startRests', { n: r.workloads, basis: r.basis })}
        </span>
      ))}
    </span>
  );
}
