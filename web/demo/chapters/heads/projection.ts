// The projections around the heads, read from the checkpoint: one wide matrix product against one per head, and each
// head's contribution to the stream through its rows of W_O.

import { layer_norm, matmul, rms_norm, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import { stacked, transposed } from '../../book/tensors.js';
import { type Weights, weightsOf } from '../../book/weights.js';
import type { Reading } from './reading.js';

type Matrix = Tensor<'float32'>;
export const projections = ['q', 'k', 'v'] as const;
export type Projection = (typeof projections)[number];

interface Linear {
  /** [in, out], the matrix that x is multiplied with. */
  readonly weight: Matrix;
  /** Its name in the checkpoint. */
  readonly name: string;
}

/** A projection of a layer in the checkpoint of each model family. */
function linear(weights: Weights, { stack, layer }: Reading, which: Projection | 'o'): Linear {
  const gpt2 = `transformer.h.${layer}.attn.`;
  if (weights.has(`${gpt2}c_attn.weight`)) {
    if (which === 'o') return { weight: weights.get(`${gpt2}c_proj.weight`), name: `${gpt2}c_proj.weight` };
    const all = weights.get(`${gpt2}c_attn.weight`);
    const width = (all.dims[1] ?? 0) / 3;
    const at = projections.indexOf(which) * width;
    return { weight: all.slice(null, [at, at + width]), name: `${gpt2}c_attn.weight[:, ${at}:${at + width}]` };
  }
  const layers = stack === 'encoder' ? 'model.encoder.layers' : 'model.layers';
  const of = `${layers}.${layer}.self_attn.`;
  const out = weights.has(`${of}out_proj.weight`) ? 'out_proj' : 'o_proj';
  const name = `${of}${which === 'o' ? out : `${which}_proj`}.weight`;
  return { weight: transposed(weights.get(name)), name };
}

export interface Split {
  /** The input with its source expression, [pos, d_model]. */
  readonly input: Matrix;
  readonly inputSource: string;
  readonly weight: Linear;
  /** Heads of this projection, and their size. */
  readonly heads: number;
  readonly width: number;
  readonly combined: Matrix;
  /** One product per head, [pos, d_head], and the same concatenated. */
  readonly alone: readonly Matrix[];
  readonly joined: Matrix;
  readonly difference: Matrix;
  readonly largest: number;
}

/** x W for all heads at once and for each head separately. */
export async function split(book: Book, reading: Reading, which: Projection): Promise<Split> {
  const weights = await weightsOf(reading.given.model);
  const weight = linear(weights, reading, which);
  const { input, inputSource } = await attentionInput(book, reading, weights);
  const heads = which === 'q' ? reading.heads : reading.keyHeads;
  const { width } = reading;
  const combined = await matmul(input, weight.weight);
  const parts = Array.from({ length: heads }, (_, head) =>
    weight.weight.slice(null, [head * width, (head + 1) * width]),
  );
  const alone = await Promise.all(parts.map((part) => matmul(input, part)));
  const joined = sideBySide(alone);
  const difference = minus(combined, joined);
  return {
    ...{ input, inputSource, weight, heads, width, combined, alone, joined, difference },
    largest: difference.data.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
  };
}

/** The input of the projections: the normalised stream in a pre-norm block, else the stream. */
async function attentionInput(
  book: Book,
  { given, stack, layer, from, shown }: Reading,
  weights: Weights,
): Promise<{ input: Matrix; inputSource: string }> {
  const part = [from, from + shown] as const;
  const gain = `model.layers.${layer}.input_layernorm.weight`;
  const block = `${stack}.${layer}`;
  const hook = `${block}.hook_resid_pre`;
  const stream = activation(await book.shelf.pass(given, { names: [hook] }), hook).slice(0, part);
  if (stack === 'encoder') return { input: stream, inputSource: `${hook}[0]` };
  const { cfg } = (await book.shelf.model(given.model)).model;
  const eps = Number(cfg.eps);
  if (weights.has(gain)) {
    const input = await rms_norm(stream, cfg.d_model, { weight: weights.get(gain), eps });
    return { input, inputSource: `rms_norm(${hook}[0])` };
  }
  const of = `transformer.h.${layer}.ln_1.`;
  const affine = { weight: weights.get(`${of}weight`), bias: weights.get(`${of}bias`) };
  return { input: await layer_norm(stream, cfg.d_model, { ...affine, eps }), inputSource: `layer_norm(${hook}[0])` };
}

export interface Mixing {
  readonly weight: Linear;
  /** Each head's contribution to the stream at the chosen token, [head, d_model]. */
  readonly adds: Matrix;
  /** The norm of each contribution. */
  readonly norms: readonly number[];
  /** The largest absolute difference of their sum plus bias from the model's attention output. */
  readonly difference: number;
  readonly stream: Matrix;
}

/** Each head's output times its own rows of W_O. */
export async function mixing(book: Book, reading: Reading): Promise<Mixing> {
  const { given, stack, layer, width, focus, from } = reading;
  const weights = await weightsOf(given.model);
  const weight = linear(weights, reading, 'o');
  const rows = await Promise.all(
    reading.taken.map((z, head) =>
      matmul(z.slice([focus - from, focus - from + 1]), weight.weight.slice([head * width, (head + 1) * width])),
    ),
  );
  const adds = stacked(rows.map(({ data }) => data));
  const before = `${stack}.${layer}.hook_resid_pre`;
  const stream = activation(await book.shelf.pass(given, { names: [before] }), before).slice(0, focus);
  const written = reading.out.slice(focus - from).data;
  const named = weight.name.replace(/weight$/, 'bias');
  const bias = weights.has(named) ? weights.get(named).data : undefined;
  const difference = written.reduce((most, value, column) => {
    const sum = rows.reduce((total, { data }) => total + (data[column] ?? 0), bias?.[column] ?? 0);
    return Math.max(most, Math.abs(value - sum));
  }, 0);
  return { weight, adds, norms: rows.map(({ data }) => norm(data)), difference, stream };
}

const norm = (row: Float32Array): number => Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));

function sideBySide(parts: readonly Matrix[]): Matrix {
  const [rows = 0, width = 0] = parts[0]?.dims ?? [];
  const data = new Float32Array(parts.length * rows * width);
  parts.forEach((part, head) => {
    for (let r = 0; r < rows; r++) {
      data.set(part.data.subarray(r * width, (r + 1) * width), (r * parts.length + head) * width);
    }
  });
  return new Tensor('float32', data, [rows, parts.length * width]);
}

function minus(one: Matrix, other: Matrix): Matrix {
  return new Tensor(
    'float32',
    one.data.map((value, i) => value - (other.data[i] ?? 0)),
    one.dims,
  );
}
