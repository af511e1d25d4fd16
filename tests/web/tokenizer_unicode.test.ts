// Normalizers and pre-tokenizers equal the `tokenizers` crate for every code point, under Node. EVERY_PLANE=1 includes
// the planes without characters.

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
