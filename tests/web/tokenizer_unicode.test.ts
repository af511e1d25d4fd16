// What normalizers and pre-tokenizers make of every code point equals the `tokenizers` crate, under Node.

import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { casesOf } from './support/references.js';
import { wrongBlocks } from './support/unicode_blocks.js';

describe('every code point', { timeout: 120_000 }, () => {
  it.each(casesOf('tokenizer_unicode'))('$name', ({ change, checksums }) => {
    expect(wrongBlocks(PreTrainedTokenizer, change as object, checksums as number[])).toEqual([]);
  });
});
