// The binary format of WebAssembly modules, as far as the build reads and writes it itself.

/** Reads a module from behind its magic number and version, or one of its parts. */
export class Reader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  /** An unsigned number (LEB128). */
  number(): number {
    const byte = this.byte();
    return byte < 128 ? byte : byte - 128 + 128 * this.number();
  }

  /** Bytes behind their length: a section, a function's code, a text. A view of the module's. */
  part(): Uint8Array {
    const length = this.number();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** A module's sections, by number: views of its bytes. Custom sections are left out. */
export function sectionsOf(module: Uint8Array): Map<number, Uint8Array> {
  const reader = new Reader(module, 8);
  const sections = new Map<number, Uint8Array>();
  while (!reader.ended) {
    const id = reader.byte();
    const section = reader.part();
    if (id !== 0) sections.set(id, section);
  }
  return sections;
}

export const sectionIds = { imports: 2, code: 10, data: 11 } as const;

/** A number as unsigned LEB128. */
export const written = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...written(Math.floor(value / 128))];

/** A number >= 0 as signed LEB128. */
export const writtenSigned = (value: number): number[] =>
  value < 64 ? [value] : [(value % 128) + 128, ...writtenSigned(Math.floor(value / 128))];

/** A list of bytes behind its length. */
export const part = (bytes: readonly number[]): number[] => [...written(bytes.length), ...bytes];
