// Tensor: an n-dimensional array in JavaScript's own memory, row-major. Every result of the package is one.

import type { TensorData, TensorType } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';

export type { TensorData, TensorType };

/** An element as JavaScript holds it: int64 a bigint, the others a number. */
export type TensorElement<T extends TensorType = TensorType> = TensorData[T][number];
/** Nested arrays of any depth; depth 0 is the element itself. */
export type Nested<T> = T | Nested<T>[];

const arrays = { float32: Float32Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array };

/**
 * An n-dimensional array. `data` is row-major and has the product of `dims` elements; `dims` of length 0 is a scalar.
 * Throws `shape_mismatch` when `data` and `dims` disagree, `dtype_mismatch` when `data` is not the type's array.
 */
export class Tensor<T extends TensorType = TensorType> {
  readonly type: T;
  readonly data: TensorData[T];
  readonly dims: readonly number[];

  constructor(type: T, data: TensorData[T], dims: readonly number[]) {
    if (!(type in arrays)) {
      throw new ClearformerError(
        'dtype_mismatch',
        `Tensor: unknown type '${String(type)}' (known: ${Object.keys(arrays).join(', ')})`,
      );
    }
    if (!(data instanceof arrays[type])) {
      throw new ClearformerError('dtype_mismatch', `Tensor: ${type} needs a ${arrays[type].name} for its data`);
    }
    if (data.length !== elementCount(dims)) {
      throw new ClearformerError(
        'shape_mismatch',
        `Tensor: dims [${dims.join(', ')}] need ${elementCount(dims)} elements, data has ${data.length}`,
      );
    }
    this.type = type;
    this.data = data;
    this.dims = [...dims];
  }

  /** The same as `dims`. */
  get shape(): readonly number[] {
    return this.dims;
  }

  /** Number of elements. */
  get size(): number {
    return this.data.length;
  }

  /** The element of a tensor that has exactly one; `shape_mismatch` otherwise. */
  item(): TensorElement<T> {
    const [only] = this.data;
    if (only === undefined || this.size !== 1) {
      throw new ClearformerError(
        'shape_mismatch',
        `Tensor.item: needs exactly one element, dims are [${this.dims.join(', ')}]`,
      );
    }
    return only;
  }

  /** Nested arrays, as deep as `dims` is long (int64 elements are bigint). */
  tolist(): Nested<TensorElement<T>> {
    const nest = (axis: number, offset: number, stride: number): Nested<TensorElement<T>> => {
      const extent = this.dims[axis];
      if (extent === undefined) return this.data[offset] as TensorElement<T>;
      const inner = stride / Math.max(extent, 1);
      return Array.from({ length: extent }, (_, i) => nest(axis + 1, offset + i * inner, inner));
    };
    return nest(0, 0, this.size);
  }

  /**
   * A copy of a part. One argument per axis, from the first: a number takes that index and drops the axis, `[start, end]`
   * takes a range (end excluded, null = to the end), null takes everything. Negative numbers count from the end.
   * An index outside its axis throws `invalid_argument`.
   */
  slice(...parts: (number | readonly [number, number | null] | null)[]): Tensor<T> {
    if (parts.length > this.dims.length) {
      throw new ClearformerError(
        'invalid_argument',
        `Tensor.slice: ${parts.length} parts for dims [${this.dims.join(', ')}]`,
      );
    }
    const ranges = this.dims.map((extent, axis) => rangeOf(parts[axis] ?? null, extent, axis));
    const taken = ranges.map(([start, end]) => end - start);
    const data = this.data.slice(0, elementCount(taken)) as TensorData[T];
    copyPart(this.data, this.dims, ranges, data);
    const dims = taken.filter((_, axis) => typeof parts[axis] !== 'number');
    return new Tensor(this.type, data, dims);
  }
}

/** Number of elements of a shape; 1 for a scalar. Throws `invalid_argument` for anything but whole numbers >= 0. */
export function elementCount(dims: readonly number[]): number {
  return dims.reduce((count, extent) => {
    if (!Number.isSafeInteger(extent) || extent < 0) {
      throw new ClearformerError('invalid_argument', `dims must be whole numbers from 0, got [${dims.join(', ')}]`);
    }
    return count * extent;
  }, 1);
}

type Range = readonly [start: number, end: number];

function rangeOf(part: number | readonly [number, number | null] | null, extent: number, axis: number): Range {
  const resolve = (index: number) => (index < 0 ? index + extent : index);
  const start = part === null ? 0 : resolve(typeof part === 'number' ? part : part[0]);
  const last = typeof part === 'number' ? start + 1 : part === null || part[1] === null ? extent : resolve(part[1]);
  if (!Number.isInteger(start) || !Number.isInteger(last) || start < 0 || last > extent || start > last) {
    throw new ClearformerError(
      'invalid_argument',
      `Tensor.slice: ${JSON.stringify(part)} is outside axis ${axis} of extent ${extent}`,
    );
  }
  return [start, last];
}

/** Copies the part that `ranges` takes, run by run along the last axis. */
function copyPart(
  from: TensorData[TensorType],
  dims: readonly number[],
  ranges: readonly Range[],
  to: TensorData[TensorType],
): void {
  const strides = dims.map((_, axis) => elementCount(dims.slice(axis + 1)));
  let written = 0;
  const visit = (axis: number, offset: number): void => {
    const [start, end] = ranges[axis] ?? [0, 1];
    const stride = strides[axis] ?? 1;
    if (axis >= ranges.length - 1) {
      to.set(from.subarray(offset + start, offset + end) as never, written);
      written += end - start;
      return;
    }
    for (let i = start; i < end; i++) visit(axis + 1, offset + i * stride);
  };
  visit(0, 0);
}
