// GPT-2's byte-level alphabet: one printable character per byte
// (https://github.com/openai/gpt-2/blob/master/src/encoder.py).

import type { AlignedText } from './aligned_text.js';
import { utf8Of } from './utf8.js';

/** GPT-2's pattern of words. */
export const gpt2Words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);

const alphabet = (() => {
  let next = 0x100; // bytes without a printable character get the next one from here on
  return Array.from({ length: 0x100 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
})();
const bytes = new Map(alphabet.map((character, byte) => [character, byte]));

function spelledBytes(text: string): string {
  let spelled = '';
  for (const byte of utf8Of(text)) spelled += alphabet[byte];
  return spelled;
}

/** Encodes a text's UTF-8 bytes in the alphabet. */
export function spellBytes(text: AlignedText): AlignedText {
  return text.replace(/[^!-~]/gu, spelledBytes); // the characters in between represent themselves
}

/** Decodes a token to bytes; to its own UTF-8 if one of its characters is not in the alphabet. */
export function bytesOf(token: string): Iterable<number> {
  const spelled: number[] = [];
  for (const character of token) {
    const byte = bytes.get(character);
    if (byte === undefined) return utf8Of(token);
    spelled.push(byte);
  }
  return spelled;
}
