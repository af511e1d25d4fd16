// GPT-2's alphabet: one printable character for each byte (https://github.com/openai/gpt-2/blob/master/src/encoder.py).

import type { AlignedText } from './aligned_text.js';

const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);

const alphabet = (() => {
  let next = 0x100; // bytes without a visible character of their own get the next one from here on
  return Array.from({ length: 0x100 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
})();
const utf8 = new TextEncoder();

function spelledBytes(text: string): string {
  let spelled = '';
  for (const byte of utf8.encode(text)) spelled += alphabet[byte];
  return spelled;
}

/** A text whose UTF-8 bytes are spelled in the alphabet. */
export function spellBytes(text: AlignedText): AlignedText {
  return text.replace(/[\s\S]/gu, spelledBytes);
}
