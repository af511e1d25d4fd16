// Tensors as callers write them: Tensors, nested arrays, typed arrays with their dims; checked on the way to the core.

import type { TensorIn } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';
import { isA, kindOf } from '../support/kinds.js';
import { arrays, checkCount } from './data.js';
import { allocatedCount } from './elements.js';
import type { Tensor, TensorData, TensorType } from './tensor.js';

/** Arrays up to 8 deep, the innermost ones of numbers, bigints or booleans. */
export type NestedInput = readonly (number | bigint | boolean | NestedInput)[];

/** What can stand for a tensor: a Tensor, nested arrays, or a typed array: of one axis, or with the dims of its elements. */
export type TensorInput =
  | Tensor
  | NestedInput
  | TensorData[TensorType]
  | { readonly data: TensorData[TensorType]; readonly dims: readonly number[] };

/** A tensor for the core whose typed array is known. */
export type TensorOf<T extends TensorType> = TensorIn & { data: TensorData[T] };

const deepest = 8; // axes the core knows

/**
 * float32 from a float32 tensor or nested numbers (rounded to float32). `what` opens the error's sentence:
 * `dtype_mismatch` for other elements, `shape_mismatch` for ragged arrays and for data that lost its elements.
 */
export function floats(what: string, input: TensorInput): TensorOf<'float32'> {
  if (Array.isArray(input)) return flattened(what, input, Float32Array, float);
  const { data, dims } = opened(what, input);
  if (isA(data, 'Float32Array')) return { data, dims };
  throw wrongType(what, 'float32', data);
}

/** `floats`, of which one number is a tensor without axes. */
export const floatsOrNumber = (what: string, input: number | TensorInput): TensorOf<'float32'> =>
  typeof input === 'number' ? { data: Float32Array.of(float(what, input)), dims: [] } : floats(what, input);

function float(what: string, value: unknown): number {
  if (typeof value !== 'number') throw notA(what, value, 'number');
  if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) throw notA(what, value, 'float32 number');
  return value;
}

/** int32 from integers of any type; `dtype_mismatch` for fractions, NaN and values out of range. */
export function integers(what: string, input: TensorInput): TensorOf<'int32'> {
  if (Array.isArray(input)) return flattened(what, input, Int32Array, integer);
  const { data, dims } = opened(what, input);
  if (isA(data, 'Int32Array')) return { data, dims };
  if (isA(data, 'Float32Array')) throw wrongType(what, 'whole numbers (int32, int64 or uint8)', data);
  return { data: converted(what, data, new Int32Array(data.length), integer), dims };
}

function integer(what: string, value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && (number | 0) === number) return number;
  throw notA(what, value, '32-bit whole number');
}

/** uint8 zeros and ones from booleans, or from the integers 0 and 1. */
export function flags(what: string, input: TensorInput): TensorOf<'uint8'> {
  if (Array.isArray(input)) return flattened(what, input, Uint8Array, flag);
  const { data, dims } = opened(what, input);
  if (isA(data, 'Float32Array')) throw wrongType(what, 'booleans, or zeros and ones of an integer type', data);
  return { data: converted(what, data, new Uint8Array(data.length), flag), dims };
}

function flag(what: string, value: unknown): number {
  if (value === true || value === 1 || value === 1n) return 1;
  if (value === false || value === 0 || value === 0n) return 0;
  throw notA(what, value, 'boolean (nor 0 or 1)');
}

/** Checks an element and gives it as a number. */
type Convert = (what: string, value: unknown) => number;

type Elements = Float32Array | Int32Array | Uint8Array;

function converted<T extends Elements>(what: string, from: ArrayLike<unknown>, to: T, convert: Convert): T {
  for (let i = 0; i < to.length; i++) to[i] = convert(what, from[i]);
  return to;
}

interface Opened<T> {
  data: T;
  dims: number[];
}

function opened(what: string, input: unknown): Opened<TensorData[TensorType]> {
  const known = (one: unknown) => Object.values(arrays).find(({ name }) => name === kindOf(one));
  const bare = known(input) && { data: input, dims: [(input as TensorData[TensorType]).length] };
  const { data, dims } = (bare ?? input ?? {}) as { data?: unknown; dims?: unknown };
  if (data === undefined || !Array.isArray(dims)) {
    throw new ClearformerError('invalid_argument', `${what}: needs a Tensor, nested arrays, or { data, dims }`);
  }
  const kind = known(data);
  if (kind === undefined) throw wrongType(what, 'a Float32Array, Int32Array, BigInt64Array or Uint8Array', data);
  const { length } = data as TensorData[TensorType];
  checkCount(what, length, dims);
  // Nothing may be done with an array whose buffer was transferred, not even when it is empty.
  return { data: length === 0 ? new kind(0) : (data as TensorData[TensorType]), dims: [...dims] };
}

/** The elements of nested arrays in a row. The first element of each depth says how long its neighbours must be. */
function flattened<T extends Elements>(
  what: string,
  input: readonly unknown[],
  kind: new (length: number) => T,
  convert: Convert,
): Opened<T> {
  const dims: number[] = [];
  for (let inner: unknown = input; Array.isArray(inner); inner = inner[0]) {
    if (dims.push(inner.length) <= deepest) continue;
    throw new ClearformerError('unsupported', `${what}: arrays are nested more than ${deepest} deep`);
  }
  const data = new kind(allocatedCount(what, dims));
  let at = 0;
  const visit = (rows: unknown, path: readonly number[]): void => {
    const length = Array.isArray(rows) ? rows.length : undefined;
    if (!Array.isArray(rows) || length !== dims[path.length]) throw ragged(what, path, dims[path.length], length);
    const last = path.length === dims.length - 1;
    for (let i = 0; i < rows.length; i++) {
      if (last && !Array.isArray(rows[i])) data[at++] = convert(what, rows[i]);
      else visit(rows[i], [...path, i]);
    }
  };
  visit(input, []);
  return { data, dims };
}

function ragged(what: string, path: readonly number[], first: number | undefined, length: number | undefined) {
  const text = (extent: number | undefined) => (extent === undefined ? 'no row' : `${extent} elements`);
  return new ClearformerError(
    'shape_mismatch',
    `${what}: ragged arrays: row ${path.join(', ')} has ${text(length)}, the first has ${text(first)}`,
  );
}

function notA(what: string, value: unknown, wanted: string): ClearformerError {
  return new ClearformerError('dtype_mismatch', `${what}: an element is ${textOf(value)}, no ${wanted}`);
}

function wrongType(what: string, wanted: string, data: unknown): ClearformerError {
  return new ClearformerError('dtype_mismatch', `${what}: needs ${wanted}, its data is ${textOf(data)}`);
}
