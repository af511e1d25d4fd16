// UTF-8 encoding and decoding. TextEncoder and TextDecoder are created on first use, so that importing this is safe
// where they do not exist, as in Jest's jsdom.

let encoder: TextEncoder | undefined;
const decoders: Partial<Record<'lenient' | 'strict', TextDecoder>> = {};

export function utf8Of(text: string): Uint8Array {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}

/** Keeps a byte order mark. Invalid UTF-8 becomes U+FFFD (`lenient`) or throws a TypeError (`strict`). */
export function textOfUtf8(bytes: Uint8Array, kind: 'lenient' | 'strict'): string {
  decoders[kind] ??= new TextDecoder('utf-8', { fatal: kind === 'strict', ignoreBOM: true });
  return decoders[kind].decode(bytes);
}

/** UTF-8 bytes of a code point. */
export function bytesOfCode(code = 0): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/** Where the characters of a text's UTF-8 bytes begin in code units: asked for in ascending order. */
export class BytePlaces {
  #unit = 0;
  #byte = 0; // at which the character at #unit begins

  constructor(readonly text: string) {}

  /** Code units of the character that was found last. */
  get units(): number {
    return (this.text.codePointAt(this.#unit) ?? 0) > 0xffff ? 2 : 1;
  }

  /** The place of the character that has a byte; the text's end for one beyond it. */
  of(byte: number): number {
    while (this.#unit < this.text.length) {
      const next = this.#byte + bytesOfCode(this.text.codePointAt(this.#unit));
      if (next > byte) break;
      this.#unit += this.units;
      this.#byte = next;
    }
    return this.#unit;
  }
}
