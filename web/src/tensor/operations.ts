// Functions of tensors with transformers.js' names and torch's semantics, computed synchronously in JavaScript.

import { ClearformerError, quoted } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import { allocatedCount, elementCount } from './elements.js';
import { exportedTensor } from './exported_tensor.js';
import { largest } from './largest.js';
import { type Axes, Tensor, type TensorData, type TensorType } from './tensor.js';

function tensorsIn<T extends TensorType>(call: string, given: readonly Tensor<T>[]): Tensor<T>[] {
  expectArgument(call, Array.isArray(given) && given[0], 'an array with tensors', given);
  return given.map((one) => exportedTensor(call, one) as Tensor<T>);
}

/** Concatenates tensors along `dim`. Throws `shape_mismatch` or `dtype_mismatch` if they do not fit together. */
export function cat<T extends TensorType>(tensors: readonly Tensor<T>[], dim = 0): Tensor<T> {
  const all = tensorsIn('cat', tensors);
  const [first] = all as [Tensor<T>];
  const axis = dim < 0 ? dim + first.dims.length : dim;
  if (!Number.isInteger(dim) || first.dims[axis] === undefined) {
    throw new ClearformerError('invalid_argument', `cat: dims [${first.dims.join(', ')}] have no axis ${quoted(dim)}`);
  }
  for (const { type, dims } of all) {
    if (type !== first.type) throw new ClearformerError('dtype_mismatch', `cat: ${first.type} and ${type} do not mix`);
    if (dims.length !== first.dims.length || dims.some((extent, i) => i !== axis && extent !== first.dims[i])) {
      const message = `cat: dims [${first.dims.join(', ')}] and [${dims.join(', ')}] differ beside axis ${axis}`;
      throw new ClearformerError('shape_mismatch', message);
    }
  }
  const dims = first.dims.with(
    axis,
    all.reduce((sum, each) => sum + (each.dims[axis] as number), 0),
  );
  const data = new (first.data.constructor as Float32ArrayConstructor)(elementCount(dims)) as unknown as TensorData[T];
  const inner = elementCount(dims.slice(axis + 1));
  let to = 0;
  for (let outer = 0; outer < elementCount(dims.slice(0, axis)); outer++) {
    for (const each of all) {
      const size = (each.dims[axis] as number) * inner;
      data.set(each.data.subarray(outer * size, (outer + 1) * size) as never, to);
      to += size;
    }
  }
  return new Tensor(first.type, data, dims);
}

/** Stacks tensors of equal dims along a new axis `dim`. */
export function stack<T extends TensorType>(tensors: readonly Tensor<T>[], dim = 0): Tensor<T> {
  const all = tensorsIn('stack', tensors);
  const rank = (all[0]?.dims.length ?? 0) + 1;
  if (!Number.isInteger(dim) || dim < -rank || dim >= rank) {
    throw new ClearformerError('invalid_argument', `stack: there is no axis ${quoted(dim)} of ${rank}`);
  }
  const at = dim < 0 ? dim + rank : dim;
  return cat(
    all.map((each) => each.unsqueeze(at)),
    at,
  );
}

/** `tensor.permute(axes)`. */
export function permute<T extends TensorType>(tensor: Tensor<T>, axes: readonly number[]): Tensor<T> {
  return (exportedTensor('permute', tensor) as Tensor<T>).permute(axes);
}

/** `input.mean(dim, keepdim)`. */
export function mean(input: Tensor, dim: Axes = null, keepdim = false): Tensor<'float32'> {
  return exportedTensor('mean', input).mean(dim, keepdim);
}

/** Standard deviation and mean along `dim`; null: of all. `correction` 1: of a sample, 0: of the population. */
export function std_mean(
  input: Tensor,
  dim: Axes = null,
  correction = 1,
  keepdim = false,
): [std: Tensor<'float32'>, mean: Tensor<'float32'>] {
  const given = exportedTensor('std_mean', input) as Tensor<'float32'>;
  const wide = given.mean(dim, true);
  const own = given.sub(wide);
  const count = given.size / Math.max(wide.size, 1);
  const rest = own.sum(dim, keepdim); // by which the mean was rounded
  const squares = own.mul(own).sum(dim, keepdim) as Tensor<'float32'>;
  const std = squares.map((sum, at) =>
    Math.sqrt(Math.max(0, sum - Number(rest.data[at]) ** 2 / count) / Math.max(count - correction, 0)),
  );
  return [std, wide.view(std.dims)];
}

/**
 * The `k` largest values of the last axis (null: all) in descending order, and their indices; ties keep their order.
 */
export async function topk<T extends TensorType>(
  x: Tensor<T>,
  k: number | null = null,
): Promise<[values: Tensor<T>, indices: Tensor<'int64'>]> {
  return largest(x, k);
}

/**
 * Mean pooling, one vector per text: the mean of last_hidden_state [batch, position, d_model] over the positions where
 * attention_mask [batch, position] is 1: [batch, d_model].
 */
export function mean_pooling(last_hidden_state: Tensor, attention_mask: Tensor): Tensor<'float32'> {
  const [states, flags] = tensorsIn('mean_pooling', [last_hidden_state, attention_mask]) as [Tensor, Tensor];
  const mask = flags.to('float32').unsqueeze(-1);
  const sum = states.to('float32').mul(mask).sum(1) as Tensor<'float32'>;
  return sum.div((mask.sum(1) as Tensor<'float32'>).clamp(1e-9, Number.POSITIVE_INFINITY));
}

/** A tensor filled with one value: float32 for a number, int64 for a bigint, uint8 for a boolean. */
export function full(size: readonly number[], fill_value: number): Tensor<'float32'>;
export function full(size: readonly number[], fill_value: bigint): Tensor<'int64'>;
export function full(size: readonly number[], fill_value: boolean): Tensor<'uint8'>;
export function full(size: readonly number[], fill_value: number | bigint | boolean): Tensor {
  return filled('full', size, fill_value);
}
function filled(call: string, size: readonly number[], fill_value: number | bigint | boolean): Tensor {
  expectArgument(call, Array.isArray(size), 'an array of extents', size);
  const count = allocatedCount(call, size);
  if (typeof fill_value === 'number') return new Tensor('float32', new Float32Array(count).fill(fill_value), size);
  if (typeof fill_value === 'bigint') return new Tensor('int64', new BigInt64Array(count).fill(fill_value), size);
  expectArgument(call, typeof fill_value === 'boolean', 'a number, a bigint or a boolean', fill_value);
  return new Tensor('uint8', new Uint8Array(count).fill(Number(fill_value)), size);
}

/** int64 ones. */
export function ones(size: readonly number[]): Tensor<'int64'> {
  return filled('ones', size, 1n) as Tensor<'int64'>;
}
/** int64 ones with the dims of a tensor. */
export function ones_like(tensor: Tensor): Tensor<'int64'> {
  return full(exportedTensor('ones_like', tensor).dims, 1n);
}
/** int64 zeros. */
export function zeros(size: readonly number[]): Tensor<'int64'> {
  return filled('zeros', size, 0n) as Tensor<'int64'>;
}
/** int64 zeros with the dims of a tensor. */
export function zeros_like(tensor: Tensor): Tensor<'int64'> {
  return full(exportedTensor('zeros_like', tensor).dims, 0n);
}

/** Σ aᵢ·bᵢ for the function `call`. */
function product(call: string, a: ArrayLike<number | bigint>, b: ArrayLike<number | bigint>): number {
  for (const one of [a, b]) expectArgument(call, typeof one?.length === 'number', 'vectors', one);
  if (a.length !== b.length) {
    throw new ClearformerError('shape_mismatch', `${call}: vectors of ${a.length} and ${b.length} elements`);
  }
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Number(a[i]) * Number(b[i]);
  return sum;
}

/** Σ aᵢ·bᵢ of two vectors of equal length. */
export function dot(arr1: ArrayLike<number | bigint>, arr2: ArrayLike<number | bigint>): number {
  return product('dot', arr1, arr2);
}

/** The cosine of the angle between two vectors of equal length: dot(a, b) / (‖a‖·‖b‖). */
export function cos_sim(arr1: ArrayLike<number | bigint>, arr2: ArrayLike<number | bigint>): number {
  return product('cos_sim', arr1, arr2) / Math.sqrt(dot(arr1, arr1) * dot(arr2, arr2));
}
