// The projections around the heads, read from the checkpoint: one wide matrix product against one per head, and each
// head's contribution to the stream through its rows of W_O.

import { matmul, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import { largestDifference, reshaped, stacked, transposed } from '../../book/tensors.js';
import { weightsOf } from '../../book/weights.js';
import { inputHook } from '../head/hooks.js';
import type { Reading } from './reading.js';

type Matrix = Tensor<'float32'>;
export const projections = ['q', 'k', 'v'] as const;
export type Projection = (typeof projections)[number];

interface Linear {
  /** [in, out], the matrix that x is multiplied with. */
  readonly weight: Matrix;
  /** The expression for it, with its name in the checkpoint; of the reader's own model with TransformerLens' name. */
  readonly name: string;
}

/** A projection of a layer in the checkpoint of each family of the book's models, or of the reader's own. */
async function linear(book: Book, { given, stack, layer }: Reading, which: Projection | 'o'): Promise<Linear> {
  if (given.model === 'own') return ownLinear(book, `${stack}.${layer}.attn.W_${which.toUpperCase()}`);
  const weights = await weightsOf(given.model);
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
  return { weight: transposed(weights.get(name)), name: `${name}ᵀ` };
}

/** The heads' matrices of a model of any family as one: W_O [head, d_head, d_model], the others [head, d_model, d_head]. */
async function ownLinear(book: Book, name: string): Promise<Linear> {
  const parts = await (await book.shelf.model('own')).model.parameter(name);
  const [heads = 0, rows = 0, columns = 0] = parts.dims;
  const weight = name.endsWith('_O')
    ? reshaped(parts, [heads * rows, columns])
    : sideBySide(Array.from({ length: heads }, (_, head) => parts.slice(head)));
  return { weight, name };
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
  const weight = await linear(book, reading, which);
  const { input, inputSource } = await attentionInput(book, reading);
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
): Promise<{ input: Matrix; inputSource: string }> {
  const { model } = await book.shelf.model(given.model);
  const names = model.hooks().map(({ name }) => name as string);
  const hook = inputHook(names, `${stack}.${layer}`);
  const read = activation(await book.shelf.pass(given, { names: [hook] }), hook).slice(0, [from, from + shown]);
  if (!hook.includes('.ln1.')) return { input: read, inputSource: `${hook}[0]` };
  const part = (name: string): Promise<Matrix | undefined> =>
    model.parameter(`${stack}.${layer}.${name}`).catch(() => undefined); // a norm may have none
  const [gain, bias] = [await part('ln1.w'), await part('ln1.b')];
  const width = model.cfg.d_model;
  const data = read.data.map((x, i) => x * (gain?.data[i % width] ?? 1) + (bias?.data[i % width] ?? 0));
  const inputSource = `${hook}[0]${gain ? ' * ln1.w' : ''}${bias ? ' + ln1.b' : ''}`;
  return { input: new Tensor('float32', data, read.dims), inputSource };
}

export interface Mixing {
  readonly weight: Linear;
  /** Each head's contribution to the stream at the chosen token, [head, d_model]. */
  readonly adds: Matrix;
  /** The norm of each contribution. */
  readonly norms: readonly number[];
  /** The layer's own term; zeros where it has none. */
  readonly bias: Matrix;
  /** The largest absolute difference of their sum plus bias from the model's attention output. */
  readonly difference: number;
  /** Whether that is rounding, and not a norm or a factor between the sum and the stream. */
  readonly sameSum: boolean;
  readonly stream: Matrix;
}

/** Each head's output times its own rows of W_O. */
export async function mixing(book: Book, reading: Reading): Promise<Mixing> {
  const { given, stack, layer, width, focus, from } = reading;
  const weight = await linear(book, reading, 'o');
  const rows = await Promise.all(
    reading.taken.map((z, head) =>
      matmul(z.slice([focus - from, focus - from + 1]), weight.weight.slice([head * width, (head + 1) * width])),
    ),
  );
  const adds = stacked(rows.map(({ data }) => data));
  const before = `${stack}.${layer}.hook_resid_pre`;
  const stream = activation(await book.shelf.pass(given, { names: [before] }), before).slice(0, focus);
  const written = reading.out.slice(focus - from).data;
  const bias = await (await book.shelf.model(given.model)).model.parameter(`${stack}.${layer}.attn.b_O`);
  const sums = bias.data.map((start, column) => rows.reduce((sum, { data }) => sum + (data[column] ?? 0), start));
  const difference = largestDifference(written, sums);
  const sameSum = difference <= 0.1 * Math.max(...written.map(Math.abs));
  return { weight, adds, norms: rows.map(({ data }) => norm(data)), bias, difference, sameSum, stream };
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
