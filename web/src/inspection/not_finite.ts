// Detects NaN and infinity among stored numbers: an exponent of all ones; in F8_E4M3, which has no infinity, all bits
// but the sign.

import type { RunningDigest } from '../checkpoint/digest.js';
import { placedTensors } from './headers.js';

interface Encoding {
  /** Bytes per element; the exponent is in the last one or two. */
  bytes: number;
  /** Mask of the bits in the element's last 16 that are all set; of one byte it is the high half. */
  mask: number;
}

const encodings: Readonly<Record<string, Encoding>> = {
  F64: { bytes: 8, mask: 0x7ff0 },
  F32: { bytes: 4, mask: 0x7f80 },
  F16: { bytes: 2, mask: 0x7c00 },
  BF16: { bytes: 2, mask: 0x7f80 },
  F8_E4M3: { bytes: 1, mask: 0x7f00 },
  F8_E5M2: { bytes: 1, mask: 0x7c00 },
};

/**
 * The number of NaN and infinite values per tensor, and the length of the file, whose header must be valid; `digests`
 * take the bytes of the tensors they are named by.
 */
export async function notFinite(
  chunks: AsyncIterable<Uint8Array>,
  start: Uint8Array,
  digests: ReadonlyMap<string, RunningDigest>,
): Promise<{ counts: Map<string, number>; length: number }> {
  const { header, tensors } = placedTensors('', start);
  const counts = new Map<string, number>();
  let length = 0;
  let before = 0; // the last byte of the previous chunk
  let next = 0;
  for await (const chunk of chunks) {
    for (let at = Math.max(0, header - length); at < chunk.length; ) {
      while ((tensors[next]?.end ?? Infinity) <= length + at) next++;
      const part = tensors[next];
      if (part === undefined) break;
      const count = countIn(chunk, before, at, part.end - length, encodings[part.dtype]);
      if (count > 0) counts.set(part.name, (counts.get(part.name) ?? 0) + count);
      digests.get(part.name)?.update(chunk.subarray(at, part.end - length));
      at = part.end - length;
    }
    length += chunk.length;
    before = chunk.at(-1) ?? before;
  }
  return { counts, length };
}

/**
 * Counts elements whose last byte is in the chunk from `at` on; their tensor ends at `end`, possibly beyond the chunk.
 */
function countIn(chunk: Uint8Array, before: number, at: number, end: number, encoding: Encoding | undefined): number {
  if (encoding === undefined) return 0;
  const { bytes, mask } = encoding;
  const stop = Math.min(chunk.length, end);
  let count = 0;
  for (let high = at + ((end - at) % bytes || bytes) - 1; high < stop; high += bytes) {
    const low = high === 0 ? before : (chunk[high - 1] as number);
    if (((((chunk[high] as number) << 8) | low) & mask) === mask) count++;
  }
  return count;
}
