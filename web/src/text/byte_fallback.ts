// Decoding of byte tokens such as <0xE2> as the `tokenizers` crate does it: a run of them that is not UTF-8 as a whole
// becomes one U+FFFD per byte. (The JavaScript port decodes what it can of it, so that prefixes of a text differ.)

import { ByteFallbackDecoder, type Decoder, SequenceDecoder } from '@huggingface/tokenizers';

/** Puts the crate's behaviour into every byte-fallback step of a decoder. */
export function alignByteFallback(decoder: Decoder | null): void {
  if (decoder instanceof SequenceDecoder) for (const step of decoder.decoders) alignByteFallback(step);
  if (decoder instanceof ByteFallbackDecoder) decoder.decode_chain = decodeBytes;
}

function decodeBytes(tokens: string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  for (const token of [...tokens, undefined]) {
    const byte = token === undefined ? null : /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
    if (byte) {
      bytes.push(Number.parseInt(byte[1] as string, 16));
      continue;
    }
    if (bytes.length > 0) texts.push(textOf(bytes));
    bytes = [];
    if (token !== undefined) texts.push(token);
  }
  return texts;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: readonly number[]): string {
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch {
    return '\uFFFD'.repeat(bytes.length);
  }
}
