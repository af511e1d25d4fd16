// Direct logit attribution: the final residual stream is the sum of the outputs of the embedding, every head and every
// feed-forward network, and with the final norm's scale held fixed a token's logit is linear in it:
//   logit[t] = Σ_d u_t[d]·(x_d − mean(x)) / scale + b_t
// (u_t: the token's row of the output layer times the norm's weight; mean subtraction in LayerNorm only). It is
// therefore a sum of one contribution per part. Source: Elhage et al. 2021, "A Mathematical Framework for Transformer
// Circuits".

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall } from './check_call.js';
import { type Positions, placesOf } from './positions.js';
import { type ResidualPart, residualParts } from './residual_parts.js';
import { type TokenChoice, type TokenDirections, tokenDirections } from './token_directions.js';

/** Options of logitAttribution. */
export interface LogitAttributionOptions {
  /** The token whose logit is decomposed: one for all rows of the batch, or one per row. */
  tokens: TokenChoice;
  /** Decompose the difference to the logits of these tokens instead. */
  incorrect_tokens?: TokenChoice | undefined;
  /** The positions; default: the last. A number drops the axis. */
  pos?: Positions | undefined;
  signal?: AbortSignal | undefined;
}

/** A logit, or a difference of two, as a sum of contributions. */
export interface LogitAttribution {
  /**
   * `embed`, `pos_embed` (in one `embed`, if a norm follows them), then for each layer its heads (`L0H0`, …; those of
   * cross-attention `L0C0`, …) and `0_mlp_out`, and last `bias`: that of attention outputs, the final norm and the output
   * layer.
   */
  labels: string[];
  /** The contribution of each part, [label, batch], or with a list of positions [label, batch, pos]. */
  contributions: Tensor<'float32'>;
  /** The model's logit (or difference of logits), the sum of the contributions: [batch] or [batch, pos]. */
  logits: Tensor<'float32'>;
}

/**
 * Decomposes a token's logit, or its difference to another's. For pre-norm decoders with a final norm (GPT-2, OPT,
 * Llama, Mistral, Qwen, Phi, T5, Whisper, …): in other models logits are not such a sum, and `unsupported` gives the
 * reason. Accumulated in double precision. With dtype q8 or q4 the core also rounds the inputs of its matrix products:
 * the parts then sum to the logit up to that error.
 * Rejects with `invalid_argument` for tokens and positions that do not exist, and as a call of the model does.
 */
export async function logitAttribution(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: LogitAttributionOptions,
): Promise<LogitAttribution> {
  checkCall('logitAttribution', model, options, ['tokens', 'incorrect_tokens', 'pos', 'signal']);
  const { tokens, incorrect_tokens, pos = -1, signal } = (options ?? {}) as LogitAttributionOptions;
  const { parts, scale } = residualParts('logitAttribution', model);
  const names_filter = [...parts.map(({ hook }) => hook), scale];
  const [logits, cache] = await model.run_with_cache(inputs, { names_filter, signal });
  const [batch = 0, length = 0] = logits.dims;
  const places = placesOf('logitAttribution', pos, length);
  const choice = { right: tokens, wrong: incorrect_tokens };
  const chosen = await tokenDirections('logitAttribution', model, batch, choice, signal);
  const writers = await writersOf(model, parts, cache, chosen, signal);
  const at = Array.from({ length: batch }, (_, row) => places.map((place) => row * length + place)).flat();
  const labels = [...writers.flatMap((writer) => writer.labels), 'bias'];
  const values = contributionsAt(at, length, writers, chosen, cache[scale] as Tensor<'float32'>);
  const picked = at.map((place) => pickedLogit(logits, place, chosen));
  const dims = typeof pos === 'number' ? [batch] : [batch, places.length];
  return {
    labels,
    contributions: new Tensor('float32', values, [labels.length, ...dims]),
    logits: new Tensor('float32', picked, dims),
  };
}

/**
 * What one hook point adds to the stream: vectors, and the directions [row, vector, width] they are multiplied with.
 */
interface Writer {
  labels: string[];
  values: Tensor<'float32'>; // [batch, pos, (vector,) width]
  directions: Float32Array;
  bias: number[]; // per row
}

async function writersOf(
  model: PreTrainedModel,
  parts: readonly ResidualPart[],
  cache: ActivationCache,
  { directions }: TokenDirections,
  signal: AbortSignal | undefined,
): Promise<Writer[]> {
  const { engine, model: handle } = model.open();
  const writers: Writer[] = [];
  for (const { hook, label, heads } of parts) {
    const values = cache[hook] as Tensor<'float32'>;
    if (heads === undefined) {
      writers.push({ labels: [label], values, directions: directions.data, bias: [] });
      continue;
    }
    const given = { model: handle, ...heads, directions: { data: directions.data, dims: [...directions.dims] } };
    const { vectors, bias } = await engine.call('model_head_directions', given, signal);
    const labels = Array.from({ length: vectors.dims[1] ?? 0 }, (_, head) => `${label}${head}`);
    writers.push({ labels, values, directions: vectors.data, bias: [...bias.data] });
  }
  return writers;
}

/** [label, place] for the positions `at` of [batch, pos], with the biases last. */
function contributionsAt(
  at: readonly number[],
  length: number,
  writers: readonly Writer[],
  { bias }: TokenDirections,
  scale: Tensor<'float32'>,
): number[] {
  const rowOf = (place: number) => Math.floor(place / length);
  const parts = writers.flatMap(({ labels, values, directions }) => {
    const width = values.dims.at(-1) ?? 0;
    return labels.flatMap((_, vector) =>
      at.map((place) => {
        const value = (place * labels.length + vector) * width;
        const direction = (rowOf(place) * labels.length + vector) * width;
        return dot(values.data, value, directions, direction, width) / (scale.data[place] as number);
      }),
    );
  });
  const biases = at.map((place) => {
    const row = rowOf(place);
    const added = writers.reduce((sum, writer) => sum + (writer.bias[row] ?? 0), 0);
    return added / (scale.data[place] as number) + (bias[row] as number);
  });
  return [...parts, ...biases];
}

function dot(x: Float32Array, xAt: number, y: Float32Array, yAt: number, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += (x[xAt + i] as number) * (y[yAt + i] as number);
  return sum;
}

function pickedLogit({ data, dims }: Tensor<'float32'>, place: number, { tokens }: TokenDirections): number {
  const [, length = 1, words = 0] = dims;
  const { right, wrong } = tokens[Math.floor(place / length)] ?? { right: 0 };
  const of = (token: number) => data[place * words + token] as number;
  return wrong === undefined ? of(right) : of(right) - of(wrong);
}
