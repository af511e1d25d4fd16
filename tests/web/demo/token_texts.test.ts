// Labels of tokens: what has no look of its own has a name, the same in every chapter.

import { expect, it } from 'vitest';
import { shortened, TokenTexts, visible } from '../../../web/demo/book/token_texts.js';

it('names control characters and those that turn the direction', () => {
  expect(visible('a\u0007b\u0000\n\t\u202Ec')).toBe('a<0x07>b<0x00>↵⇥<U+202E>c');
  expect(visible('👨‍👩‍👧 ü ש')).toBe('👨‍👩‍👧 ü ש');
  const tokenizer = {
    all_special_ids: [],
    vocab_size: 1,
    decode: (ids: readonly number[]) => '\u0007'.repeat(ids.length),
    convert_ids_to_tokens: () => ['<0x07>'],
  } as unknown as ConstructorParameters<typeof TokenTexts>[0];
  const texts = new TokenTexts(tokenizer);
  expect([texts.piece([0]).label, texts.alone(0).label]).toEqual(['<0x07>', '<0x07>']);
});

it('shortens the names of bytes to what tells them apart', () => {
  expect(['<0xD7>', 'elephant', 'to'].map((label) => shortened(label, 36))).toEqual(['D7', 'ele…', 'to']);
});
