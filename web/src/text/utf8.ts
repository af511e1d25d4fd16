// UTF-8 encoding and decoding. TextEncoder and TextDecoder are created on first use, so that importing this is safe where they
// do not exist, as in Jest's jsdom.

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
