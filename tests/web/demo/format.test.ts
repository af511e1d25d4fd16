// Numbers and tokens as text: nothing is rounded to none or to all.

import { expect, it } from 'vitest';
import { amount, bytes, percent, visible, weightText } from '../../../web/demo/state/format.js';

it.each([
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.0012, '0.12 %'],
  [0.4312, '43.1 %'],
  [0.99999, '> 99.9 %'],
  [1, '100 %'],
])('share %f is %s', (share, text) => {
  expect(percent(share)).toBe(text);
});

it('writes weights, sizes and amounts', () => {
  expect([0, 0.25, 0.00012, 1].map(weightText)).toEqual(['0.0000', '0.2500', '0.00012', '1.0000']);
  expect([12, 4_200, 325_000, 1_040_128, 2.5e9].map(bytes)).toEqual(['12 B', '4.2 kB', '325 kB', '1.04 MB', '2.50 GB']);
  expect([5, 8.16, 1966.6].map(amount)).toEqual(['5', '8.2', '1,967']);
});

it('makes blanks of a token visible', () => {
  expect([' dog', '\n', '\t', ''].map(visible)).toEqual(['␣dog', '↵', '⇥', '∅']);
});
