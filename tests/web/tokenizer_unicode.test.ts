// What normalizers and pre-tokenizers make of every code point equals the `tokenizers` crate, under Node. EVERY_PLANE=1 tests the
// planes that have no characters, too.
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { casesOf } from './support/references.js';
import { wrongBlocks } from './support/unicode_blocks.js';

const which = process.env.EVERY_PLANE ? 'all' : 'assigned';

describe('every code point', { timeout: 120_000 }, () => {
  it.each(casesOf('tokenizer_unicode'))('$name', ({ change, checksums }) => {
    expect(wrongBlocks(PreTrainedTokenizer, change as object, checksums as number[], which)).toEqual([]);
  });
});
