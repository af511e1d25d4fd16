// Rows of tests/references/gradients_models.py, which stand for whole tensors.

import type { Tensor } from 'clearformer';
import { expect } from 'vitest';
import { gamma } from './primitives.js';
import type { Reference } from './references.js';

/** A row of the reference: the largest element, float32's error, the product with fixed factors, some elements. */
export function expectRow(name: string, { data }: Tensor<'float32'>, row: Reference['data']): void {
  const [most = 0, error = 0, product, ...samples] = Array.from(row, Number);
  const bound = 8 * error + gamma(200) * most;
  const found = data.reduce((sum, one, i) => sum + (((i * 7919) % 101) / 50 - 1) * one, 0);
  expect(Math.abs(found - (product as number)), name).toBeLessThanOrEqual(2 * bound * Math.sqrt(data.length));
  samples.forEach((wanted, i) => {
    const at = Math.floor((i * (data.length - 1)) / (samples.length - 1));
    expect(Math.abs((data[at] as number) - wanted), `${name} at ${at}`).toBeLessThanOrEqual(bound);
  });
}
