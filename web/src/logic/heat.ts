// The heat map of nodes: where each node is drawn, and the drawing itself into an array of pixels. No canvas calls per
// node: a hundred thousand of them would take too long.
import type { Node, Placement } from '../data/rows';

export interface Rack {
  path: string[]; // the domains from the outermost level to the one above the nodes
  nodes: Node[];
  x: number;
  y: number;
  columns: number;
  width: number;
  height: number; // of the cells, without the label
}

export interface Block {
  name: string;
  racks: Rack[];
  y: number;
  height: number;
}

export interface Layout {
  blocks: Block[];
  racks: Rack[]; // from top to bottom
  width: number;
  height: number;
  cell: number; // edge of a node in px, with its gap
  total: number;
}

const LABEL = 15; // px above the cells of a rack
const HEAD = 26; // px above the racks of a block
const GAP = 10; // px between racks

// The groups of nodes: by the outermost level, and by all levels but the last (the node itself).
export function group(nodes: Node[], levels: string[]): { name: string; racks: { path: string[]; nodes: Node[] }[] }[] {
  const outer = levels.filter((l) => l !== 'kubernetes.io/hostname');
  const order = new Intl.Collator(undefined, { numeric: true });
  const blocks = new Map<string, Map<string, { path: string[]; nodes: Node[] }>>();
  for (const n of nodes) {
    const path = outer.map((level) => n.domains[level] ?? '');
    const block = path.length > 1 ? path[0]! : '';
    let racks = blocks.get(block);
    if (!racks) blocks.set(block, (racks = new Map()));
    const key = path.join('\0');
    const rack = racks.get(key);
    if (rack) rack.nodes.push(n);
    else racks.set(key, { path, nodes: [n] });
  }
  return [...blocks]
    .sort(([a], [b]) => order.compare(a, b))
    .map(([name, racks]) => ({
      name,
      racks: [...racks.values()]
        .sort((a, b) => order.compare(a.path.join('/'), b.path.join('/')))
        .map((r) => ({ ...r, nodes: r.nodes.sort((a, b) => order.compare(a.name, b.name)) })),
    }));
}

type Groups = ReturnType<typeof group>;

export interface RackTotal {
  where: string;
  nodes: number;
  empty: number; // nodes that are ready, not cordoned and use nothing of the resource
  failed: number;
  used: number;
  all: number;
  free: number; // on nodes that take pods
}

export function rackTotals(groups: Groups, resource: string): RackTotal[] {
  return groups.flatMap((b) =>
    b.racks.map((r) => {
      const out: RackTotal = {
        where: r.path.join(' › '),
        nodes: r.nodes.length,
        empty: 0,
        failed: 0,
        used: 0,
        all: 0,
        free: 0,
      };
      for (const n of r.nodes) {
        const [used, all] = [n.used[resource] ?? 0, n.allocatable[resource] ?? 0];
        out.used += used;
        out.all += all;
        if (!n.ready) out.failed++;
        else if (!n.unschedulable) {
          out.free += Math.max(0, all - used);
          if (used === 0) out.empty++;
        }
      }
      return out;
    }),
  );
}

function place(groups: Groups, width: number, cell: number): Layout {
  const blocks: Block[] = [];
  const all: Rack[] = [];
  let y = 0;
  let total = 0;
  for (const g of groups) {
    const top = y;
    if (g.name !== '') y += HEAD;
    let x = 0;
    let line = 0;
    const racks: Rack[] = [];
    for (const r of g.racks) {
      // About twice as wide as high: so racks stand side by side.
      const columns = Math.min(
        r.nodes.length,
        Math.max(4, Math.ceil(Math.sqrt(r.nodes.length * 1.6))),
        Math.max(1, Math.floor(width / cell)),
      );
      const w = Math.max(columns * cell, Math.min(56, width));
      const h = Math.ceil(r.nodes.length / columns) * cell;
      if (x > 0 && x + w > width) {
        x = 0;
        y += line + LABEL + GAP;
        line = 0;
      }
      const rack: Rack = { ...r, x, y: y + LABEL, columns, width: w, height: h };
      racks.push(rack);
      all.push(rack);
      total += r.nodes.length;
      x += w + GAP;
      line = Math.max(line, h);
    }
    y += line + LABEL + GAP;
    blocks.push({ name: g.name, racks, y: top, height: y - top });
    y += 6;
  }
  return { blocks, racks: all, width, height: y, cell, total };
}

// The largest cells with which everything fits into the height; at least 5 px, then the map scrolls.
export function layout(groups: Groups, width: number, height: number, wanted = 0): Layout {
  if (wanted > 0) return place(groups, width, wanted);
  for (const cell of [96, 84, 72, 64, 56, 50, 44, 40, 36, 33, 30, 26, 22, 18, 15, 12, 10, 8, 7, 6]) {
    const tried = place(groups, width, cell);
    if (tried.height <= height) return tried;
  }
  return place(groups, width, 5);
}

// The node at a point of the map.
export function nodeAt(map: Layout, x: number, y: number): Node | undefined {
  for (const r of map.racks) {
    if (y < r.y || y >= r.y + r.height || x < r.x || x >= r.x + r.columns * map.cell) continue;
    return r.nodes[Math.floor((y - r.y) / map.cell) * r.columns + Math.floor((x - r.x) / map.cell)];
  }
  return undefined;
}

export interface Spot {
  x: number;
  y: number;
  rack: Rack;
  index: number;
}

export function spotOf(map: Layout, name: string): Spot | undefined {
  for (const rack of map.racks) {
    const index = rack.nodes.findIndex((n) => n.name === name);
    if (index >= 0)
      return {
        rack,
        index,
        x: rack.x + (index % rack.columns) * map.cell,
        y: rack.y + Math.floor(index / rack.columns) * map.cell,
      };
  }
  return undefined;
}

// The node that an arrow key leads to.
export function neighbour(map: Layout, name: string | undefined, key: string): string | undefined {
  const first = map.racks[0]?.nodes[0]?.name;
  if (name === undefined) return first;
  const spot = spotOf(map, name);
  if (!spot) return first;
  const { rack, index } = spot;
  const at = map.racks.indexOf(rack);
  const step = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : key === 'ArrowUp' ? -rack.columns : rack.columns;
  const next = index + step;
  if (next >= 0 && next < rack.nodes.length) return rack.nodes[next]!.name;
  const other = map.racks[at + (step < 0 ? -1 : 1)];
  return other ? other.nodes[step < 0 ? other.nodes.length - 1 : 0]!.name : name;
}

// Colours as 0xAABBGGRR, as a canvas stores them.
export type Pixel = number;
export function pixel(hex: string): Pixel {
  const n = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 0xff) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

export interface Painting {
  colour: (node: Node) => Pixel;
  background: Pixel;
  failed: Pixel; // a cross over nodes that are not ready
  cordoned: Pixel; // a bar over nodes that take no pods
}

// Paints the part of the map that starts at `top` (px of the map) into the pixels, `ratio` device pixels per px.
export function paint(
  map: Layout,
  out: Uint32Array,
  width: number,
  height: number,
  top: number,
  ratio: number,
  look: Painting,
): void {
  out.fill(look.background);
  const cell = map.cell * ratio;
  const size = Math.max(1, Math.round(cell - (map.cell >= 8 ? 2 : 1) * ratio));
  for (const r of map.racks) {
    const y0 = (r.y - top) * ratio;
    if (y0 + r.height * ratio < 0) continue;
    if (y0 > height) break;
    for (let i = 0; i < r.nodes.length; i++) {
      const node = r.nodes[i]!;
      const x = Math.round(r.x * ratio + (i % r.columns) * cell);
      const y = Math.round(y0 + Math.floor(i / r.columns) * cell);
      const x1 = Math.min(x + size, width);
      const from = Math.max(y, 0);
      const to = Math.min(y + size, height);
      if (x >= width || from >= to) continue;
      const colour = look.colour(node);
      for (let row = from; row < to; row++) {
        const start = row * width;
        // A call of fill() costs more than so few assignments.
        if (x1 - x > 24) out.fill(colour, start + x, start + x1);
        else for (let p = start + x; p < start + x1; p++) out[p] = colour;
      }
      if (!node.ready) {
        for (let d = 0; d < size; d++) {
          const row = y + d;
          if (row < 0 || row >= height) continue;
          out[row * width + Math.min(x + d, x1 - 1)] = look.failed;
          out[row * width + Math.max(x, Math.min(x + size - 1 - d, x1 - 1))] = look.failed;
        }
      } else if (node.unschedulable) {
        const row = y + (size >> 1);
        if (row >= 0 && row < height) out.fill(look.cordoned, row * width + x, row * width + x1);
      }
    }
  }
}

// --- Colours

function mix(a: string, b: string, part: number): string {
  const [x, y] = [parseInt(a.slice(1), 16), parseInt(b.slice(1), 16)];
  const each = (shift: number) => {
    const [p, q] = [(x >> shift) & 255, (y >> shift) & 255];
    return Math.round(p + (q - p) * part) << shift;
  };
  return `#${(each(16) | each(8) | each(0)).toString(16).padStart(6, '0')}`;
}

export interface HeatTheme {
  background: string;
  free: string;
  middle: string;
  full: string;
  missing: string; // has none of the resource
  failed: string;
  failedMark: string;
  cordoned: string;
  others: string; // used by pods without a workload
}

export const THEMES: Record<'light' | 'dark', HeatTheme> = {
  light: {
    background: '#ffffff',
    free: '#dfeeea',
    middle: '#5fb3a6',
    full: '#0b5c55',
    missing: '#eceef0',
    failed: '#f9c7c0',
    failedMark: '#b42318',
    cordoned: '#6b7280',
    others: '#b7bec7',
  },
  dark: {
    background: '#171b20',
    free: '#25352f',
    middle: '#2f8577',
    full: '#86e3cf',
    missing: '#262b31',
    failed: '#5c1f1a',
    failedMark: '#ff8a7a',
    cordoned: '#aab2bc',
    others: '#59636f',
  },
};

export const STEPS = 10;
export function ramp(theme: HeatTheme): string[] {
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const part = i / STEPS;
    return part < 0.5 ? mix(theme.free, theme.middle, part * 2) : mix(theme.middle, theme.full, part * 2 - 1);
  });
}

export const usedPart = (n: Node, resource: string): number | undefined => {
  const all = n.allocatable[resource];
  return all ? Math.min(1, (n.used[resource] ?? 0) / all) : undefined;
};

export function byUse(theme: HeatTheme, resource: string): (n: Node) => Pixel {
  const colours = ramp(theme).map(pixel);
  const [missing, failed] = [pixel(theme.missing), pixel(theme.failed)];
  return (n) => {
    if (!n.ready) return failed;
    const part = usedPart(n, resource);
    if (part === undefined) return missing;
    // Anything used at all, and anything free at all, can be told from none.
    return colours[part === 0 ? 0 : part === 1 ? STEPS : Math.min(STEPS - 1, Math.max(1, Math.round(part * STEPS)))]!;
  };
}

// Colours of workloads: distinct hues, spread by the golden angle in the order of first sight.
export function workloadColour(index: number, dark: boolean): string {
  const hue = (index * 137.508 + 200) % 360;
  const [s, l] = dark ? [0.45, 0.6 - (index % 3) * 0.06] : [0.5, 0.45 + (index % 3) * 0.07];
  const f = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return `#${((f(0) << 16) | (f(8) << 8) | f(4)).toString(16).padStart(6, '0')}`;
}

// Of each node the workload that uses most of the resource (any, when none uses that one).
export function mainWorkload(placements: Placement[], resource: string): Map<string, string> {
  const best = new Map<string, [string, number]>();
  for (const p of placements) {
    for (const [name, used] of p.workloads) {
      const value = (used[resource] ?? 0) + 1e-9;
      const old = best.get(p.node);
      const key = name === '' ? '' : `${p.ns}/${name}`;
      if (!old || value > old[1]) best.set(p.node, [key, value]);
    }
  }
  return new Map([...best].map(([node, [name]]) => [node, name]));
}
