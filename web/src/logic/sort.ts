// The order of the rows of a table.
const order = new Intl.Collator(undefined, { numeric: true });

export function sortRows<R>(rows: R[], by: ((row: R) => string | number | undefined) | undefined, down: boolean): R[] {
  if (!by) return rows;
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  const sign = down ? -1 : 1;
  // Rows without a value come last in both directions.
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * order.compare(String(a), String(b));
  });
  return keyed.map(({ row }) => row);
}
