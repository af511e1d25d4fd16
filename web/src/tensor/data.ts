// The typed arrays of tensors, by the type of their elements.

import type { TensorData, TensorType } from '../runtime/border.js';
import { ClearformerError, quoted } from '../support/error.js';
import { kindOf } from '../support/kinds.js';
import { elementCount } from './elements.js';

export const arrays = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  int8: Int8Array,
};

/**
 * The data of a tensor; of an array of numbers their typed array. Throws `dtype_mismatch` for data of another type,
 * `shape_mismatch` for another number of elements, as once their buffer was transferred.
 */
export function checkedData<T extends TensorType>(
  what: string,
  type: T,
  given: TensorData[T] | readonly (number | bigint)[],
  dims: readonly number[],
): TensorData[T] {
  if (!Object.hasOwn(arrays, type)) {
    const known = Object.keys(arrays).join(', ');
    throw new ClearformerError('dtype_mismatch', `${what}: unknown type ${quoted(type)} (known: ${known})`);
  }
  const kind = arrays[type] as Float32ArrayConstructor;
  const isElement = (value: unknown) =>
    typeof value === 'bigint' || (type === 'float32' ? typeof value === 'number' : Number.isInteger(value));
  const isList = Array.isArray(given) && Array.from(given).every(isElement); // holes are no elements
  const data = isList ? kind.from(given, type === 'int64' ? (BigInt as never) : Number) : given;
  if (kindOf(data) !== kind.name) {
    throw new ClearformerError('dtype_mismatch', `${what}: ${type} needs a ${kind.name} for its data`);
  }
  checkCount(what, data.length, dims);
  return data as TensorData[T];
}

/** Throws `shape_mismatch` unless `dims` are those of as many elements. */
export function checkCount(what: string, length: number, dims: readonly number[]): void {
  const count = elementCount(dims);
  if (length === count) return;
  const found = `data has ${length}${length === 0 ? transferred : ''}`;
  throw new ClearformerError('shape_mismatch', `${what}: dims [${dims.join(', ')}] need ${count} elements, ${found}`);
}

/** What is asked where elements are missing. */
export const transferred = ' (was its buffer transferred?)';
