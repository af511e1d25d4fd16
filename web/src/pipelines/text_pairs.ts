// Classification of pairs of texts.

import { ClearformerError } from '../support/error.js';
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

/** The logits of each pair. `strategy` says which of the two texts is truncated if they are too long together. */
export function logitsOfPairs(
  { model, tokenizer }: { model: LogitsModel; tokenizer: PreTrainedTokenizer },
  pairs: readonly TextPair[],
  options: TextCallOptions,
  strategy: TruncationStrategy,
): Promise<Float32Array[]> {
  return inTextBatches(pairs, tokenizer, options, async (part) => {
    const { truncation, ...others } = tokenizing(tokenizer, options);
    const encoded = await tokenizer.paced(
      part.map(({ text }) => text),
      {
        ...others,
        truncation: truncation === true ? strategy : truncation,
        text_pair: part.map(({ text_pair }) => text_pair),
      },
    );
    const { logits } = await model(modelInputs(encoded), { signal: options.signal });
    return part.map((_, row) => rowOf(logits, row));
  });
}

/** Throws `invalid_argument` for a list that is empty or contains anything but texts. */
export function checkTexts(call: string, option: string, texts: unknown): asserts texts is readonly string[] {
  if (Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === 'string')) return;
  throw new ClearformerError('invalid_argument', `${call}: ${option} must be an array of texts, not empty`, { option });
}
