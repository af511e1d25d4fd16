// Reads safetensors: 8 bytes with the header's length, the header (JSON), then the tensors' bytes.

import { readFileSync } from 'node:fs';
import type { StoredTensor } from './safetensors.js';
import type { HeaderEntry, Metadata } from './safetensors_header.js';

/** The tensors of a file, and its metadata. */
export function readSafetensors(path: string): { tensors: StoredTensor[]; metadata: Metadata | undefined } {
  const file = readFileSync(path);
  const start = 8 + Number(file.readBigUInt64LE(0));
  const { __metadata__: metadata, ...header } = JSON.parse(file.subarray(8, start).toString()) as Record<
    string,
    HeaderEntry
  > & { __metadata__?: Metadata };
  const tensors = Object.entries(header as Record<string, HeaderEntry>).map(([name, entry]) => {
    const { dtype, shape, data_offsets } = entry;
    const [from, to] = data_offsets;
    return { name, dtype, shape, bytes: file.subarray(start + from, start + to) };
  });
  return { tensors, metadata };
}
