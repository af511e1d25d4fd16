// A fully masked row, by library; multiplying by the mask; the same mask in four libraries' conventions.

import {
  attention_pooling,
  bmm,
  Mask,
  masked_softmax,
  matmul,
  scaled_dot_product_attention,
  softmax,
  Tensor,
} from 'clearformer';
import { transposed } from '../../book/tensors.js';
import type { Float } from '../head/head_numbers.js';
import { type Allowed, flags, type MaskData } from './mask_numbers.js';

const row = (tensor: Float, at: number): Float => tensor.slice([at, at + 1]);
const column = (values: readonly number[]): Float =>
  new Tensor('float32', Float32Array.from(values), [values.length, 1]);

/** The weights and the output of one query, as three libraries compute them. */
export interface EmptyRows {
  readonly row: number;
  readonly zeros: readonly [weights: Float, output: Float];
  readonly nan: readonly [weights: Float, output: Float];
  readonly uniform: readonly [weights: Float, output: Float];
}

export async function emptyRows({ q, k, v, mask, masked, weights, output, sentence }: MaskData): Promise<EmptyRows> {
  const at = sentence.focus;
  const scores = masked.slice(at);
  const highest = scores.data.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  // score − max as torch.nn.MultiheadAttention computes it: -∞ - (-∞) is NaN.
  const pairs = new Tensor('float32', Float32Array.from(Array.from(scores.data, (score) => [score, highest]).flat()), [
    scores.data.length,
    2,
  ]);
  const nan = await softmax(transposed(await matmul(pairs, column([1, -1]))));
  const [uniformOutput, uniform] = await attention_pooling(q, k, v, { mask, empty_row: 'uniform', need_weights: true });
  return {
    row: at,
    zeros: [row(weights, at), row(output, at)],
    nan: [nan, await matmul(nan, v)],
    uniform: [row(uniform, at), row(uniformOutput, at)],
  };
}

/** M ⊙ S, with M of ones and −∞, compared with S + M, and the softmax of both. */
export interface Mistake {
  readonly product: Float;
  readonly productWeights: Float;
  readonly sum: Float;
  readonly sumWeights: Float;
  /** Queries with NaN weights or with weight on masked keys. */
  readonly broken: number;
}

export async function mistake({ scores, masked, mask, allowed }: MaskData): Promise<Mistake> {
  const n = allowed.length;
  const ones = Float32Array.from(allowed.flat(), (sees) => (sees ? 1 : Number.NEGATIVE_INFINITY));
  const singles = [n * n, 1, 1];
  const each = await bmm(new Tensor('float32', ones, singles), new Tensor('float32', scores.data, singles));
  const product = new Tensor('float32', each.data, [n, n]);
  const batch = new Tensor('float32', scores.data, [1, n, n]);
  const productWeights = await softmax(product);
  const sumWeights = (await masked_softmax(batch, mask)).slice(0);
  const wrong = (query: number): boolean =>
    Array.from(productWeights.slice(query).data).some(
      (share, key) => Number.isNaN(share) || (share > 0 && !allowed[query]?.[key]),
    );
  return {
    product,
    productWeights,
    sum: masked,
    sumWeights,
    broken: allowed.filter((_, query) => wrong(query)).length,
  };
}

export type Library = 'sdpa' | 'mha' | 'hf' | 'd2l';

/** The mask in a library's convention; undefined if it can't be expressed. */
export interface Spelling {
  readonly library: Library;
  readonly argument: Tensor<'uint8' | 'int32'> | undefined;
  readonly call: string;
  /** The largest absolute difference of the weights from those of the painted mask. */
  readonly apart: number | undefined;
}

export async function spellings({ q, k, v, weights, allowed }: MaskData): Promise<Spelling[]> {
  const made = [
    { library: 'sdpa', argument: flags(allowed, true), maker: Mask.allow, call: 'Mask.allow(attn_mask)' },
    { library: 'mha', argument: flags(allowed, false), maker: Mask.ignore, call: 'Mask.ignore(attn_mask)' },
    { library: 'hf', argument: keysOf(allowed), maker: Mask.allow, call: 'Mask.allow(attention_mask)' },
    { library: 'd2l', argument: lengthsOf(allowed), maker: Mask.valid_lens, call: 'Mask.valid_lens(valid_lens)' },
  ] as const;
  return Promise.all(
    made.map(async ({ library, argument, maker, call }) => {
      if (argument === undefined) return { library, argument, call, apart: undefined };
      const [, own] = await scaled_dot_product_attention(q, k, v, { mask: maker(argument), need_weights: true });
      const apart = own.data.reduce((far, share, i) => Math.max(far, Math.abs(share - (weights.data[i] ?? 0))), 0);
      return { library, argument, call, apart };
    }),
  );
}

/** One value per key, if the mask is the same for all queries. */
function keysOf(allowed: Allowed): Tensor<'uint8'> | undefined {
  const [first = []] = allowed;
  const same = allowed.every((seen) => seen.every((sees, key) => sees === first[key]));
  return same ? new Tensor('uint8', Uint8Array.from(first, Number), [1, first.length]) : undefined;
}

/** The number of allowed keys of each query, if these are the first ones. */
function lengthsOf(allowed: Allowed): Tensor<'int32'> | undefined {
  const counts = allowed.map((seen) => seen.filter(Boolean).length);
  const leading = allowed.every((seen, query) => seen.every((sees, key) => sees === key < (counts[query] ?? 0)));
  return leading ? new Tensor('int32', Int32Array.from(counts), [1, counts.length]) : undefined;
}
