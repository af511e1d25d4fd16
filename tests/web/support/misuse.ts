// Random arguments for the misuse test: mostly valid, sometimes wrong in one of the common ways.

import { Mask, Tensor, type TensorInput } from 'clearformer';
import fc, { type GeneratorValue } from 'fast-check';
import { Invalid, type NaiveMask, type Numbers, need } from './naive.js';

/** An argument and its numbers; none if it is ambiguous. */
export interface Argument {
  input: TensorInput;
  numbers: Numbers | undefined;
}

type Elements = 'halves' | 'flags' | 'biases' | 'lengths' | 'ids';

const product = (dims: readonly number[]) => dims.reduce((all, extent) => all * extent, 1);

function nested({ dims, data }: Numbers): TensorInput {
  if (dims.length === 1) return [...data];
  const width = product(dims.slice(1));
  const rows = Array.from({ length: dims[0] as number }, (_, i) => ({
    dims: dims.slice(1),
    data: data.slice(i * width, (i + 1) * width),
  }));
  return rows.map((row) => nested(row)) as TensorInput;
}

/** Values that no conversion may accept. */
const rubbish: unknown[] = [
  null,
  undefined,
  42,
  'softmax',
  {},
  () => 1,
  Symbol('x'),
  7n,
  [[1], [1, 2]],
  [['1']],
  [[null]],
  [1e39],
  [new Date()],
  { data: [1, 2], dims: [2] },
  { data: new Float64Array(2), dims: [2] },
  { data: new Float32Array(2), dims: 2 },
  { data: new Float32Array(2), dims: [-2] },
  { data: new Float32Array(2), dims: [Number.NaN] },
  { data: new Float32Array(2), dims: ['2'] },
  { dims: [2] },
  { data: new DataView(new ArrayBuffer(8)), dims: [2] },
  Object.create(null),
  new Map(),
  [Symbol('x')],
  [[Object.create(null)]],
  { data: new Float32Array(3), dims: [2, 2] },
  { data: new Uint16Array(2), dims: [2] },
  { data: new Float32Array(0), dims: [65536, 65536] },
];

export class Draw {
  readonly #g: GeneratorValue;
  constructor(g: GeneratorValue) {
    this.#g = g;
  }

  below(count: number): number {
    return this.#g(fc.nat, { max: count - 1 });
  }
  chance(oneIn: number): boolean {
    return this.below(oneIn) === oneIn - 1; // smaller cases are rarer
  }
  of<T>(...choices: T[]): T {
    return choices[this.below(choices.length)] as T;
  }
  /** One of `right`, or occasionally one of `wrong`. */
  either<T>(right: readonly T[], wrong: readonly unknown[]): T {
    return (this.chance(12) ? this.of(...wrong) : this.of(...right)) as T;
  }
  size(): number {
    return this.of(1, 2, 3, 4, 5);
  }

  #element(kind: Elements, limit: number): () => number {
    let state = this.below(2 ** 31 - 1) + 1;
    const next = () => {
      state = (state * 48271) % 2147483647;
      return state;
    };
    if (kind === 'flags') return () => next() % 2;
    if (kind === 'biases') return () => (next() % 4 === 0 ? Number.NEGATIVE_INFINITY : (next() % 9) / 2 - 2);
    if (kind === 'lengths' || kind === 'ids') return () => next() % limit;
    return () => (next() % 13) / 2 - 3; // halves, so that dot products are exact in float32 and ties are exact
  }

  #spoiled(dims: readonly number[]): number[] {
    const wrong = [...dims];
    const axis = this.below(Math.max(wrong.length, 1));
    switch (this.below(6)) {
      case 0:
        return [...wrong, this.size()];
      case 1:
        return [this.size(), ...wrong];
      case 2:
        return wrong.slice(1);
      case 3:
        return wrong.map((extent, i) => (i === axis ? extent + 1 : extent));
      case 4:
        return wrong.map((extent, i) => (i === axis ? this.of(0, 1) : extent));
      default:
        return this.of([65536, 65536, 0], [0, 65536], [1, 1, 1, 1, 1, 1, 1, 1, 1], [], [0]);
    }
  }

  /** float32 numbers (or `kind`) of these dims, in one of the accepted forms. */
  tensor(right: readonly number[], kind: Elements = 'halves', limit = 0): Argument {
    const dims = this.chance(14) ? this.#spoiled(right) : right;
    const element = this.#element(kind, limit);
    const numbers = { dims, data: Array.from({ length: product(dims) }, element) };
    if (this.chance(20)) return { input: this.of(...rubbish) as TensorInput, numbers: undefined };
    if (this.chance(30)) return { input: this.#otherType(numbers, kind), numbers: undefined };
    if (this.chance(40)) return { input: detached(numbers), numbers: numbers.data.length === 0 ? numbers : undefined };
    const whole = kind === 'flags' || kind === 'lengths' || kind === 'ids';
    if (this.chance(2) && dims.length > 0 && dims.length <= 8 && !dims.includes(0))
      return { input: nested(numbers), numbers };
    if (!whole) return { input: new Tensor('float32', Float32Array.from(numbers.data), dims), numbers };
    const data = this.of<Int32Array | Uint8Array | BigInt64Array>(
      Int32Array.from(numbers.data),
      Uint8Array.from(numbers.data),
      BigInt64Array.from(numbers.data.map(BigInt)),
    );
    return { input: { data, dims }, numbers };
  }

  #otherType({ dims, data }: Numbers, kind: Elements): TensorInput {
    const wrong = Array.from(data, (value) => (Number.isFinite(value) ? Math.round(value) : 0));
    if (kind === 'halves' || kind === 'biases') {
      return this.of<TensorInput>(
        new Tensor('int32', Int32Array.from(wrong), dims),
        { data: BigInt64Array.from(wrong.map(BigInt)), dims },
        { data: Uint8Array.from(wrong), dims },
      );
    }
    return this.of<TensorInput>(
      new Tensor('float32', Float32Array.from(data), dims),
      [0.5],
      [Number.NaN],
      [-(2 ** 40)],
      [2n ** 40n],
      [Number.POSITIVE_INFINITY],
      ['1' as never],
    );
  }

  /** A mask for scores of these dims and its parts; undefined if the constructor or the call must reject it. */
  mask(full: readonly number[]): { make: () => Mask | null | undefined; parts: NaiveMask[] | undefined } {
    if (this.chance(20)) {
      const wrong = this.of<unknown>(
        [[true]],
        new Tensor('uint8', Uint8Array.of(1), [1]),
        'causal',
        1,
        { terms: [] },
        () => Mask.causal(),
      );
      return { make: () => wrong as Mask, parts: undefined };
    }
    const count = this.of(0, 0, 1, 1, 2);
    const made = Array.from({ length: count }, () => this.#term(full));
    const parts = made.map(({ part }) => part);
    const make = () =>
      made.map(({ maker }) => maker()).reduce<Mask | null>((all, mask) => all?.and(mask) ?? mask, null);
    return { make, parts: parts.includes(undefined) ? undefined : (parts as NaiveMask[]) };
  }

  #term(full: readonly number[]): { maker: () => Mask; part: NaiveMask | undefined } {
    if (this.chance(4)) {
      const past = this.either([0, 1, 3], [-1, 0.5, Number.NaN, '1', 2 ** 40, null, {}]);
      const part =
        Number.isInteger(past) && past >= 0 && past < 2 ** 31 ? ({ kind: 'causal', past } as const) : undefined;
      return { maker: () => Mask.causal(past), part };
    }
    if (this.chance(4)) {
      const [batch, queries, keys] = [
        full.slice(0, -3).reduce((a, b) => a * b, 1),
        full.at(-2) as number,
        full.at(-1) as number,
      ];
      const { input, numbers } = this.tensor(this.of([batch], [batch, queries]), 'lengths', keys + 2);
      return { maker: () => Mask.valid_lens(input), part: numbers && { kind: 'valid_lens', values: numbers } };
    }
    const kind = this.of('allow', 'ignore', 'additive');
    const from = this.below(full.length);
    const dims = full.slice(from).map((extent) => (this.chance(4) ? 1 : extent));
    const { input, numbers } = this.tensor(dims, kind === 'additive' ? 'biases' : 'flags');
    return { maker: () => Mask[kind](input), part: numbers && { kind, values: numbers } };
  }
}

function detached({ dims, data }: Numbers): TensorInput {
  const tensor = new Tensor('float32', Float32Array.from(data), dims);
  structuredClone(tensor.data.buffer, { transfer: [tensor.data.buffer as ArrayBuffer] });
  return tensor;
}

/** An optional argument, which null and undefined omit. */
export function present(argument: Argument | undefined): Argument | undefined {
  return argument?.input === undefined || argument.input === null ? undefined : argument;
}

/** The numbers of arguments if all are valid; Invalid otherwise. */
export function numbersOf(...given: Argument[]): Numbers[] {
  return given.map(({ numbers }) => {
    if (numbers === undefined) throw new Invalid('every argument means some numbers');
    need(numbers.dims.length <= 8, 'no more than 8 axes');
    return numbers;
  });
}
