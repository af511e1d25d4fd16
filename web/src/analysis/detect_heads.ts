// Detects a model's previous-token, first-token, duplicate-token and induction heads by running it: see head_scores.ts.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { expectArgument, refusedOption } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { checkCall, expectInputs } from './check_call.js';
import { type HeadKind, type HeadScores, headKinds, headScores } from './head_scores.js';
import { defaultHook, type LayerHook, layerHooks } from './layer_hooks.js';
import { type RepeatedTokensOptions, repeatedTokens } from './repeated_tokens.js';

/** Options of detectHeads. */
export interface DetectHeadsOptions extends RepeatedTokensOptions {
  /** The inputs to run. Default: `batch` rows of `length` random tokens, each row repeated once. */
  inputs?: ModelInputs | undefined;
  /**
   * The hook of the maps, `*` for the layer. Default: self-attention of the (text) model, or of an encoder-decoder's
   * decoder.
   */
  hook?: LayerHook | undefined;
  /** The minimum score of a detected head. Default 0.5: half of the attention. */
  threshold?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A detected head. */
export interface DetectedHead {
  kind: HeadKind;
  layer: number;
  head: number;
  score: number;
}

/** The result of detectHeads. */
export interface DetectedHeads {
  /** [n_layers, n_heads] for each kind; of one layer, if `hook` is of one; of those with attention (LFM2). */
  scores: HeadScores;
  /** Heads with a score of at least the threshold, in descending order. */
  heads: DetectedHead[];
  /** The inputs that were run. */
  inputs: ModelInputs;
}

const known = ['inputs', 'hook', 'threshold', 'batch', 'length', 'seed', 'signal'];

/**
 * Runs the model once and scores its heads. Works for decoder-only and encoder-only text models, and for
 * encoder-decoders (the decoder, or the encoder with `hook: 'encoder.*.attn.hook_pattern'`). Rejects with `unsupported`
 * for models without tokens (vision) and for cross-attention, whose queries and keys belong to different texts; with
 * `invalid_argument` for a hook that no layer has and where default inputs cannot be made; and as `run_with_cache`
 * does.
 */
export async function detectHeads(model: PreTrainedModel, options: DetectHeadsOptions = {}): Promise<DetectedHeads> {
  checkCall('detectHeads', model, options, known);
  const { threshold = 0.5, hook = defaultHook(model, 'attn.hook_pattern'), signal } = options;
  expectArgument(
    'detectHeads',
    typeof threshold === 'number' && !Number.isNaN(threshold),
    'a number as threshold',
    threshold,
  );
  if (options.inputs) expectInputs('detectHeads', { inputs: options.inputs });
  const names = layerHooks(model, hook);
  requireTokens(model, String(hook));
  const decoder = hook.startsWith('decoder.');
  const inputs = options.inputs ?? repeatedTokens('detectHeads', model, options);
  const tokens = decoder ? inputs.decoder_input_ids : inputs.input_ids;
  if (tokens === undefined || tokens === null) {
    throw refusedOption('detectHeads', 'inputs', `need ${decoder ? 'decoder_input_ids' : 'input_ids'}`);
  }
  const mask = decoder ? inputs.decoder_attention_mask : inputs.attention_mask;
  const [, cache] = await model.run_with_cache(inputs, { names_filter: names, signal });
  const scores = headScores(
    names.map((name) => cache[name] as Tensor<'float32'>),
    tokens,
    mask,
  );
  const layers = names.map((name) => Number(/\d+/.exec(name)));
  return { scores, heads: highest(scores, threshold, layers), inputs };
}

function requireTokens(model: PreTrainedModel, hook: string): void {
  if (!hook.endsWith('hook_pattern')) {
    throw new ClearformerError('invalid_argument', `detectHeads: '${hook}' is no attention map`, { option: 'hook' });
  }
  const { kind, model_type, d_vocab } = model.cfg;
  const vision = hook.startsWith('vision_model.') || (kind === 'encoder-only' && d_vocab === 0);
  const crossed = hook.includes('cross_attn');
  const sounds = hook.startsWith('encoder.') && (model.cfg.encoder as { d_vocab?: number })?.d_vocab === 0;
  if (!vision && !crossed && !sounds) return;
  const reason = crossed
    ? 'cross-attention looks at another text than its queries are of'
    : 'there are no tokens to tell';
  throw new ClearformerError('unsupported', `detectHeads: ${hook} of ${model_type}: ${reason}`, { option: 'hook' });
}

/** The heads of these layers, which are the rows of the scores. */
function highest(scores: HeadScores, threshold: number, layers: readonly number[]): DetectedHead[] {
  const all = headKinds.flatMap((kind) => {
    const [, heads = 1] = scores[kind].dims;
    return Array.from(scores[kind].data, (score, at) => {
      return { kind, layer: layers[Math.floor(at / heads)] as number, head: at % heads, score };
    });
  });
  return all.filter(({ score }) => score >= threshold).sort((a, b) => b.score - a.score);
}
