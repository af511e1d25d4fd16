// Texts on their way into an encoder: batches that fit, padded and cut as the tokenizer says.

import type { ModelInputs } from '../models/inputs.js';
import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import type { TokenizerCallOptions, TokenizerOutput } from '../text/batch.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { checkCount } from './scores.js';

/** What every call takes. */
export interface CallOptions {
  /** Inputs that go through the model together. Results do not depend on it; memory does. Default 8. */
  batch_size?: number | undefined;
  /** Aborting it rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** What calls take that read texts. */
export interface TextCallOptions extends CallOptions {
  /** Cut texts that are too long. Default: true where the tokenizer names a maximum. */
  truncation?: boolean | undefined;
  /** Tokens a text may have. Default: the tokenizer's own maximum. */
  max_length?: number | undefined;
}

export const callOptions = ['batch_size', 'signal'];
export const textCallOptions = [...callOptions, 'truncation', 'max_length'];

const usualBatch = 8;

/** `run` of every part of the list, in order, and all results; between two parts an abort is seen. */
export async function inBatches<T, R>(
  list: readonly T[],
  { batch_size = usualBatch, signal }: CallOptions,
  run: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  checkCount('batch_size', batch_size);
  const results: R[] = [];
  for (let start = 0; start < list.length; start += batch_size) {
    throwIfAborted(signal);
    results.push(...(await run(list.slice(start, start + batch_size))));
  }
  return results;
}

/** The same, but one by one where the tokenizer has nothing to pad with. */
export function inTextBatches<T, R>(
  list: readonly T[],
  tokenizer: PreTrainedTokenizer,
  options: CallOptions,
  run: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  return inBatches(list, tokenizer.pad_token === null ? { ...options, batch_size: 1 } : options, run);
}

/** Options for the tokenizer. */
export function tokenizing(tokenizer: PreTrainedTokenizer, options: TextCallOptions): TokenizerCallOptions {
  const { max_length, truncation = max_length !== undefined || Number.isFinite(tokenizer.model_max_length) } = options;
  return { padding: true, truncation, max_length };
}

/** What of the tokenizer's answer is for the model. */
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
  if (Array.isArray(list) && list.every((text) => typeof text === 'string')) return list;
  throw new ClearformerError('invalid_argument', `${call}: needs a text or an array of texts`);
}
