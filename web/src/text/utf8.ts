// Text as bytes of UTF-8 and back. What does it is made when it is first needed: importing is safe where there is none, as in
// Jest's jsdom.

let encoder: TextEncoder | undefined;
const decoders: Partial<Record<'lenient' | 'strict', TextDecoder>> = {};

export function utf8Of(text: string): Uint8Array {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}

/** A byte order mark stays. What is not UTF-8 becomes U+FFFD, or is a TypeError where that is wanted. */
export function textOfUtf8(bytes: Uint8Array, kind: 'lenient' | 'strict'): string {
  decoders[kind] ??= new TextDecoder('utf-8', { fatal: kind === 'strict', ignoreBOM: true });
  return decoders[kind].decode(bytes);
}
