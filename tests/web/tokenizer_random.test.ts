// Random tokenizer.json files encode and decode as with the `tokenizers` crate. CLEARFORMER_TOKENIZER_CASES is a folder
// with others than the committed ones (tests/references/tokenizer_random.py).

import { readFileSync } from 'node:fs';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { casesOf } from './support/references.js';

/** null: the crate failed. */
type Encoded = { ids: number[]; offsets: [number, number][]; types: number[]; special: number[] } | null;
interface RandomCase {
  name: string;
  json: object;
  texts: [string, Encoded][];
  pairs: [string, string, Encoded][];
  decoded: [ids: number[], skips: boolean, text: string][];
}

const folder = process.env.CLEARFORMER_TOKENIZER_CASES;
const all: RandomCase[] =
  folder === undefined
    ? casesOf<RandomCase>('tokenizer_random')
    : JSON.parse(readFileSync(`${folder}/tokenizer_random/cases.json`, 'utf8')).cases;

function encoded(tokenizer: PreTrainedTokenizer, text: string, text_pair?: string): Encoded {
  const found = tokenizer(text, {
    text_pair,
    return_tensor: false,
    return_offsets_mapping: true,
    return_token_type_ids: true,
    return_special_tokens_mask: true,
  });
  return {
    ids: found.input_ids,
    offsets: found.offset_mapping ?? [],
    types: found.token_type_ids ?? [],
    special: found.special_tokens_mask ?? [],
  };
}

describe('random tokenizers', () => {
  it.each(all)('$name', ({ json, texts, pairs, decoded }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    for (const [text, expected] of texts) {
      if (expected !== null) expect({ text, ...encoded(tokenizer, text) }).toEqual({ text, ...expected });
    }
    for (const [text, text_pair, expected] of pairs) {
      if (expected !== null)
        expect({ text, text_pair, ...encoded(tokenizer, text, text_pair) }).toEqual({ text, text_pair, ...expected });
    }
    for (const [ids, skip_special_tokens, text] of decoded) {
      const options = { skip_special_tokens, clean_up_tokenization_spaces: false };
      expect({ ids, skip_special_tokens, text: tokenizer.decode(ids, options) }).toEqual({
        ids,
        skip_special_tokens,
        text,
      });
    }
  });
});
