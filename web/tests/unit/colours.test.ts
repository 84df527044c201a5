import { expect, test } from 'vitest';
import { coloursOf } from '../../src/logic/colours';

const six = ['ads', 'language', 'maps', 'robotics', 'search', 'vision'];

test('a colour belongs to a name, in whatever order the names come', () => {
  expect([...coloursOf([...six].reverse())].sort()).toEqual([...coloursOf(six)].sort());
});

test('eight names have eight colours; more share some', () => {
  expect(new Set(coloursOf([...six, 'a', 'b']).values()).size).toBe(8);
  expect(coloursOf(Array.from({ length: 30 }, (_, i) => `q${i}`)).size).toBe(30);
});
