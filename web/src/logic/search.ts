// Search over everything that has a name.
export interface Hit {
  what: 'page' | 'workload' | 'clusterQueue' | 'localQueue' | 'cohort' | 'flavor' | 'check' | 'node';
  name: string;
  to: string;
}

// The best first: the whole name, then its beginning, then a word of it, then anywhere; equal ones by name. Every word of
// the text must occur.
export function search(hits: Iterable<Hit>, text: string, most = 30): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: [number, Hit][] = [];
  for (const hit of hits) {
    const name = hit.name.toLowerCase();
    if (!words.every((w) => name.includes(w))) continue;
    const first = words[0]!;
    const last = name.slice(name.lastIndexOf('/') + 1);
    const rank =
      name === first || last === first
        ? 0
        : name.startsWith(first) || last.startsWith(first)
          ? 1
          : new RegExp(`[-./ ]${first.replace(/[^a-z0-9]/g, '\\$&')}`).test(name)
            ? 2
            : 3;
    found.push([hit.what === 'page' ? rank - 1 : rank, hit]);
  }
  return found
    .sort((a, b) => a[0] - b[0] || a[1].name.length - b[1].name.length || a[1].name.localeCompare(b[1].name))
    .slice(0, most)
    .map(([, hit]) => hit);
}
