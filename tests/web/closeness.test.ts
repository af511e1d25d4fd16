// The comparisons with references: NaN is close to nothing but NaN, wherever it stands and whatever follows it.

import { Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { expectWithin } from './support/primitives.js';
import { expectClose } from './support/references.js';

const reference = (data: number[]) => ({ data: Float32Array.from(data), dims: [data.length] });
const tensor = (data: number[]) => new Tensor('float32', Float32Array.from(data), [data.length]);
const comparisons = {
  expectClose: (found: number[], wanted: number[]) => expectClose('x', tensor(found), reference(wanted)),
  expectWithin: (found: number[], wanted: number[]) =>
    expectWithin('x', tensor(found), tensor(wanted), { relative: 1e-6 }),
};
const { NaN: none, POSITIVE_INFINITY: infinite } = Number;

describe.each(Object.entries(comparisons))('%s', (_, compare) => {
  it('passes equal and close numbers, equal infinities and NaN', () => {
    compare([1, 2, 3], [1, 2, 3.000001]);
    compare([1, infinite, -infinite, none], [1, infinite, -infinite, none]);
  });

  it.each([
    [
      [none, 2, 3],
      [1, 2, 3],
    ],
    [
      [1, none, 3.000001],
      [1, 2, 3],
    ],
    [
      [100, none, 3.000001],
      [1, 2, 3],
    ],
    [
      [1, 2, none],
      [1, 2, 3],
    ],
    [
      [1, 2, 3],
      [1, none, 3.000001],
    ],
    [
      [1, 2, 3],
      [1, infinite, 3.000001],
    ],
    [
      [1, infinite, 3],
      [1, 2, 3.000001],
    ],
    [
      [1, -infinite, 3],
      [1, infinite, 3.000001],
    ],
    [
      [1, 2.1, 3],
      [1, 2, 3],
    ],
  ])('refuses %j for %j', (found, wanted) => {
    expect(() => compare(found, wanted)).toThrow(/^x\[/);
  });
});
