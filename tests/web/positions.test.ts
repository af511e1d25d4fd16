// Positions of every kind against their references: sinusoids, shifts, ALiBi, T5's buckets, learned and rotary ones.

import {
  alibi_bias,
  alibi_slopes,
  configure,
  distinct_encodings,
  learned_encoding,
  type RelativeBuckets,
  type RotaryOptions,
  relative_position_bias,
  relative_position_bucket,
  rotary,
  rotary_embedding,
  type SinusoidOptions,
  shift_matrix,
  sinusoidal_encoding,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const float = (data: Float32Array, dims: readonly number[]): Float => new Tensor('float32', data, dims);
const numbers = (tensor: Tensor) => Array.from(tensor.data as ArrayLike<number | bigint>, Number);

/** Angles are in double, off by less than 1e-10 up to position 100,000; the results are rounded once. */
const angleBound: Bound = { absolute: 1e-10, relative: gamma(2) };

function sinusoidOf({ options }: Example): [number, SinusoidOptions] {
  const { num_hiddens, base, layout } = options as unknown as { num_hiddens: number } & SinusoidOptions;
  return [num_hiddens, { base, layout }];
}

/** Cosine, two products, their sum: γ(4) m (|a| + |b|), m the attention factor, and the angle's error. */
function rotationBound(x: Tensor, factor = 1): Bound {
  return { absolute: (gamma(4) + 1e-10) * 2 * factor * largest(x) };
}

/** transformers' default length. */
function lengthOf({ options }: Example, positions: number[]): number {
  const { seq_len, rope_parameters } = options as { seq_len: number | null; rope_parameters: Record<string, unknown> };
  if (seq_len !== null) return seq_len;
  const longest = Math.max(...positions) + 1;
  return rope_parameters.rope_type === 'longrope'
    ? (rope_parameters.original_max_position_embeddings as number)
    : longest;
}

/** Rows of x [1, head, position, d] at these indices of the position axis, and zeros for -1. */
function rowsOf(x: Float, indices: readonly number[]): Float {
  const [, heads = 0, length = 0, d = 0] = x.dims;
  const data = new Float32Array(heads * indices.length * d);
  for (let head = 0; head < heads; head++) {
    indices.forEach((index, i) => {
      const from = (head * length + index) * d;
      if (index >= 0) data.set(x.data.subarray(from, from + d), (head * indices.length + i) * d);
    });
  }
  return float(data, [1, heads, indices.length, d]);
}

/** dynamic and longrope depend on the length: a last position sets it here, and positions beyond it are dropped. */
async function scaled(example: Example): Promise<void> {
  const { rope_parameters, max_position_embeddings } = example.options as RotaryOptions;
  const positions = numbers(example.tensor('positions'));
  const length = lengthOf(example, positions);
  const within = positions.flatMap((position, i) => (position < length ? [i] : []));
  const asked = [...within.map((i) => positions[i] as number), length - 1];
  const factor = example.tensor('attention_factor').item() as number;
  for (const name of ['query', 'key']) {
    const x = example.tensor(name) as Float;
    const turned = await rotary(rowsOf(x, [...within, -1]), asked, { rope_parameters, max_position_embeddings });
    const found = rowsOf(
      turned,
      within.map((_, i) => i),
    );
    const wanted = rowsOf(example.tensor(`rotated_${name}`) as Float, within);
    expectWithin(`rotary ${example.name} ${name}`, found, wanted, rotationBound(x, factor));
  }
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(examplesOf('positions', 'sinusoidal'))('$name', async (example) => {
    const found = await sinusoidal_encoding(example.tensor('positions'), ...sinusoidOf(example));
    expectWithin(`sinusoidal ${example.name}`, found, example.tensor('table'), angleBound);
  });

  it.each(examplesOf('positions', 'shift_matrix'))('$name', async (example) => {
    const matrix = await shift_matrix(example.options.delta as number, ...sinusoidOf(example));
    expectWithin(`shift_matrix ${example.name}`, matrix, example.tensor('matrix'), angleBound);
  });

  it.each(examplesOf('positions', 'distinct_encodings'))('$name', async (example) => {
    const { n } = example.options as { n: number };
    expect(await distinct_encodings(n, ...sinusoidOf(example))).toBe(example.property('distinct'));
  });

  it.each(examplesOf('positions', 'alibi'))('$name', async (example) => {
    const { num_heads, bias_square, bias_cached } = example.options as { num_heads: number } & Record<
      string,
      [number, number]
    >;
    const slopes = await alibi_slopes(num_heads);
    expectWithin(`alibi ${example.name}`, slopes, example.tensor('slopes'), { relative: gamma(1) });
    for (const [name, [queries, keys]] of Object.entries({ bias_square, bias_cached }) as [
      string,
      [number, number],
    ][]) {
      const bias = await alibi_bias(num_heads, { queries, keys, query_offset: keys - queries });
      expectWithin(`alibi ${example.name} ${name}`, bias.slice(0), example.tensor(name), { relative: gamma(2) });
    }
  });

  it.each(examplesOf('positions', 'relative_position_bucket'))('$name', async (example) => {
    const found = await relative_position_bucket(
      example.tensor('relative_position'),
      example.options as RelativeBuckets,
    );
    expect(numbers(found)).toEqual(numbers(example.tensor('bucket')));
  });

  it.each(examplesOf('positions', 'relative_position_bias'))('$name', async (example) => {
    const { query_length, key_length, query_offset, ...buckets } = example.options as Record<string, number>;
    const span = { queries: query_length as number, keys: key_length as number, query_offset };
    const found = await relative_position_bias(example.tensor('table'), { ...span, ...(buckets as RelativeBuckets) });
    expect([found.dims, found.data]).toEqual([example.tensor('bias').dims, example.tensor('bias').data]);
  });

  it('a bias has as many buckets as its table unless another number is said', async () => {
    const bias = (num_buckets?: number) =>
      relative_position_bias([[1], [2], [3], [4]], { queries: 1, keys: 2, num_buckets });
    expect(await bias(undefined)).toEqual(await bias(4));
  });

  it.each(examplesOf('positions', 'learned'))('$name', async (example) => {
    const found = await learned_encoding(example.tensor('table'), example.tensor('positions'));
    expect([found.dims, found.data]).toEqual([example.tensor('embedding').dims, example.tensor('embedding').data]);
  });

  it.each(examplesOf('rotary', 'rotary'))('$name', async (example) => {
    const { layout, rotary_dim, base } = example.options as { layout: string; rotary_dim: number; base: number };
    const interleaved = layout === 'interleaved';
    const x = example.tensor('x');
    const found = await rotary(x, example.tensor('positions'), { rope_theta: base, rotary_dim, interleaved });
    expectWithin(`rotary ${example.name}`, found, example.tensor('output'), rotationBound(x));
    const [cosines, sines] = [example.tensor('cos'), example.tensor('sin')].map((table) =>
      float(
        table.data as Float32Array,
        table.dims.filter((_, axis) => axis !== 1),
      ),
    ) as [Float, Float];
    const given = await rotary_embedding(x, cosines, sines, { interleaved, rotary_embedding_dim: rotary_dim });
    expectWithin(`rotary ${example.name} by tables`, given, example.tensor('output'), rotationBound(x));
  });

  it.each(examplesOf('rotary', 'rope_scaling'))('$name', scaled);

  it.each(examplesOf('rotary', 'rope_module'))('$name', async (example) => {
    const { rope_parameters, max_position_embeddings, head_dim } = example.options as unknown as RotaryOptions & {
      head_dim: number;
    };
    const positions = example.tensor('positions');
    // The pair (1, 0) is rotated to (m cos, m sin).
    const ones = Float32Array.from({ length: positions.size * head_dim }, (_, i) =>
      i % head_dim < head_dim / 2 ? 1 : 0,
    );
    const x = float(ones, [1, 1, positions.size, head_dim]);
    const turned = await rotary(x, positions, { rope_parameters, max_position_embeddings });
    const bound = rotationBound(float(Float32Array.of(largest(example.tensor('cos'))), []));
    expectWithin(
      `rotary ${example.name} cos`,
      turned.slice(0, null, null, [0, head_dim / 2]),
      example.tensor('cos'),
      bound,
    );
    expectWithin(
      `rotary ${example.name} sin`,
      turned.slice(0, null, null, [head_dim / 2, null]),
      example.tensor('sin'),
      bound,
    );
  });
});

describe('positions', () => {
  it('may be given by their number', async () => {
    const [counted, listed] = [await sinusoidal_encoding(3, 5), await sinusoidal_encoding([0, 1, 2], 5)];
    expect([counted.dims, counted.data]).toEqual([[3, 5], listed.data]);
  });

  it('that cannot be are refused by name', async () => {
    for (const [call, code, part] of [
      [() => sinusoidal_encoding(-1, 4), 'invalid_argument', 'positions'],
      [() => sinusoidal_encoding([0.5], 4), 'dtype_mismatch', '0.5'],
      [() => sinusoidal_encoding(2, 0), 'invalid_argument', 'd_model'],
      [() => sinusoidal_encoding(2, 4, { base: 0 }), 'invalid_argument', 'base'],
      [() => sinusoidal_encoding(2, 4, { layout: 'circle' as 'halves' }), 'invalid_argument', 'circle'],
      [() => sinusoidal_encoding(2, undefined as never), 'invalid_argument', 'd_model'],
      [() => shift_matrix(1, undefined as never), 'invalid_argument', 'd_model'],
      [() => distinct_encodings(undefined as never, 4), 'invalid_argument', 'count'],
      [() => alibi_slopes(undefined as never), 'invalid_argument', 'num_heads'],
      [() => shift_matrix(1, 3), 'invalid_argument', 'shift'],
      [() => shift_matrix(0.5, 4), 'invalid_argument', 'delta'],
      [() => learned_encoding([[1, 2]], [1]), 'invalid_argument', '1'],
      [() => alibi_bias(2, { queries: 2 } as never), 'invalid_argument', 'keys'],
      [() => alibi_bias(2, { queries: 2 ** 20, keys: 2 ** 20 }), 'out_of_memory', '1048576'],
      [() => relative_position_bucket([1], { num_buckets: 1.5 }), 'invalid_argument', 'num_buckets'],
      [
        () => relative_position_bias([[1], [2]], { queries: 1, keys: 1, bidirectional: 1 as never }),
        'invalid_argument',
        'bidirectional',
      ],
      [() => rotary([[[[1, 2, 3]]]], [0]), 'invalid_argument', 'rotary'],
      [() => rotary([[[[1, 2]]]], [0, 1]), 'shape_mismatch', 'rotary'],
      [() => rotary([[[[1, 2]]]], [0], { rope_parameters: { rope_type: 'spiral' } }), 'unsupported', 'spiral'],
      [() => rotary([[[[1, 2]]]], [0], { rope_theta: Number.NaN }), 'invalid_argument', 'rope_theta'],
      [() => rotary([[[[1, 2]]]], [0], { rope_scaling: { factor: 2n } }), 'invalid_argument', 'factor'],
      [() => rotary_embedding([[[[1, 2]]]], [[[1, 1]]], [[[0, 0]]]), 'shape_mismatch', 'cos_cache'],
      [() => rotary_embedding([[[[1, 2]]]], [[1]], [[0]], { position_ids: [[1]] }), 'invalid_argument', '1'],
    ] as const) {
      const failure = await failureOf(call as () => unknown);
      expect([failure.message, failure.code]).toEqual([expect.stringContaining(part), code]);
    }
  });
});
