// The order of a module's functions (scripts/build/function_order.ts): a permutation in which those that are alike follow
// each other, and the names by which Binaryen brings a module into it.

import { expect, it } from 'vitest';
import { namedByOrder, orderOf } from '../../scripts/build/function_order.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it('puts functions side by side that share code', () => {
  const codes = ['one two three four', 'a, b, c, d, e, f, g', 'zero one two three four', '', 'a, b, c, d, e'].map(
    bytes,
  );
  const order = orderOf(codes);
  expect(order.slice(0, 2)).toEqual([0, 2]);
  expect(Math.abs(order.indexOf(1) - order.indexOf(4))).toBe(1);
  expect([...order].sort()).toEqual([0, 1, 2, 3, 4]);
});

it('has an order for no function, for one, and for equal ones', () => {
  expect(orderOf([])).toEqual([]);
  expect(orderOf([bytes('one')])).toEqual([0]);
  expect(orderOf(Array.from({ length: 100 }, () => bytes('the same code')))).toHaveLength(100);
});

/** A section: its id, and its contents behind their length. */
const section = (id: number, ...contents: number[]): number[] => [id, contents.length, ...contents];

it('names functions by their places, those that are imported not', () => {
  const imports = [
    [...[1, 97, 1, 116], 1, 0x70, 1, 1, 2], // a.t: a table of 1 to 2 functions
    [...[1, 97, 1, 102], 0, 0], // a.f: a function
    [...[1, 97, 1, 109], 2, 0, 1], // a.m: a memory of 1 page or more
    [...[1, 97, 1, 103], 3, 0x7f, 1], // a.g: a global that changes
    [...[1, 97, 1, 104], 0, 0], // a.h: a function
  ];
  const constants = (count: number, constant: number): number[] => {
    const code = Array.from({ length: count }, () => [0x41, constant, 0x1a]).flat(); // i32.const, drop
    return [code.length + 2, 0, ...code, 0x0b];
  };
  const module = new Uint8Array([
    ...[0, 97, 115, 109, 1, 0, 0, 0],
    ...section(1, 1, 0x60, 0, 0),
    ...section(2, imports.length, ...imports.flat()),
    ...section(3, 3, 0, 0, 0),
    ...section(10, 3, ...constants(5, 7), ...constants(5, 9), ...constants(6, 7)),
  ]);
  const [names = new ArrayBuffer(0)] = WebAssembly.Module.customSections(
    new WebAssembly.Module(namedByOrder(module) as Uint8Array<ArrayBuffer>),
    'name',
  );
  const text = (value: string): number[] => [6, ...bytes(value)];
  const list = [...[2, ...text('000000')], ...[3, ...text('000002')], ...[4, ...text('000001')]];
  expect([...new Uint8Array(names)]).toEqual([1, list.length + 1, 3, ...list]);
});
