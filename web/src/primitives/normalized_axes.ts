// The axes of norms.

import { ClearformerError, textOf } from '../support/error.js';

/** The number of last axes of `dims` that `normalized_shape` covers; `shape_mismatch` if it does not match. */
export function normalizedAxes(
  call: string,
  dims: readonly number[],
  normalized_shape: number | readonly number[],
): number {
  const normalized = [normalized_shape].flat();
  const last = dims.slice(-normalized.length);
  if (last.length > 0 && last.length === normalized.length && last.every((extent, i) => extent === normalized[i])) {
    return last.length;
  }
  throw new ClearformerError(
    'shape_mismatch',
    `${call}: the last axes of dims [${dims.join(', ')}] must be normalized_shape [${normalized.map(textOf).join(', ')}]`,
  );
}
