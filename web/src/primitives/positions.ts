// Positional encodings: added to embeddings, applied to queries and keys by rotation, or added to attention scores.

import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, integers, type TensorInput } from '../tensor/tensor_input.js';
import { finite, flagged, plain, sizes, whole } from './arguments.js';
import { compute, run } from './shared_core.js';

type Float = Tensor<'float32'>;

/** Options of the sinusoids. */
export interface SinusoidOptions {
  /** Default 10000. */
  base?: number | undefined;
  /**
   * The layout of sines and cosines: `interleaved` (default: sin, cos, sin, …: the paper, d2l.ai), `halves` (sines,
   * then cosines: Marian), `whisper` (halves whose frequencies reach 1/base). With odd d_model the last sine has no
   * cosine.
   */
  layout?: 'interleaved' | 'halves' | 'whisper' | undefined;
}

function sinusoid(call: string, d_model: number, options: SinusoidOptions) {
  checkOptions(call, options, ['base', 'layout']);
  const { base, layout } = options;
  return {
    ...sizes(call, { d_model }, 1),
    base: base === undefined ? base : finite(call, 'base', base),
    layout,
  };
}

/**
 * E(i, 2j) = sin(i · base^(-2j/d)), E(i, 2j + 1) = cos(i · base^(-2j/d)) (Vaswani et al. 2017, section 3.5), angles in
 * double. Positions, integers [...] (a single number n: 0 … n - 1) -> [..., d_model].
 */
export async function sinusoidal_encoding(
  positions: TensorInput | number,
  d_model: number,
  options: SinusoidOptions = {},
): Promise<Float> {
  const call = 'sinusoidal_encoding';
  const config = sinusoid(call, d_model, options);
  return compute(call, { ...config, positions: positionsOf(`${call}: positions`, positions, d_model) });
}

const mostNumbers = 2 ** 28; // 1 GiB: the table and its copy must fit in WebAssembly's 4 GiB

function expectTable(what: string, ...sides: readonly number[]): void {
  if (!(sides.reduce((product, side) => product * side, 1) > mostNumbers)) return; // of what is not given the core tells
  const message = `${what}: a table [${sides.join(', ')}] has more than ${mostNumbers} numbers`;
  throw new ClearformerError('out_of_memory', message);
}

/** `width`: the number of values per position. */
function positionsOf(what: string, positions: TensorInput | number, width: number) {
  if (typeof positions !== 'number') {
    const given = integers(what, positions);
    expectTable(what, ...given.dims, width);
    return given;
  }
  const count = whole(what, 'their number', positions, 0);
  expectTable(what, count, width);
  return { data: Int32Array.from({ length: count }, (_, i) => i), dims: [count] };
}

/**
 * The matrix M [d_model, d_model] with M E(i) = E(i + delta) for every i: each pair is rotated by
 * [[cos δf, sin δf], [-sin δf, cos δf]]. `invalid_argument` for odd d_model: a sine alone does not determine the
 * shifted value.
 */
export async function shift_matrix(delta: number, d_model: number, options: SinusoidOptions = {}): Promise<Float> {
  const config = sinusoid('shift_matrix', d_model, options);
  expectTable('shift_matrix', d_model, d_model);
  return compute('shift_matrix', { ...config, delta: whole('shift_matrix', 'delta', delta, -(2 ** 31)) });
}

/** The number of distinct encodings in float32 among positions 0 … count - 1. */
export async function distinct_encodings(
  count: number,
  d_model: number,
  options: SinusoidOptions = {},
): Promise<number> {
  const config = sinusoid('distinct_encodings', d_model, options);
  const given = sizes('distinct_encodings', { count });
  expectTable('distinct_encodings', count, d_model);
  return run('distinct_encodings', { ...config, ...given });
}

/** Rows of a learned table [N, d] at positions [...]: [..., d]. `invalid_argument` for a position outside the table. */
export async function learned_encoding(table: TensorInput, positions: TensorInput): Promise<Float> {
  const given = {
    table: floats('learned_encoding: table', table),
    positions: integers('learned_encoding: positions', positions),
  };
  return compute('learned_encoding', given);
}

/** Queries query_offset … query_offset + queries - 1 against keys 0 … keys - 1. */
export interface RelativeSpan {
  queries: number;
  keys: number;
  /** Number of cached positions; default 0. */
  query_offset?: number | undefined;
}

function spanOf(call: string, span: RelativeSpan, more: readonly string[] = []) {
  checkOptions(call, span ?? null, ['queries', 'keys', 'query_offset', ...more]);
  const { queries = -1, keys = -1, query_offset = 0 } = span; // -1 is rejected by name
  return sizes(call, { queries, keys, query_offset });
}

/** The slopes m [num_heads] of ALiBi, for any number of heads (Press et al. 2021, arXiv 2108.12409). */
export async function alibi_slopes(num_heads: number): Promise<Float> {
  const wanted = sizes('alibi_slopes', { num_heads }, 1);
  expectTable('alibi_slopes', num_heads);
  return compute('alibi_slopes', wanted);
}

/** -m(head) · |query position - key position|: [1, num_heads, queries, keys], for `Mask.additive`. */
export async function alibi_bias(num_heads: number, span: RelativeSpan): Promise<Float> {
  const wanted = { ...sizes('alibi_bias', { num_heads }, 1), ...spanOf('alibi_bias', span) };
  expectTable('alibi_bias', num_heads, wanted.queries, wanted.keys);
  return compute('alibi_bias', wanted);
}

/** T5's buckets of relative positions (Raffel et al. 2019, arXiv 1910.10683, section 2.1). */
export interface RelativeBuckets {
  /** Default 32; for a bias, the rows of its table. */
  num_buckets?: number | undefined;
  /** Distances from here on share the last bucket; default 128. */
  max_distance?: number | undefined;
  /** Half of the buckets for keys after the query (default true: encoders); otherwise those share bucket 0. */
  bidirectional?: boolean | undefined;
}

function bucketsOf(call: string, { num_buckets = 32, max_distance = 128, bidirectional = true }: RelativeBuckets) {
  return {
    ...sizes(call, { num_buckets, max_distance }, 1),
    bidirectional: flagged(call, 'bidirectional', bidirectional),
  };
}

const bucketOptions = ['num_buckets', 'max_distance', 'bidirectional'];

/** Buckets, int32 [...], of relative positions [...] (key minus query): one per short distance, then wider ones. */
export async function relative_position_bucket(
  relative_positions: TensorInput,
  options: RelativeBuckets = {},
): Promise<Tensor<'int32'>> {
  const call = 'relative_position_bucket';
  checkOptions(call, options, bucketOptions);
  const given = integers(`${call}: relative_positions`, relative_positions);
  return compute(call, { relative_positions: given, ...bucketsOf(call, options) });
}

/** table[bucket(key - query), head] of a learned table [buckets, head]: [1, head, queries, keys], for `Mask.additive`. */
export async function relative_position_bias(
  table: TensorInput,
  options: RelativeSpan & RelativeBuckets,
): Promise<Float> {
  const call = 'relative_position_bias';
  const span = spanOf(call, options, bucketOptions);
  const given = floats(`${call}: table`, table);
  const { num_buckets = given.dims[0] } = options;
  const buckets = bucketsOf(call, { ...options, num_buckets });
  expectTable(call, given.dims[1] ?? 1, span.queries, span.keys);
  return compute(call, { table: given, ...span, ...buckets });
}

/** Options of `rotary`, with the names of config.json where there are some. */
export interface RotaryOptions {
  /** θ; default 10000. */
  rope_theta?: number | undefined;
  /** transformers 5: { rope_type, rope_theta, factor, … } for linear, dynamic, llama3, yarn, longrope, proportional. */
  rope_parameters?: Readonly<Record<string, unknown>> | undefined;
  /** transformers 4: the same under `type` or `rope_type`, with rope_theta beside it. */
  rope_scaling?: Readonly<Record<string, unknown>> | undefined;
  partial_rotary_factor?: number | undefined;
  /** The model's maximum length; default 2048. */
  max_position_embeddings?: number | undefined;
  /** The number of elements of a head that are rotated, from the first; default all. */
  rotary_dim?: number | undefined;
  /** Pairs (x₂ᵢ, x₂ᵢ₊₁) as in the paper; default: (xᵢ, xᵢ₊ᵣ/₂) as in Hugging Face's checkpoints. */
  interleaved?: boolean | undefined;
}

const configKeys = [
  'rope_theta',
  'rope_parameters',
  'rope_scaling',
  'partial_rotary_factor',
  'max_position_embeddings',
];

/**
 * Rotates each pair of x [batch, head, position, d] by the angle position · θ^(-2i/r), so that the dot product of a
 * query and a key depends on their distance only (Su et al. 2021, arXiv 2104.09864). positions [position] or
 * [batch, position]. Scalings that depend on the length use the largest position plus one.
 */
export async function rotary(x: TensorInput, positions: TensorInput, options: RotaryOptions = {}): Promise<Float> {
  checkOptions('rotary', options, [...configKeys, 'rotary_dim', 'interleaved']);
  const { rotary_dim, interleaved, ...config } = options;
  const given = {
    x: floats('rotary: x', x),
    positions: integers('rotary: positions', positions),
    options: plain('rotary', config),
    ...sizes('rotary', { rotary_dim }),
    interleaved: flagged('rotary', 'interleaved', interleaved),
  };
  return compute('rotary', given);
}

/** Options of `rotary_embedding`: the attributes of the ONNX operator. */
export interface RotaryEmbeddingOptions {
  /** Rows of the caches, [batch, position]. */
  position_ids?: TensorInput | undefined;
  interleaved?: boolean | undefined;
  /** For an x with three axes. */
  num_heads?: number | undefined;
  /** r; default all of d. */
  rotary_embedding_dim?: number | undefined;
}

/**
 * ONNX RotaryEmbedding (opset 23): x [batch, head, position, d] or [batch, position, head · d] rotated by given cosines
 * and sines, [N, r/2] with position_ids, else [batch, position, r/2]. Keeps dims.
 */
export async function rotary_embedding(
  x: TensorInput,
  cos_cache: TensorInput,
  sin_cache: TensorInput,
  options: RotaryEmbeddingOptions = {},
): Promise<Float> {
  const call = 'rotary_embedding';
  checkOptions(call, options, ['position_ids', 'interleaved', 'num_heads', 'rotary_embedding_dim']);
  const { position_ids, interleaved, num_heads, rotary_embedding_dim } = options;
  const given = {
    x: floats(`${call}: x`, x),
    cos_cache: floats(`${call}: cos_cache`, cos_cache),
    sin_cache: floats(`${call}: sin_cache`, sin_cache),
    position_ids: position_ids === undefined ? undefined : integers(`${call}: position_ids`, position_ids),
    interleaved: flagged(call, 'interleaved', interleaved),
    ...sizes(call, { num_heads, rotary_embedding_dim }),
  };
  return compute(call, given);
}
