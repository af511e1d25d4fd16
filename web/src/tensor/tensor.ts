// Tensor: an n-dimensional array in JavaScript memory, row-major. The package returns all results as tensors.

import type { TensorData, TensorType } from '../runtime/border.js';
import { copied } from '../support/copied.js';
import { ClearformerError, type ErrorCode, quoted, textOf } from '../support/error.js';
import { expectArgument, expectKnown } from '../support/options.js';
import { arrays, checkedData } from './data.js';
import { best, broadcast, elementCount, listed, normOf, offsets, rangeOf, taken, total } from './elements.js';

export type { TensorData, TensorType };

/** An element in JavaScript: int64 is a bigint, the others are numbers. */
export type TensorElement<T extends TensorType = TensorType> = TensorData[T][number];
/** Nested arrays of any depth; depth 0 is the element itself. */
export type Nested<T> = T | Nested<T>[];

/** An axis, negative from the end; several axes; or null: all. */
export type Axes = number | readonly number[] | null;

/** The other operand of an arithmetic operation: a number, or a tensor of the same type that broadcasts. */
export type Operand<T extends TensorType> = number | bigint | Tensor<T>;

/**
 * An n-dimensional array. `data` is row-major and has the product of `dims` elements; `dims` of length 0 is a scalar.
 * An array of numbers becomes the type's array, as its `from` does it. Throws `shape_mismatch` when `data` and `dims`
 * disagree, `dtype_mismatch` when `data` is neither the type's array nor such numbers: for integers, whole ones.
 *
 * Methods compute synchronously in JavaScript, with torch's semantics, and return new tensors; rows (`tensor[0]`,
 * iteration) and other shapes (`view`, `squeeze`, `unsqueeze`, `flatten`; `permute` and `transpose` if no axis moves)
 * share the data. They throw `invalid_argument` for an axis that does not exist, `shape_mismatch` for dims that do not
 * fit, `dtype_mismatch` for element types the operation does not support.
 */
export class Tensor<T extends TensorType = TensorType> {
  /** The row with this index, negative from the end: a tensor without the first axis that shares the data. */
  readonly [row: number]: Tensor<T>;
  readonly type: T;
  readonly data: TensorData[T];
  readonly dims: readonly number[];

  constructor(type: T, data: TensorData[T] | readonly (number | bigint)[], dims: readonly number[]) {
    this.type = type;
    this.data = checkedData('Tensor', type, data, dims);
    this.dims = [...dims];
  }

  /** The same as `dims`. */
  get shape(): readonly number[] {
    return this.dims;
  }

  /** For messages: an object's class by name. */
  get [Symbol.toStringTag](): string {
    return 'Tensor';
  }

  /** Number of elements. */
  get size(): number {
    return this.data.length;
  }

  /** The elements, unless they went to another thread. */
  get #elements(): TensorData[T] {
    if (this.data.length === 0) checkedData('Tensor', this.type, this.data, this.dims);
    return this.data;
  }

  /** The only element; throws `shape_mismatch` if there is more or less than one. */
  item(): TensorElement<T> {
    const [only] = this.#elements;
    if (only === undefined || this.size !== 1) {
      throw this.#error('shape_mismatch', 'item', 'needs exactly one element');
    }
    return only;
  }

  /** Nested arrays, as deep as `dims` is long (int64 elements are bigint). */
  tolist(): Nested<TensorElement<T>> {
    const data = this.#elements;
    const nest = (axis: number, offset: number, stride: number): Nested<TensorElement<T>> => {
      const extent = this.dims[axis];
      if (extent === undefined) return data[offset] as TensorElement<T>;
      const inner = stride / Math.max(extent, 1);
      return Array.from({ length: extent }, (_, i) => nest(axis + 1, offset + i * inner, inner));
    };
    return nest(0, 0, this.size);
  }

  static {
    // Integer properties that a tensor does not have are rows.
    const rows: ProxyHandler<object> = {
      get: (target, key, tensor) =>
        typeof key === 'string' && /^-?\d+$/.test(key) && tensor instanceof Tensor
          ? tensor.#row(Number(key))
          : Reflect.get(target, key, tensor),
    };
    Object.setPrototypeOf(Tensor.prototype, new Proxy(Object.prototype, rows));
  }

  #row(index: number): Tensor<T> {
    const [extent, ...dims] = this.dims;
    if (extent === undefined) throw this.#error('invalid_argument', 'row', 'a scalar has none');
    const at = index < 0 ? index + extent : index;
    if (at < 0 || at >= extent) throw this.#error('invalid_argument', 'row', `there is no ${index}`);
    const size = elementCount(dims);
    return new Tensor(this.type, this.#elements.subarray(at * size, (at + 1) * size) as TensorData[T], dims);
  }

  /** Iterates over the first axis: rows, or the elements of a tensor with one axis. */
  *[Symbol.iterator](): Generator<Tensor<T> | TensorElement<T>, void, undefined> {
    if (this.dims.length === 1) yield* this.#elements as Iterable<TensorElement<T>>;
    else for (let row = 0; row < (this.dims[0] ?? 0); row++) yield this.#row(row);
  }

  /** A copy. */
  clone(): Tensor<T> {
    return new Tensor(this.type, copied(this.#elements), this.dims);
  }

  /**
   * The same numbers as another type; fractions are truncated, and NaN and infinities are no integers. Returns the tensor
   * itself if it has that type.
   */
  to<R extends TensorType>(type: R): Tensor<R> {
    if ((this.type as TensorType) === type) return this as unknown as Tensor<R>;
    expectKnown('Tensor.to', 'type', type, Object.keys(arrays));
    const values = Array.from(this.#elements as ArrayLike<number | bigint>, (value) => {
      if (type === 'float32' || typeof value === 'bigint') return value;
      if (Number.isFinite(value)) return Math.trunc(value);
      throw this.#error('dtype_mismatch', 'to', `${value} is no whole number`);
    });
    return new Tensor(type, values, this.dims);
  }

  /** The same data with other dims; -1, once, is inferred. */
  view(...dims: number[] | [readonly number[]]): Tensor<T> {
    const data = this.#elements;
    const wanted = dims.flat();
    const open = wanted.indexOf(-1);
    if (open >= 0) wanted[open] = this.size / (elementCount(wanted.with(open, 1)) || 1);
    if (!wanted.every(Number.isSafeInteger) || elementCount(wanted) !== this.size) {
      throw this.#error('shape_mismatch', 'view', `${this.size} elements do not make ${listed(dims.flat())}`);
    }
    return new Tensor(this.type, data, wanted);
  }
  /** The same as `view`. */
  reshape(...dims: number[] | [readonly number[]]): Tensor<T> {
    return this.view(...dims);
  }
  /** Merges the axes from `start_dim` to `end_dim`, inclusive. */
  flatten(start_dim = 0, end_dim = -1): Tensor<T> {
    if (this.dims.length === 0) return this.view(1);
    const [start, end] = [this.#axis('flatten', start_dim), this.#axis('flatten', end_dim)];
    if (start > end) throw this.#error('invalid_argument', 'flatten', `axis ${start} is behind axis ${end}`);
    return this.view(
      ...this.dims.slice(0, start),
      elementCount(this.dims.slice(start, end + 1)),
      ...this.dims.slice(end + 1),
    );
  }
  /** Drops the axes `dim` of extent 1; null: all such axes. */
  squeeze(dim: Axes = null): Tensor<T> {
    const axes = this.#axes('squeeze', dim);
    return this.view(this.dims.filter((extent, axis) => extent !== 1 || !axes.includes(axis)));
  }
  /** Inserts an axis of extent 1 before axis `dim`; -1: at the end. */
  unsqueeze(dim: number): Tensor<T> {
    return this.view(this.dims.toSpliced(this.#axis('unsqueeze', dim, this.dims.length + 1), 0, 1));
  }

  /** Permutes the axes; all of them must be named. */
  permute(...dims: number[] | [readonly number[]]): Tensor<T> {
    const order = this.#axes('permute', dims.flat(), this.dims.length);
    if (order.every((axis, i) => axis === i)) return this.view(this.dims);
    const strides = this.stride();
    const pick = (from: readonly number[]) => order.map((axis) => from[axis] as number);
    const dimsOut = pick(this.dims);
    return new Tensor(this.type, taken(this.#elements, offsets(dimsOut, pick(strides))), dimsOut);
  }
  /** Swaps two axes, as in torch; or permutes all axes, as in transformers.js. */
  transpose(...dims: number[]): Tensor<T> {
    if (dims.length !== 2) return this.permute(...dims);
    const [first, second] = dims.map((dim) => this.#axis('transpose', dim));
    const swapped = (axis: number) => (axis === first ? second : axis === second ? first : axis);
    return this.permute(this.dims.map((_, axis) => swapped(axis) as number));
  }
  /** The stride of each axis, in elements. */
  stride(): number[] {
    return this.dims.map((_, axis) => elementCount(this.dims.slice(axis + 1)));
  }

  /** The sum along `dim`; null: of all. float32, or int64 for integers. */
  sum(dim: Axes = null, keepdim = false): Tensor {
    if (this.type === 'float32') return this.#folded('sum', 'float32', dim, keepdim, total);
    const count = (row: TensorData[TensorType]) =>
      (row as BigInt64Array).reduce((sum, value) => sum + BigInt(value), 0n);
    return this.#folded('sum', 'int64', dim, keepdim, count);
  }
  /** The mean along `dim`; null: of all. float32 only. */
  mean(dim: Axes = null, keepdim = false): Tensor<'float32'> {
    this.#float('mean');
    return this.#folded('mean', 'float32', dim, keepdim, (row) => total(row) / row.length);
  }
  /**
   * (Σ |x|^p)^(1/p) along `dim`; 'fro' is 2, Infinity the largest, -Infinity the smallest, 0 how many are not 0.
   * float32 only.
   */
  norm(p: number | 'fro' = 'fro', dim: Axes = null, keepdim = false): Tensor<'float32'> {
    this.#float('norm');
    const power = p === 'fro' ? 2 : p;
    if (typeof power !== 'number') throw this.#error('unsupported', 'norm', `there is no ${quoted(p)}`);
    return this.#folded('norm', 'float32', dim, keepdim, (row) => normOf(row as Float32Array, power));
  }
  /**
   * The largest values along `dim`; null: of all. For their indices use `argmax`. NaN counts as both largest and
   * smallest.
   */
  max(dim: Axes = null, keepdim = false): Tensor<T> {
    return this.#folded('max', this.type, dim, keepdim, (row) => row[best('max', row, 1)] as number);
  }
  /** The smallest values along `dim`; null: of all. */
  min(dim: Axes = null, keepdim = false): Tensor<T> {
    return this.#folded('min', this.type, dim, keepdim, (row) => row[best('min', row, -1)] as number);
  }
  /** The index of the first largest value along `dim`; null: in the data. */
  argmax(dim: number | null = null, keepdim = false): Tensor<'int64'> {
    return this.#folded('argmax', 'int64', dim, keepdim, (row) => BigInt(best('argmax', row, 1)));
  }
  /** The index of the first smallest value along `dim`; null: in the data. */
  argmin(dim: number | null = null, keepdim = false): Tensor<'int64'> {
    return this.#folded('argmin', 'int64', dim, keepdim, (row) => BigInt(best('argmin', row, -1)));
  }

  /** Applies `callback` to each element, its index in `data`, and `data`. */
  map(callback: (value: TensorElement<T>, index: number, data: TensorData[T]) => TensorElement<T>): Tensor<T> {
    expectArgument('Tensor.map', typeof callback === 'function', 'a function', callback);
    const checked: typeof callback = (...given) => {
      const made = callback(...given);
      return (typeof made === 'bigint') === (this.type === 'int64') ? made : this.#scalar('map', made).item();
    };
    return new Tensor(this.type, this.#elements.map(checked as never) as TensorData[T], this.dims);
  }
  /** Elementwise; a tensor operand broadcasts. */
  add(other: Operand<T>): Tensor<T> {
    return this.#with('add', other, (a, b) => a + b);
  }
  /** Elementwise; a tensor operand broadcasts. */
  sub(other: Operand<T>): Tensor<T> {
    return this.#with('sub', other, (a, b) => a - b);
  }
  /** Elementwise, not a matrix product; a tensor operand broadcasts. */
  mul(other: Operand<T>): Tensor<T> {
    return this.#with('mul', other, this.type === 'int32' ? Math.imul : (a, b) => a * b);
  }
  /** Elementwise; a tensor operand broadcasts. Integers are converted to float32 first. */
  div(other: Operand<T>): Tensor<'float32'> {
    const own = this.to('float32');
    const divisor = other instanceof Tensor ? other.to('float32') : own.#scalar('div', other);
    return own.#with('div', divisor, (a, b) => a / b);
  }
  /** -x. */
  neg(): Tensor<T> {
    return this.mul(-1);
  }
  /** min(max(x, min), max); NaN, if a limit is. Integers have whole limits of their type, or none: ±Infinity. */
  clamp(min: number, max: number): Tensor<T> {
    const edge = (value: number, open: number) => {
      if (value === open) return value as TensorElement<T>;
      const element = this.#scalar('clamp', value).item();
      if (this.type === 'float32' || Number(element) === Number(value)) return element;
      throw this.#error('invalid_argument', 'clamp', `${value} is no ${this.type}`);
    };
    const [least, most] = [edge(min, Number.NEGATIVE_INFINITY), edge(max, Number.POSITIVE_INFINITY)];
    return this.map((value) => {
      const raised = value < least || Number.isNaN(least) ? least : value;
      return raised > most || Number.isNaN(most) ? most : raised;
    });
  }
  /** 1 / (1 + exp(-x)). float32 only. */
  sigmoid(): Tensor<'float32'> {
    return this.#float('sigmoid').map((value) => 1 / (1 + Math.exp(-value)));
  }
  /** exp(x - max x) / Σ exp(x - max x) along `dim`. float32 only. */
  softmax(dim = -1): Tensor<'float32'> {
    const own = this.#float('softmax');
    const most = own.data.length > 0 ? own.max(dim, true) : own; // which is empty
    const powers = own.sub(most).map(Math.exp);
    return powers.div(powers.sum(dim, true) as Tensor<'float32'>);
  }
  /** x / max(‖x‖ₚ, 1e-12) along `dim`. float32 only. */
  normalize(p = 2, dim = 1): Tensor<'float32'> {
    const own = this.#float('normalize');
    return own.div(own.norm(p, dim, true).clamp(1e-12, Number.POSITIVE_INFINITY));
  }

  #error(code: ErrorCode, call: string, why: string): ClearformerError {
    return new ClearformerError(
      code,
      `Tensor.${call}: ${why}, dims are [${this.dims.join(', ')}], type is ${this.type}`,
    );
  }

  #float(call: string): Tensor<'float32'> {
    if (this.type === 'float32') return this as unknown as Tensor<'float32'>;
    throw this.#error('dtype_mismatch', call, "needs float32; convert with .to('float32')");
  }

  /** As in torch a scalar has an axis, too, by number. */
  #axis(call: string, dim: number, rank = this.dims.length || 1): number {
    if (Number.isInteger(dim) && dim >= -rank && dim < rank) return dim < 0 ? dim + rank : dim;
    throw this.#error('invalid_argument', call, `there is no axis ${quoted(dim)}`);
  }

  #axes(call: string, dim: Axes, least = 0): number[] {
    if (dim === null) return [...this.dims.keys()];
    const axes = [dim].flat().map((one) => this.#axis(call, one));
    if (axes.length < least || new Set(axes).size < axes.length) {
      throw this.#error('invalid_argument', call, `[${axes.join(', ')}] does not name each axis once`);
    }
    return this.dims.length > 0 ? axes : [];
  }

  /** Reduces each row along the axes `dim` to one number; null, and as in torch an empty list: all axes. */
  #folded<R extends TensorType>(
    call: string,
    type: R,
    dim: Axes,
    keepdim: boolean,
    fold: (row: TensorData[T]) => number | bigint,
  ): Tensor<R> {
    const axes = this.#axes(call, [dim].flat().length > 0 ? dim : null);
    const kept = [...this.dims.keys()].filter((axis) => !axes.includes(axis));
    const { data } = this.permute(...kept, ...axes);
    const dims = kept.map((axis) => this.dims[axis] as number);
    const length = elementCount(axes.map((axis) => this.dims[axis] as number));
    const out = new arrays[type](elementCount(dims)) as TensorData[R];
    for (let row = 0; row < out.length; row++) {
      out[row] = fold(data.subarray(row * length, (row + 1) * length) as TensorData[T]) as number;
    }
    return new Tensor(type, out, keepdim ? this.dims.map((extent, axis) => (axes.includes(axis) ? 1 : extent)) : dims);
  }

  #with(call: string, other: Operand<T>, combine: (a: number, b: number) => number): Tensor<T> {
    const right = other instanceof Tensor ? other : this.#scalar(call, other);
    if (right.type !== this.type) {
      throw this.#error('dtype_mismatch', call, `the other is ${right.type}; convert one with .to('${this.type}')`);
    }
    const both = broadcast({ data: this.#elements, dims: this.dims }, { data: right.#elements, dims: right.dims });
    if (both === null) {
      throw this.#error('shape_mismatch', call, `the other's dims [${right.dims.join(', ')}] do not broadcast to it`);
    }
    const [left, beside] = both.pair as unknown as [Float32Array, Float32Array];
    for (let i = 0; i < left.length; i++) left[i] = combine(left[i] as number, beside[i] as number);
    return new Tensor(this.type, left as unknown as TensorData[T], both.dims);
  }

  #scalar(call: string, value: number | bigint): Tensor<T> {
    const whole = this.type !== 'float32';
    const fits =
      typeof value === 'bigint'
        ? !whole || BigInt.asIntN(this.type === 'int64' ? 64 : 54, value) === value
        : typeof value === 'number' && (!whole || Number.isSafeInteger(value));
    if (!fits) {
      const need = `${textOf(value)} is no ${whole ? "whole number; convert with .to('float32')" : 'number or tensor'}`;
      throw this.#error('dtype_mismatch', call, need);
    }
    return new Tensor(this.type, [value], []);
  }

  /**
   * Copies a part. One argument per axis, from the first: a number selects that index and drops the axis, `[start,
   * end]` selects a range (end excluded, null = from the beginning, to the end), null selects everything. Negative
   * numbers count from the end. An index outside its axis throws `invalid_argument`.
   */
  slice(...parts: (number | readonly [number | null, number | null] | null)[]): Tensor<T> {
    if (parts.length > this.dims.length) {
      throw this.#error('invalid_argument', 'slice', `there are ${parts.length} parts`);
    }
    const ranges = this.dims.map((extent, axis) => rangeOf(parts[axis] ?? null, extent, axis));
    const extents = ranges.map(([start, end]) => end - start);
    const strides = this.stride();
    const first = ranges.reduce((sum, [start], axis) => sum + start * (strides[axis] as number), 0);
    const data = taken(this.#elements, offsets(extents, strides, first));
    const dims = extents.filter((_, axis) => typeof parts[axis] !== 'number');
    return new Tensor(this.type, data, dims);
  }
}

/** Whether a value is a tensor, also one of another copy of this package. */
export function isTensor(value: unknown): value is Tensor {
  const { type, dims } = (value ?? {}) as Tensor;
  return type !== undefined && Array.isArray(dims);
}
