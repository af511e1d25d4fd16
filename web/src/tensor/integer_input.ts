// Token ids and masks as callers write them: tensors, nested arrays, typed arrays.

import { ClearformerError } from '../support/error.js';
import { Tensor } from './tensor.js';

/** What can stand for whole numbers of one or two axes wherever token ids or masks are asked for. */
export type IntegerInput =
  | Tensor
  | readonly (number | bigint)[]
  | readonly (readonly (number | bigint)[])[]
  | Int32Array
  | BigInt64Array
  | { readonly data: Int32Array | BigInt64Array; readonly dims: readonly number[] };

/**
 * A [batch, position] tensor of int32 or int64 from `input`; one axis becomes a batch of one.
 * Throws `shape_mismatch` for ragged rows or other ranks, `dtype_mismatch` for fractions and other element types.
 */
export function integerMatrix(name: string, input: IntegerInput): Tensor<'int32' | 'int64'> {
  const tensor = asIntegerTensor(name, input);
  if (tensor.dims.length === 1) return new Tensor(tensor.type, tensor.data, [1, tensor.size]);
  if (tensor.dims.length === 2) return tensor;
  throw new ClearformerError(
    'shape_mismatch',
    `${name}: needs dims [batch, position], got [${tensor.dims.join(', ')}]`,
  );
}

function asIntegerTensor(name: string, input: IntegerInput): Tensor<'int32' | 'int64'> {
  if (input instanceof Int32Array) return new Tensor('int32', input, [input.length]);
  if (input instanceof BigInt64Array) return new Tensor('int64', input, [input.length]);
  if (Array.isArray(input)) return fromRows(name, input);
  if (typeof input === 'object' && input !== null && 'data' in input && 'dims' in input) {
    if (input.data instanceof Int32Array) return new Tensor('int32', input.data, input.dims);
    if (input.data instanceof BigInt64Array) return new Tensor('int64', input.data, input.dims);
    if (input.data instanceof Uint8Array) return new Tensor('int32', Int32Array.from(input.data), input.dims);
    throw new ClearformerError(
      'dtype_mismatch',
      `${name}: needs whole numbers (int32 or int64), got ${input instanceof Tensor ? `a ${input.type} tensor` : 'others'}`,
    );
  }
  throw new ClearformerError(
    'invalid_argument',
    `${name}: needs a Tensor, nested arrays, an Int32Array or a BigInt64Array`,
  );
}

function fromRows(name: string, input: readonly unknown[]): Tensor<'int32'> {
  const nested = Array.isArray(input[0]);
  const rows: readonly unknown[] = nested ? input : [input];
  const width = (rows[0] as readonly unknown[]).length;
  const data = new Int32Array(rows.length * width);
  rows.forEach((row, r) => {
    if (!Array.isArray(row) || row.length !== width) {
      const found = Array.isArray(row) ? `${row.length} elements` : 'no array';
      throw new ClearformerError(
        'shape_mismatch',
        `${name}: row 0 has ${width} elements, row ${r} has ${found} (pad the batch first)`,
      );
    }
    row.forEach((value, c) => {
      data[r * width + c] = wholeNumber(name, value);
    });
  });
  return new Tensor('int32', data, nested ? [rows.length, width] : [width]);
}

function wholeNumber(name: string, value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && Math.abs(number) <= 0x7fffffff) return number;
  throw new ClearformerError('dtype_mismatch', `${name}: ${String(value)} is not a 32-bit whole number`);
}
