// Writes safetensors files.

import { type Metadata, safetensorsHeader } from './safetensors_header.js';
import { writeParts } from './write_parts.js';

/** A tensor as stored in a file. */
export interface StoredTensor {
  name: string;
  dtype: string;
  shape: number[];
  bytes: Buffer;
}

/**
 * The parts of a file. Tensors of one dtype are sorted by name, as by the format's own library, so that the same tensors
 * give the same file.
 */
export function safetensorsBytes(tensors: readonly StoredTensor[], metadata?: Metadata): readonly Buffer[] {
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [Buffer.from(safetensorsHeader(sorted, metadata)), ...sorted.map((tensor) => tensor.bytes)];
}

/** Writes `tensors` to `file`. */
export function writeSafetensors(file: string, tensors: readonly StoredTensor[], metadata?: Metadata): void {
  writeParts(file, safetensorsBytes(tensors, metadata));
}
