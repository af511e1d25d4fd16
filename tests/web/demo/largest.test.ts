// The largest values, by index.

import { expect, it } from 'vitest';
import { largest } from '../../../web/demo/book/largest.js';

it('equals sorting, and equal values keep their order', () => {
  const values = Array.from({ length: 200 }, (_, i) => (i * 7919) % 31);
  const sorted = [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
  expect(largest(values, 25)).toEqual(sorted.slice(0, 25));
  expect(largest([1, 2], 5)).toEqual([1, 0]);
});
