// Files of the WASM as text, in modules that scripts/build/one_file.ts generates.

/** A file as characters. */
export interface EmbeddedFile {
  readonly wasm: string;
  /** Characters whose byte is not their code: character, byte + 256, … */
  readonly swapped: string;
}

/** The file: character codes modulo 256, except for the swapped ones. */
export function bytesIn({ wasm, swapped }: EmbeddedFile): Uint8Array {
  const byteOf = Uint8Array.from({ length: 512 }, (_, code) => code);
  for (let i = 0; i < swapped.length; i += 2) byteOf[swapped.charCodeAt(i)] = swapped.charCodeAt(i + 1);
  const bytes = new Uint8Array(wasm.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = byteOf[wasm.charCodeAt(i)] as number;
  return bytes;
}
