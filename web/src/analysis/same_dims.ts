// Whether what is compared, an activation on clean and on corrupted inputs, can be.

import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';

/** The dims of an activation on both inputs. Throws `shape_mismatch` if they differ. */
export function requireSameDims(
  call: string,
  name: string,
  clean: Tensor<'float32'>,
  corrupted: Tensor<'float32'>,
  inputs = ['the clean input', 'the corrupted one'],
): readonly number[] {
  const [first, second] = [clean, corrupted].map(({ dims }) => `[${dims.join(', ')}]`);
  if (first === second) return clean.dims;
  const both = `${first} on ${inputs[0]}, ${second} on ${inputs[1]}`;
  throw new ClearformerError('shape_mismatch', `${call}: ${name} is ${both}`);
}
