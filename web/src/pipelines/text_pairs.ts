// Classification of pairs of texts.

import { ClearformerError } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { TruncationStrategy } from '../text/truncation.js';
import type { LogitsModel } from './base_pipeline.js';
import { rowOf } from './scores.js';
import { inTextBatches, modelInputs, type TextCallOptions, tokenizing } from './texts.js';

/** Two texts, which the model sees one after the other. */
export interface TextPair {
  readonly text: string;
  readonly text_pair: string;
}

/**
 * The logits of each pair. `strategy` says which of the two texts is truncated if they are too long together; if that one
 * is too short for it, the pair is not truncated, as upstream, unless the maximum is the caller's.
 */
export function logitsOfPairs(
  on: { model: LogitsModel; tokenizer: PreTrainedTokenizer },
  pairs: readonly TextPair[],
  options: TextCallOptions,
  strategy: TruncationStrategy,
): Promise<Float32Array[]> {
  const { model, tokenizer } = on;
  const { truncation, ...others } = tokenizing(tokenizer, options);
  return inTextBatches(pairs, tokenizer, options, async (part) => {
    const texts = part.map(({ text }) => text);
    const text_pair = part.map((pair) => pair.text_pair);
    const call = { ...others, truncation: truncation === true ? strategy : truncation, text_pair };
    const encoded = await tokenizer.paced(texts, call).catch((thrown: unknown) => {
      const isTooShort =
        truncation === true && thrown instanceof ClearformerError && thrown.details.option === 'truncation';
      if (!isTooShort || options.max_length !== undefined) throw thrown;
    });
    if (encoded === undefined) {
      const one = part.length > 1 ? { batch_size: 1 } : { truncation: false };
      return logitsOfPairs(on, part, { ...options, ...one }, strategy);
    }
    const { logits } = await model(modelInputs(encoded), { signal: options.signal });
    return part.map((_, row) => rowOf(logits, row));
  });
}

/** Throws `invalid_argument` for a list that is empty or contains anything but texts. */
export function checkTexts(call: string, option: string, texts: unknown): asserts texts is readonly string[] {
  if (Array.isArray(texts) && texts.length > 0 && [...texts].every((text) => typeof text === 'string')) return;
  throw refusedOption(call, option, 'must be an array of texts, not empty');
}
