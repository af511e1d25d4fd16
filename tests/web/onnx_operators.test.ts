// ONNX's Attention (opsets 23 and 24), RotaryEmbedding, LayerNormalization, RMSNormalization, Softmax and Gelu in terms
// of the package's functions. web/examples/onnx.md has the same as a table.

import {
  configure,
  gelu,
  layer_norm,
  Mask,
  matmul,
  nn,
  rms_norm,
  rotary_embedding,
  type ScaledDotProductOptions,
  type ScoreStage,
  scaled_dot_product_attention,
  softmax,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const float = (data: Float32Array, dims: readonly number[]): Float => new Tensor('float32', data, dims);
const product = (dims: readonly number[]) => dims.reduce((all, extent) => all * extent, 1);

/** [batch, T, head · d] -> [batch, head, T, d]: ONNX's interpretation of inputs with three axes. */
function splitHeads(x: Float, heads: number): Float {
  const [batch = 0, length = 0, width = 0] = x.dims;
  const d = width / heads;
  const data = new Float32Array(x.size);
  for (let i = 0; i < x.size; i++) {
    const [feature, head, t, b] = [
      i % d,
      Math.floor(i / d) % heads,
      Math.floor(i / width) % length,
      Math.floor(i / width / length),
    ];
    data[((b * heads + head) * length + t) * d + feature] = x.data[i] as number;
  }
  return float(data, [batch, heads, length, d]);
}

/** [batch, head, T, d] -> [batch, T, head · d]. */
function joinHeads(x: Float): Float {
  const [batch = 0, heads = 0, length = 0, d = 0] = x.dims;
  const data = new Float32Array(x.size);
  for (let i = 0; i < x.size; i++) {
    const [feature, t, head, b] = [
      i % d,
      Math.floor(i / d) % length,
      Math.floor(i / d / length) % heads,
      Math.floor(i / d / length / heads),
    ];
    data[((b * length + t) * heads + head) * d + feature] = x.data[i] as number;
  }
  return float(data, [batch, length, heads * d]);
}

/** K after past_key: [batch, head, past + S, d]. */
function concatenated(past: Float | undefined, x: Float): Float {
  if (past === undefined) return x;
  const [batch = 0, heads = 0, length = 0, d = 0] = x.dims;
  const before = past.dims[2] as number;
  const [old, fresh] = [before * d, length * d];
  const data = new Float32Array(past.size + x.size);
  for (let row = 0; row < batch * heads; row++) {
    data.set(past.data.subarray(row * old, (row + 1) * old), row * (old + fresh));
    data.set(x.data.subarray(row * fresh, (row + 1) * fresh), row * (old + fresh) + old);
  }
  return float(data, [batch, heads, before + length, d]);
}

/** An attn_mask shorter than the keys masks the rest: padded with `value`. */
function filledUp(mask: Tensor, keys: number, value: number): Tensor {
  const last = mask.dims.at(-1) as number;
  const dims = [...mask.dims.slice(0, -1), keys];
  const data = Float32Array.from({ length: product(dims) }, (_, i) =>
    i % keys < last ? Number(mask.data[Math.floor(i / keys) * last + (i % keys)]) : value,
  );
  return float(data, dims);
}

function attnMask(example: Example, keys: number): Mask[] {
  if (example.has('attn_mask'))
    return [Mask.additive(filledUp(example.tensor('attn_mask'), keys, Number.NEGATIVE_INFINITY))];
  if (!example.has('attn_mask_boolean')) return [];
  const { data, dims } = filledUp(example.tensor('attn_mask_boolean'), keys, 0);
  return [Mask.allow({ data: Uint8Array.from(data as Float32Array), dims })];
}

/** is_causal: after past_key, or, with nonpad_kv_seqlen, so that the last query attends to the last valid key. */
function causalMask(example: Example, queries: number, past: number): Mask[] {
  if (example.options.is_causal !== 1) return [];
  if (!example.has('nonpad_kv_seqlen')) return [Mask.causal(past)];
  const lengths = Array.from(example.tensor('nonpad_kv_seqlen').data, Number);
  return [
    Mask.valid_lens(lengths.map((n) => Array.from({ length: queries }, (_, t) => Math.max(0, n - queries + t + 1)))),
  ];
}

function maskOf(example: Example, queries: number, keys: number, past: number): Mask | undefined {
  const masks = [...attnMask(example, keys), ...causalMask(example, queries, past)];
  if (example.has('nonpad_kv_seqlen')) masks.push(Mask.valid_lens(example.tensor('nonpad_kv_seqlen')));
  return masks.reduce<Mask | undefined>((all, mask) => all?.and(mask) ?? mask, undefined);
}

const stages: (ScoreStage | 'weights')[] = ['raw', 'softcapped', 'masked', 'weights'];

interface AttentionResult {
  Y: Float;
  present_key: Float;
  present_value: Float;
  qk_matmul_output: Float;
}

/** Attention of opset 23 and 24. softmax_precision requests a precision: here softmax is always float32. */
async function onnxAttention(example: Example): Promise<AttentionResult> {
  const {
    q_num_heads,
    kv_num_heads,
    scale,
    softcap,
    qk_matmul_output_mode = 0,
  } = example.options as Record<string, number | undefined>;
  const operand = (name: string, heads: number | undefined) => {
    const x = example.tensor(name) as Float;
    return x.dims.length === 3 ? splitHeads(x, heads as number) : x;
  };
  const before = (name: string) => (example.has(name) ? (example.tensor(name) as Float) : undefined);
  const query = operand('Q', q_num_heads);
  const key = concatenated(before('past_key'), operand('K', kv_num_heads));
  const value = concatenated(before('past_value'), operand('V', kv_num_heads));
  const past = before('past_key')?.dims[2] ?? 0;
  const mask = maskOf(example, query.dims[2] as number, key.dims[2] as number, past);
  const options: ScaledDotProductOptions = { attn_mask: mask, scale, softcap, enable_gqa: true };
  const stage = stages[qk_matmul_output_mode] as ScoreStage | 'weights';
  const wanted = stage === 'weights' ? ({ need_weights: true } as const) : ({ need_scores: stage } as const);
  const [output, matrix] = (await scaled_dot_product_attention(query, key, value, { ...options, ...wanted })) as [
    Float,
    Float,
  ];
  const Y = example.tensor('Q').dims.length === 3 ? joinHeads(output) : output;
  return { Y, present_key: key, present_value: value, qk_matmul_output: matrix };
}

/** As in attention.test.ts: a score of n products is off by δ <= γ(n + 4) n q k scale; exp makes it relative. */
function attentionBounds(
  example: Example,
  { present_key, present_value }: AttentionResult,
): Record<keyof AttentionResult, Bound> {
  const [n, keys] = [present_key.dims[3] as number, present_key.dims[2] as number];
  const scale = (example.options.scale as number | undefined) ?? 1 / Math.sqrt(n);
  const added = example.has('attn_mask') ? largest(example.tensor('attn_mask')) : 0;
  const score = gamma(n + 4) * n * largest(example.tensor('Q')) * largest(present_key) * scale + gamma(2) * added;
  const weight = 2 * score + gamma(keys + 24);
  const weights = example.options.qk_matmul_output_mode === 3;
  return {
    Y: { absolute: (weight + gamma(keys)) * largest(present_value) },
    present_key: {},
    present_value: {},
    qk_matmul_output: weights ? { relative: weight } : { absolute: score, relative: gamma(8) },
  };
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(examplesOf('onnx_operators', 'Attention'))('$name', async (example) => {
    const found = await onnxAttention(example);
    const bounds = attentionBounds(example, found);
    for (const name of Object.keys(found) as (keyof AttentionResult)[]) {
      if (!example.has(name)) continue;
      expectWithin(`onnx.Attention ${example.name} ${name}`, found[name], example.tensor(name), bounds[name]);
    }
  });

  it.each(examplesOf('onnx_operators', 'LayerNormalization'))('$name', async (example) => {
    const x = example.tensor('X');
    const { shape, eps } = normArguments(example, x);
    const options = { weight: example.tensor('Scale'), bias: example.has('B') ? example.tensor('B') : null, eps };
    const found = await layer_norm(x, shape, options);
    const absolute = gamma(8) * largest(example.tensor('Y')) + gamma(8) * (options.bias ? largest(options.bias) : 0);
    expectWithin(`onnx.LayerNormalization ${example.name}`, found, example.tensor('Y'), { absolute });
    if (example.has('Mean')) await expectStatistics(example, x, shape, eps);
  });

  it.each(examplesOf('onnx_operators', 'RMSNormalization'))('$name', async (example) => {
    const x = example.tensor('X');
    const { shape, eps } = normArguments(example, x);
    const found = await rms_norm(x, shape, { weight: broadcast(example.tensor('scale') as Float, shape), eps });
    expectWithin(`onnx.RMSNormalization ${example.name}`, found, example.tensor('Y'), { relative: gamma(5) });
  });

  it.each(examplesOf('onnx_operators', 'RotaryEmbedding'))('$name', async (example) => {
    const { interleaved, num_heads, rotary_embedding_dim } = example.options as Record<string, number | undefined>;
    const position_ids = example.has('position_ids') ? example.tensor('position_ids') : undefined;
    const options = { position_ids, interleaved: interleaved === 1, num_heads, rotary_embedding_dim };
    const [x, cosines, sines] = [example.tensor('X'), example.tensor('cos_cache'), example.tensor('sin_cache')];
    const found = await rotary_embedding(x, cosines, sines, options);
    // Two products and their sum.
    const bound = { absolute: gamma(2) * 2 * largest(x) * Math.max(largest(cosines), largest(sines)) };
    expectWithin(`onnx.RotaryEmbedding ${example.name}`, found, example.tensor('Y'), bound);
  });

  it.each(examplesOf('onnx_operators', 'Softmax'))('$name', async (example) => {
    const x = example.tensor('input');
    const axis = (example.options.axis as number | undefined) ?? -1;
    const relative = gamma(2 * (2 * largest(x) + 4) + (x.dims.at(axis) as number) + 2);
    expectWithin(`onnx.Softmax ${example.name}`, await softmax(x, axis), example.tensor('Y'), { relative });
  });

  it.each(examplesOf('onnx_operators', 'Gelu'))('$name', async (example) => {
    const x = example.tensor('X') as Float;
    const found = await gelu(x, { approximate: example.options.approximate as 'none' | 'tanh' | undefined });
    const absolute = (index: number) => gamma(3) * Math.abs(x.data[index] as number);
    expectWithin(`onnx.Gelu ${example.name}`, found, example.tensor('Y'), { absolute, relative: gamma(8) });
  });
});

/**
 * axis: the first of the normalised ones, negative from the end. stash_type requests float32 inside, which is exceeded.
 */
function normArguments({ options }: Example, x: Tensor): { shape: number[]; eps: number } {
  const { axis = -1, epsilon = 1e-5 } = options as { axis?: number; epsilon?: number };
  return { shape: x.dims.slice(axis), eps: epsilon };
}

/** ONNX's scale may have fewer axes than the normalised ones. */
function broadcast(scale: Float, shape: readonly number[]): Float {
  const data = Float32Array.from({ length: product(shape) }, (_, i) => scale.data[i % scale.size] as number);
  return float(data, shape);
}

/** Mean as a product with a column of 1/n; InvStdDev from LayerNorm's divisor. */
async function expectStatistics(example: Example, x: Tensor, shape: number[], eps: number): Promise<void> {
  const width = product(shape);
  const rows = x.size / width;
  const column = Array.from({ length: width }, () => [1 / width]);
  const mean = await matmul(float(x.data as Float32Array, [rows, width]), column);
  const [, cache] = await new nn.LayerNorm(shape, { eps, elementwise_affine: false }).forward(x, {
    names: ['hook_scale'],
  });
  const scale = cache.hook_scale as Float;
  const dims = example.tensor('Mean').dims;
  const absolute = gamma(width + 1) * largest(x);
  expectWithin(`onnx.LayerNormalization ${example.name} Mean`, float(mean.data, dims), example.tensor('Mean'), {
    absolute,
  });
  const inverse = float(
    scale.data.map((value) => 1 / value),
    dims,
  );
  expectWithin(`onnx.LayerNormalization ${example.name} InvStdDev`, inverse, example.tensor('InvStdDev'), {
    relative: gamma(6),
  });
}
