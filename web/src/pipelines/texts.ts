// Batches of texts for an encoder, padded and truncated by the tokenizer.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { turns } from '../support/steps.js';
import type { PacedCallOptions, TokenizerOutput } from '../text/batch.js';
import { expectTexts } from '../text/token_lists.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { checkCount } from './scores.js';

/** Options of every call. */
export interface CallOptions {
  /**
   * Inputs processed together; memory depends on it. Default 8. Results do not, except as in transformers: samples
   * (`do_sample`) are drawn by the place in the batch, `max_length`, `min_length`, `repetition_penalty` and the like
   * count the padding of shorter prompts, and in an encoder whose tokenizer pads on the left, positions begin with the
   * padding.
   */
  batch_size?: number | undefined;
  /** An abort signal: the call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of calls with texts. */
export interface TextCallOptions extends CallOptions {
  /** Truncate texts that are too long. Default: true if there is a maximum. */
  truncation?: boolean | undefined;
  /**
   * Maximum number of tokens of a text. Default: the tokenizer's maximum; in text-ranking and folders of
   * sentence-transformers, whose `max_seq_length` replaces it, at most the model's positions.
   */
  max_length?: number | undefined;
}

export const callOptions = ['batch_size', 'signal'];
export const textCallOptions = [...callOptions, 'truncation', 'max_length'];

const usualBatch = 8;

/**
 * Applies `run` to every batch of the list, in order, and concatenates the results. Between batches the event loop
 * runs every few milliseconds, and the signal aborts.
 */
export async function inBatches<T, R>(
  list: readonly T[],
  { batch_size = usualBatch, signal }: CallOptions,
  run: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  checkCount('batch_size', batch_size);
  const results: R[] = [];
  const turn = turns(signal);
  for (let start = 0; start < list.length; start += batch_size) {
    await turn();
    results.push(...(await run(list.slice(start, start + batch_size))));
  }
  return results;
}

/** The same, but one by one if the tokenizer has no padding token. */
export function inTextBatches<T, R>(
  list: readonly T[],
  tokenizer: PreTrainedTokenizer,
  options: CallOptions,
  run: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  return inBatches(list, tokenizer.pad_token === null ? { ...options, batch_size: 1 } : options, run);
}

/** The positions of a model; Infinity without a limit. */
export const positionsOf = ({ cfg }: PreTrainedModel): number => cfg.n_ctx || Number.POSITIVE_INFINITY;

/** The options with a maximum where they have none: what `most` makes of the tokenizer's and the model's. */
export function cut<T extends TextCallOptions>(
  { tokenizer, model }: { tokenizer: PreTrainedTokenizer; model: PreTrainedModel },
  options: T,
  most: (tokenizer: number, model: number) => number = Math.min,
): T {
  const limit = most(tokenizer.model_max_length, positionsOf(model));
  const isCut = options.truncation !== false && Number.isFinite(limit);
  return { ...options, max_length: options.max_length ?? (isCut ? limit : undefined) };
}

/** Options for the tokenizer. */
export function tokenizing(tokenizer: PreTrainedTokenizer, options: TextCallOptions): PacedCallOptions {
  const {
    signal,
    max_length,
    truncation = max_length !== undefined || Number.isFinite(tokenizer.model_max_length),
  } = options;
  return { padding: true, truncation, max_length, return_attention_mask: true, signal };
}

/** The parts of the tokenizer's output that are the model's inputs. */
export function modelInputs({
  input_ids,
  attention_mask,
  token_type_ids,
}: Pick<TokenizerOutput, 'input_ids' | 'attention_mask' | 'token_type_ids'>): ModelInputs {
  return { input_ids, attention_mask, ...(token_type_ids && { token_type_ids }) };
}

/** One text or several, as a list. Throws `invalid_argument` for anything else. */
export function textList(call: string, texts: string | readonly string[]): readonly string[] {
  const list = typeof texts === 'string' ? [texts] : texts;
  expectTexts(call, list);
  return list;
}
