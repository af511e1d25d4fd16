// Token ids and masks as arguments: tensors, nested arrays, typed arrays.

import { ClearformerError } from '../support/error.js';
import type { Tensor } from './tensor.js';
import { integers, type TensorOf } from './tensor_input.js';

/** Accepted forms of integers with one or two axes, wherever token ids or masks are expected. */
export type IntegerInput =
  | Tensor
  | readonly (number | bigint)[]
  | readonly (readonly (number | bigint)[])[]
  | Int32Array
  | BigInt64Array
  | { readonly data: Int32Array | BigInt64Array; readonly dims: readonly number[] };

/**
 * Converts `input` to a [batch, position] tensor of int32; one axis becomes a batch of one.
 * Throws `shape_mismatch` for ragged rows or other ranks, `dtype_mismatch` for fractions and other element types.
 */
export function integerMatrix(name: string, input: IntegerInput): TensorOf<'int32'> {
  const { data, dims } = integers(name, input);
  if (dims.length === 1) return { data, dims: [1, data.length] };
  if (dims.length === 2) return { data, dims };
  throw new ClearformerError('shape_mismatch', `${name}: needs dims [batch, position], got [${dims.join(', ')}]`);
}
