// Pairs, truncation, overflowing rows, padding, spans and masks equal transformers'. With CLEARFORMER_CALL_CASES the
// folder of other random calls that tests/references/tokenizer_calls_random.py wrote.

import { readFileSync } from 'node:fs';
import { PreTrainedTokenizer, type TokenizerCallOptions } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath, randomGroup } from './support/references.js';

interface CallCase {
  name: string;
  vocabulary: string;
  changes: Record<string, unknown>;
  pad_token: string;
  text: string | string[];
  text_pair: string | string[] | null;
  options: TokenizerCallOptions;
  refused?: string;
  lists: Record<string, unknown>;
  offset_mapping: [number, number][][];
  /** Absent if the library counts words from the position where it stopped. */
  word_ids?: (number | null)[][];
  sequence_ids: (number | null)[][];
}
const random = randomGroup('tokenizer_calls_random', 'CLEARFORMER_CALL_CASES');
const cases = ['tokenizer_calls', random].flatMap((group) => casesOf<CallCase>(group));
const wanted = {
  return_offsets_mapping: true,
  return_special_tokens_mask: true,
  return_length: true,
  return_token_type_ids: true,
};

function tokenizerOf({ vocabulary, changes, pad_token }: Pick<CallCase, 'vocabulary' | 'changes' | 'pad_token'>) {
  const json = JSON.parse(readFileSync(fixturePath(`tokenizer_sample/${vocabulary}.json`), 'utf8'));
  return new PreTrainedTokenizer({ ...json, ...changes }, { pad_token });
}

function asBatch<T>(given: T | T[]): T[] {
  return Array.isArray(given) ? given : [given];
}

describe('calls equal transformers', () => {
  it.each(cases)('$name', async (one) => {
    const tokenizer = tokenizerOf(one);
    const options: TokenizerCallOptions = {
      ...one.options,
      ...wanted,
      ...(one.text_pair !== null && { text_pair: asBatch(one.text_pair) }),
    };
    const call = () => tokenizer(asBatch(one.text), { ...options, return_tensor: false });
    if (one.refused !== undefined) {
      expect(await failureOf(call)).toMatchObject({ code: 'invalid_argument', details: { option: 'truncation' } });
      return;
    }
    const found = call();
    expect(found).toEqual({ ...one.lists, offset_mapping: one.offset_mapping });
    expect(one.word_ids?.map((_, row) => found.word_ids(row))).toEqual(one.word_ids);
    expect(one.sequence_ids.map((_, row) => found.sequence_ids(row))).toEqual(one.sequence_ids);
  });
});
