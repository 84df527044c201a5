// A colour belongs to a name, whatever its rank: what was green before is green now.
const COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--c8'];

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

// Names that would share a colour get the next free one, in the order of the names, as long as there are free ones.
export function coloursOf(names: Iterable<string>): Map<string, string> {
  const out = new Map<string, string>();
  const taken = new Set<number>();
  for (const name of [...new Set(names)].sort()) {
    let at = hash(name) % COLOURS.length;
    while (taken.size < COLOURS.length && taken.has(at)) at = (at + 1) % COLOURS.length;
    taken.add(at);
    out.set(name, COLOURS[at]!);
  }
  return out;
}
