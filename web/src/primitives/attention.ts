// Attention pooling: a weighted mean of the values, with weights from a score of the query and each key.

import type { EmptyRow, KeptScores, TensorIn } from '../runtime/border.js';
import type { PoolingArguments } from '../runtime/primitive_calls.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions, expectKnown } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import { finite, flagged } from './arguments.js';
import { type Mask, termsOf } from './mask.js';
import { run } from './shared_core.js';

/** Stages of the scores: scaled; then softcapped (if there is a softcap); then with the mask added. */
export type ScoreStage = 'raw' | 'softcapped' | 'masked';

/** Which matrix [..., query, key] to return with the output; at most one of the two. */
export interface WantedScores<W extends boolean | undefined, S extends ScoreStage | undefined> {
  /** The weights: rows sum to 1, or are 0 for a fully masked query. */
  need_weights?: W;
  /** The scores at a stage before softmax. */
  need_scores?: S;
}

/** The output, or with `need_weights` or `need_scores` the output and that matrix. */
export type Pooled<W, S> = W extends true
  ? [Tensor<'float32'>, Tensor<'float32'>]
  : S extends ScoreStage
    ? [Tensor<'float32'>, Tensor<'float32'>]
    : Tensor<'float32'>;

/** Options common to all scoring functions. */
export interface PoolingOptions {
  mask?: Mask | null | undefined;
  /** Causal: query t attends to keys 0 … t, in addition to `mask`. With a cache of n keys use `Mask.causal(n)`. */
  is_causal?: boolean | undefined;
  /** Scores become softcap · tanh(score / softcap), before the mask; 0 (default): off. */
  softcap?: number | undefined;
  /**
   * Grouped-query attention: the number of query heads may be a multiple of that of key heads. Of three axes the first
   * is then that of the heads.
   */
  enable_gqa?: boolean | undefined;
  /** The result for a fully masked query: zeros (default), or equal weights as in d2l.ai. */
  empty_row?: EmptyRow | undefined;
}

/** Options of `scaled_dot_product_attention`. */
export interface ScaledDotProductOptions extends PoolingOptions {
  /** torch's name for `mask`. */
  attn_mask?: Mask | null | undefined;
  /** Default 1/√d. */
  scale?: number | undefined;
}

/**
 * softmax(q kᵀ · scale + mask) v (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1).
 *
 * query [..., head, T, d], key [..., head, S, d], value [..., head, S, d_v] -> [..., head, T, d_v]; the axes before T
 * and S broadcast and may be absent. Rejects with `shape_mismatch`, naming the operation, the rule and the shapes.
 */
export async function scaled_dot_product_attention<
  W extends boolean | undefined = undefined,
  S extends ScoreStage | undefined = undefined,
>(
  query: TensorInput,
  key: TensorInput,
  value: TensorInput,
  options: ScaledDotProductOptions & WantedScores<W, S> = {},
): Promise<Pooled<W, S>> {
  const call = 'scaled_dot_product_attention';
  checkOptions(call, options, [...common, 'attn_mask', 'scale']);
  const { attn_mask, ...rest } = options;
  if (attn_mask && rest.mask)
    throw refused(call, 'mask and attn_mask are two names for one option; combine masks with and()');
  const given = { ...rest, mask: rest.mask ?? attn_mask };
  return pool(call, { query, key, value }, given, 'scaled_dot') as Promise<Pooled<W, S>>;
}

/** Parameters of additive scoring, h = hidden size. */
export interface AdditiveScore {
  /** [h, query size] and [h, key size]. */
  W_q: TensorInput;
  W_k: TensorInput;
  /** [h] or [1, h]. */
  w_v: TensorInput;
}

/** Options of `additive_attention`. */
export interface AdditiveOptions extends PoolingOptions, AdditiveScore {
  /** Multiplies the scores; default 1. */
  scale?: number | undefined;
}

/**
 * Attention pooling with score(q, k) = w_v · tanh(W_q q + W_k k), for queries and keys of any two sizes (Bahdanau et al.
 * 2014, arXiv 1409.0473). Dims and errors as `scaled_dot_product_attention`.
 */
export async function additive_attention<
  W extends boolean | undefined = undefined,
  S extends ScoreStage | undefined = undefined,
>(
  query: TensorInput,
  key: TensorInput,
  value: TensorInput,
  options: AdditiveOptions & WantedScores<W, S>,
): Promise<Pooled<W, S>> {
  const call = 'additive_attention';
  checkOptions(call, options ?? null, [...common, ...scores.additive]);
  return pool(call, { query, key, value }, options, 'additive') as Promise<Pooled<W, S>>;
}

/** The scoring function of `attention_pooling` and its parameters. */
export type ScoringFunction =
  /** q · k / √d, or q · k · scale. */
  | { score?: 'scaled_dot' | undefined; scale?: number | undefined }
  /** q · k (· scale). */
  | { score: 'dot'; scale?: number | undefined }
  /** qᵀ M k (· scale), M [query size, key size] (Luong et al. 2015, arXiv 1508.04025). */
  | { score: 'general'; M: TensorInput; scale?: number | undefined }
  /** w_v · tanh(W_q q + W_k k) (· scale). */
  | ({ score: 'additive'; scale?: number | undefined } & AdditiveScore)
  /** -|q - k|² / (2 σ²), σ = `sigma` (default 1): the Gaussian kernel of Nadaraya 1964 and Watson 1964. */
  | { score: 'distance'; sigma?: number | undefined };

/** Options of `attention_pooling`. */
export type AttentionPoolingOptions = PoolingOptions & ScoringFunction;

/** softmax(score(q, k) + mask) v with any scoring function. Dims and errors as `scaled_dot_product_attention`. */
export async function attention_pooling<
  W extends boolean | undefined = undefined,
  S extends ScoreStage | undefined = undefined,
>(
  queries: TensorInput,
  keys: TensorInput,
  values: TensorInput,
  options: AttentionPoolingOptions & WantedScores<W, S> = {},
): Promise<Pooled<W, S>> {
  const call = 'attention_pooling';
  const score = scoreOf(call, options, common);
  return pool(call, { query: queries, key: keys, value: values }, options, score) as Promise<Pooled<W, S>>;
}

/** Options of `attention_pooling_backward`. */
export type AttentionPoolingBackwardOptions = AttentionPoolingOptions & {
  /** The gradient of the output, of its dims. */
  grad_output: TensorInput;
};

/** The gradients of an attention pooling's operands, each of its dims, and of the scoring function's tensors. */
export interface AttentionPoolingGradients {
  query: Tensor<'float32'>;
  key: Tensor<'float32'>;
  value: Tensor<'float32'>;
  /** Of `score: 'general'`. */
  M?: Tensor<'float32'> | undefined;
  /** Of `score: 'additive'`. */
  W_q?: Tensor<'float32'> | undefined;
  W_k?: Tensor<'float32'> | undefined;
  w_v?: Tensor<'float32'> | undefined;
}

/**
 * The gradients of Σ grad_output ⊙ attention_pooling(queries, keys, values, options), as torch's
 * `output.backward(grad_output)` gives them; also those of `scaled_dot_product_attention`, which is the default score, and
 * of `additive_attention`. Where operands broadcast, their gradients are summed. Memory is linear in the number of
 * positions. Rejects as `attention_pooling`, and with `shape_mismatch` for a `grad_output` of other dims than the output.
 */
export async function attention_pooling_backward(
  queries: TensorInput,
  keys: TensorInput,
  values: TensorInput,
  options: AttentionPoolingBackwardOptions,
): Promise<AttentionPoolingGradients> {
  const call = 'attention_pooling_backward';
  const { grad_output, ...rest } = { ...options };
  const given = pooling(call, { query: queries, key: keys, value: values }, rest, scoreOf(call, rest, backwards));
  const found = await run('attention_pooling_backward', {
    ...given,
    grad_output: floats(`${call}: grad_output`, grad_output),
  });
  const tensors = Object.entries(found).map(([name, one]) => [name, toTensor(one)]);
  return Object.fromEntries(tensors) as AttentionPoolingGradients;
}

/** The scoring function that is asked for, after validating all options. */
function scoreOf(call: string, options: object, known: readonly string[]): Score {
  const { score = 'scaled_dot' } = { ...options } as { score?: Score }; // null is rejected below
  expectKnown(call, 'score', score, Object.keys(scores));
  checkOptions(`${call} with score '${score}'`, options, [...known, 'score', ...scores[score]]);
  return score;
}

const backwards = ['mask', 'is_causal', 'softcap', 'enable_gqa', 'empty_row'];
const common = [...backwards, 'need_weights', 'need_scores'];
/** The scoring functions of the core's scoring.cpp with their parameters. */
const scores = {
  scaled_dot: ['scale'],
  dot: ['scale'],
  general: ['M', 'scale'],
  additive: ['W_q', 'W_k', 'w_v', 'scale'],
  distance: ['sigma'],
} as const;
type Score = keyof typeof scores;
/** The parameters that are numbers, for which the core has defaults; all others are required tensors. */
const numbers: readonly string[] = ['scale', 'sigma'];
const stages = { raw: 'raw_scores', softcapped: 'softcapped_scores', masked: 'masked_scores' } as const;

type Operands = Record<'query' | 'key' | 'value', TensorInput>;
interface Settings extends PoolingOptions, WantedScores<boolean | undefined, ScoreStage | undefined> {}

async function pool(
  call: string,
  operands: Operands,
  options: Settings,
  score: Score,
): Promise<Tensor | [Tensor, Tensor]> {
  const given = pooling(call, operands, options, score);
  const { output, kept } = await run('attention_pooling', { ...given, keep: keptScores(call, options) });
  return kept === undefined ? toTensor(output) : [toTensor(output), toTensor(kept)];
}

function pooling(call: string, operands: Operands, options: PoolingOptions, score: Score): PoolingArguments {
  const { softcap } = options;
  const mask = [...termsOf(`${call}: mask`, options.mask)];
  if (flagged(call, 'is_causal', options.is_causal)) mask.push({ kind: 'causal', past: 0 });
  return {
    query: floats(`${call}: query`, operands.query),
    key: floats(`${call}: key`, operands.key),
    value: floats(`${call}: value`, operands.value),
    mask,
    enable_gqa: flagged(call, 'enable_gqa', options.enable_gqa),
    empty_row: options.empty_row,
    keep: undefined,
    softcap: softcap === undefined ? undefined : finite(call, 'softcap', softcap),
    score,
    parameters: parametersOf(call, score, options),
  };
}

function parametersOf(call: string, score: Score, options: object): Record<string, TensorIn> {
  const given = options as Record<string, unknown>;
  const found: Record<string, TensorIn> = {};
  for (const name of scores[score]) {
    const value = given[name];
    if (!numbers.includes(name)) found[name] = floats(`${call}: ${name}`, value as TensorInput);
    else if (value !== undefined) found[name] = { data: Float32Array.of(finite(call, name, value)), dims: [] };
  }
  return found;
}

function keptScores(call: string, { need_weights, need_scores }: Settings): KeptScores | undefined {
  const weights = flagged(call, 'need_weights', need_weights);
  if (need_scores === undefined) return weights ? 'weights' : undefined;
  if (weights) throw refused(call, 'one call gives need_weights or need_scores, not both');
  if (Object.hasOwn(stages, need_scores)) return stages[need_scores];
  throw refused(call, `need_scores is ${textOf(need_scores)} (known: ${Object.keys(stages).join(', ')})`);
}

function refused(call: string, rule: string): ClearformerError {
  return new ClearformerError('invalid_argument', `${call}: ${rule}`);
}
