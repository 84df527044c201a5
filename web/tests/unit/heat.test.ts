import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/data/rows';
import {
  byUse,
  group,
  layout,
  mainWorkload,
  neighbour,
  nodeAt,
  paint,
  pixel,
  spotOf,
  THEMES,
} from '../../src/logic/heat';

const node = (name: string, rack: string, used = 0, patch: Partial<Node> = {}): Node => ({
  key: name,
  name,
  ready: true,
  domains: { block: rack[0]!, rack, 'kubernetes.io/hostname': name },
  allocatable: { gpu: 8 },
  used: { gpu: used },
  ...patch,
});
const levels = ['block', 'rack', 'kubernetes.io/hostname'];
const many = Array.from({ length: 200 }, (_, i) => node(`n${i}`, `${i < 100 ? 'a' : 'b'}${Math.floor(i / 20)}`));

describe('layout', () => {
  it('groups by block and rack, in the order of numbers', () => {
    const groups = group(many, levels);
    expect(groups.map((g) => g.name)).toEqual(['a', 'b']);
    expect(groups[0]!.racks).toHaveLength(5);
    expect(groups[0]!.racks[0]!.nodes.slice(0, 3).map((n) => n.name)).toEqual(['n0', 'n1', 'n2']);
  });
  it('places every node inside the width, and finds it again', () => {
    const map = layout(group(many, levels), 500, 400);
    expect(map.total).toBe(200);
    for (const n of many) {
      const spot = spotOf(map, n.name)!;
      expect(spot.x + map.cell).toBeLessThanOrEqual(500);
      expect(nodeAt(map, spot.x + 1, spot.y + 1)?.name).toBe(n.name);
    }
  });
  it('works with nodes of no topology and in a narrow window', () => {
    expect(layout(group(many, []), 60, 100).racks[0]!.columns).toBeGreaterThan(0);
    expect(layout(group([], levels), 60, 100).total).toBe(0);
  });
});

it('arrow keys walk over racks and stay inside', () => {
  const map = layout(group(many, levels), 500, 400);
  expect(neighbour(map, undefined, 'ArrowRight')).toBe('n0');
  expect(neighbour(map, 'n19', 'ArrowRight')).toBe('n20');
  expect(neighbour(map, 'n0', 'ArrowLeft')).toBe('n0');
});

it('paints the colours of the nodes, and a cross on failed ones', () => {
  const nodes = [node('n0', 'a0', 8), node('n1', 'a0', 0, { ready: false })];
  const map = layout(group(nodes, levels), 100, 100, 10);
  const [w, h] = [100, 100];
  const out = new Uint32Array(w * h);
  const mark = pixel('#ff0000');
  paint(map, out, w, h, 0, 1, { colour: byUse(THEMES.light, 'gpu'), background: 0, failed: mark, cordoned: 1 });
  const spot = spotOf(map, 'n0')!;
  expect(out[(spot.y + 2) * w + spot.x + 1]).toBe(pixel(THEMES.light.full));
  const failed = spotOf(map, 'n1')!;
  expect(out[failed.y * w + failed.x]).toBe(mark);
});

it('the workload that uses most of a resource gives the colour', () => {
  const placed = [
    {
      key: 'n/a',
      node: 'n',
      ns: 'a',
      workloads: [
        ['small', { gpu: 1 }],
        ['large', { gpu: 4 }],
      ] as [string, Record<string, number>][],
    },
  ];
  expect(mainWorkload(placed, 'gpu').get('n')).toBe('a/large');
});
