// Every code point through a tokenizer, block by block, compared with tests/references/tokenizer_unicode.py.
// This file also runs unchanged in a browser: it imports types only.

import type { PreTrainedTokenizer } from 'clearformer/tokenizer';

const block = 0x1000;

/**
 * Blocks of planes with no characters but private ones are skipped, which saves four fifths of the time; `all` includes
 * them.
 */
function isTested(first: number, which: 'assigned' | 'all'): boolean {
  return which === 'all' || first < 0x40000 || first === 0xe0000 || first === 0xf0000;
}

/** `a<character>b ` for every character of a block. */
function textOf(first: number): string {
  const known = texts.get(first);
  if (known !== undefined) return known;
  let text = '';
  for (let code = first; code < first + block; code++) {
    if (code < 0xd800 || code > 0xdfff) text += `a${String.fromCodePoint(code)}b `;
  }
  texts.set(first, text);
  return text;
}
const texts = new Map<number, string>();

const remainders = Uint32Array.from({ length: 0x100 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  return rest;
});

/** CRC-32 of the words' UTF-8, each followed by a line end. */
function checksum(words: readonly string[]): number {
  let rest = -1;
  for (const byte of new TextEncoder().encode(words.length > 0 ? `${words.join('\n')}\n` : '')) {
    rest = (rest >>> 8) ^ (remainders[(rest ^ byte) & 0xff] ?? 0);
  }
  return (rest ^ -1) >>> 0;
}

/** A tokenizer without known tokens, so that its tokens are the words themselves. */
function jsonOf(change: object): object {
  return { ...change, added_tokens: [], model: { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0]] } };
}

/** Of every `of` blocks one, the `turn`-th, modulo `of`. */
export interface Share {
  turn: number;
  of: number;
}

/** The first code points of the blocks whose checksums differ, of all blocks or a share. */
export function wrongBlocks(
  Tokenizer: typeof PreTrainedTokenizer,
  change: object,
  checksums: readonly number[],
  which: 'assigned' | 'all',
  { turn, of }: Share = { turn: 0, of: 1 },
): string[] {
  const tokenizer = new Tokenizer(jsonOf(change));
  return checksums.flatMap((wanted, i) => {
    if (i % of !== turn % of || !isTested(i * block, which)) return [];
    const found = checksum(tokenizer.tokenize(textOf(i * block)));
    return found === wanted ? [] : [`U+${(i * block).toString(16)}`];
  });
}
