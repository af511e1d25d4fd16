// Writes safetensors: 8 bytes with the header's length, the header (JSON, padded with spaces to a multiple of 8), then
// the tensors in the header's order without gaps.

import { closeSync, openSync, writeSync } from 'node:fs';

/** A tensor as stored in a file. */
export interface StoredTensor {
  name: string;
  dtype: string;
  shape: number[];
  bytes: Buffer;
}

/** A header's entry for a tensor; `__metadata__` is a separate entry. */
export interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

export type Metadata = Record<string, string>;

/**
 * The parts of a file. Tensors of one dtype are sorted by name, as by the format's own library, so that the same tensors
 * give the same file.
 */
export function safetensorsBytes(
  tensors: readonly StoredTensor[],
  metadata: Metadata = { format: 'pt' },
): readonly Buffer[] {
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  const header: Record<string, HeaderEntry | Metadata> = { __metadata__: metadata };
  let end = 0;
  for (const { name, dtype, shape, bytes } of sorted) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.byteLength] };
    end += bytes.byteLength;
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(Math.ceil(text.byteLength / 8) * 8, ' ');
  text.copy(padded);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.byteLength));
  return [length, padded, ...sorted.map((tensor) => tensor.bytes)];
}

/** Writes `tensors` to `file`. */
export function writeSafetensors(file: string, tensors: readonly StoredTensor[], metadata?: Metadata): void {
  const output = openSync(file, 'w');
  try {
    for (const bytes of safetensorsBytes(tensors, metadata)) writeAll(output, bytes);
  } finally {
    closeSync(output);
  }
}

function writeAll(output: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(output, bytes, written);
}
