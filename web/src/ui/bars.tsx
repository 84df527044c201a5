// Bars of quota: used, reserved, borrowed beyond the nominal quota, and lent to others.
import { amount, resourceName } from '../logic/format';
import type { Use } from '../logic/tree';
import { useText } from '../text';

const width = (part: number, whole: number) => ({ width: `${Math.max(0, Math.min(100, (part / whole) * 100))}%` });

export function QuotaBar({ resource, use, label }: { resource: string; use: Use; label?: string }) {
  const { t } = useText();
  const finite = Number.isFinite(use.nominal);
  const scale = Math.max(finite ? use.nominal : use.reserved * 1.25, use.reserved, use.used, 1);
  const own = finite ? Math.min(use.used, use.nominal) : use.used;
  const waiting = Math.max(0, (finite ? Math.min(use.reserved, use.nominal) : use.reserved) - own);
  const over = finite ? Math.max(0, Math.max(use.reserved, use.used) - use.nominal) : 0;
  const show = (n: number) => amount(resource, n);
  const words = [
    t('usedOf', { used: show(use.used), nominal: finite ? show(use.nominal) : '∞' }),
    use.reserved > use.used && t('reservedNow', { amount: show(use.reserved - use.used) }),
    use.borrowed > 0 && t('borrowedOf', { amount: show(use.borrowed) }),
    use.lent > 0 && t('lentAbout', { amount: show(use.lent) }),
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <div className="quota" title={`${label ?? resource}: ${words}`}>
      <div className="quota-bar" role="img" aria-label={`${label ?? resourceName(resource)}: ${words}`}>
        <span className="own" style={width(own, scale)} />
        <span className="waiting" style={width(waiting, scale)} />
        <span className="over" style={width(over, scale)} />
        {use.lent > 0 && <span className="lent" style={width(Math.min(use.lent, scale - own - waiting), scale)} />}
        {over > 0 && <i style={{ left: `${(use.nominal / scale) * 100}%` }} />}
      </div>
      <div className="quota-text" aria-hidden="true">
        <b>{show(use.used)}</b> / {finite ? show(use.nominal) : '∞'}
        {use.borrowed > 0 && <em className="borrowed">{t('borrowedOf', { amount: show(use.borrowed) })}</em>}
        {use.lent > 0 && <em className="lent">{t('lentAbout', { amount: show(use.lent) })}</em>}
      </div>
    </div>
  );
}

export function QuotaLegend() {
  const { t } = useText();
  return (
    <p className="legend" aria-hidden="true">
      <span>
        <i className="own" />
        {t('legendUsed')}
      </span>
      <span>
        <i className="waiting" />
        {t('legendReserved')}
      </span>
      <span>
        <i className="over" />
        {t('legendBorrowed')}
      </span>
      <span>
        <i className="lent" />
        {t('legendLent')}
      </span>
    </p>
  );
}

export function Meter({ value, label, tone = '' }: { value: number; label: string; tone?: string }) {
  return (
    <div className={`meter ${tone}`} role="img" aria-label={label}>
      <span style={{ width: `${Math.max(0, Math.min(100, value))}%` }} />
    </div>
  );
}
