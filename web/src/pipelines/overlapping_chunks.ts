// Splits long audio into overlapping chunks, and merges the chunks' tokens where they agree, as transformers'
// pipeline does for Whisper.

import { ClearformerError } from '../support/error.js';

/** Chunk sizes in samples. */
export interface Chunking {
  length: number;
  /** Overlap with the previous chunk, and with the next one. */
  left: number;
  right: number;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/**
 * Converts seconds to samples. Throws `invalid_argument` if chunks would not advance, or are longer than `most`
 * seconds.
 */
export function chunkingOf(
  seconds: number | undefined,
  stride: number | readonly [number, number] | null | undefined,
  { rate, most }: { rate: number; most: number },
): Chunking {
  if (!(isNumber(seconds) && seconds > 0 && seconds <= most)) {
    throw refused('chunk_length_s', `must be above 0 and at most ${most} seconds`);
  }
  const given = stride ?? seconds / 6;
  const [left, right, ...others] = Array.isArray(given) ? given : [given, given];
  if (others.length > 0 || !(isNumber(left) && isNumber(right) && left >= 0 && right >= 0)) {
    throw refused('stride_length_s', 'must be one or two numbers of seconds from 0 up');
  }
  const chunking = {
    length: Math.round(seconds * rate),
    left: Math.round(left * rate),
    right: Math.round(right * rate),
  };
  if (chunking.length <= chunking.left + chunking.right) {
    throw refused('stride_length_s', 'must leave something of a chunk that no other chunk has');
  }
  return chunking;
}

function refused(option: string, rule: string): ClearformerError {
  return new ClearformerError('invalid_argument', `${option} ${rule}`, { option });
}

/** A part of the audio (a view), with its overlaps. */
export interface Chunk {
  samples: Float32Array;
  left: number;
  right: number;
}

/** The chunks of an audio. */
export function chunksOf(samples: Float32Array, { length, left, right }: Chunking): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = 0; start < samples.length; start += length - left - right) {
    const part = samples.subarray(start, start + length);
    const [isFirst, isLast] = [start === 0, start + length >= samples.length];
    if (isFirst || part.length > left) {
      chunks.push({ samples: part, left: isFirst ? 0 : left, right: isLast ? 0 : right });
    }
    if (isLast) break;
  }
  return chunks;
}

/** Merges the tokens of successive chunks: adjacent sequences are cut in the middle of their best alignment. */
export function joined<T>(sequences: readonly (readonly T[])[], agree: (left: T, right: T) => boolean): T[] {
  const all: T[] = [];
  let [left = []] = sequences;
  for (const right of sequences.slice(1)) {
    const { leftMiddle, rightMiddle } = agreement(left, right, agree);
    all.push(...left.slice(0, leftMiddle));
    left = right.slice(rightMiddle);
  }
  return [...all, ...left];
}

/** Of all alignments of the end of one with the start of the other, the one in which most tokens agree. */
function agreement<T>(
  left: readonly T[],
  right: readonly T[],
  agree: (left: T, right: T) => boolean,
): { leftMiddle: number; rightMiddle: number } {
  let most = 0;
  let best = { leftMiddle: left.length, rightMiddle: 0 };
  for (let overlap = 1; overlap < left.length + right.length; overlap++) {
    const leftStart = Math.max(0, left.length - overlap);
    const leftEnd = Math.min(left.length, left.length + right.length - overlap);
    const rightStart = Math.max(0, overlap - left.length);
    let matches = 0;
    for (let i = 0; i < leftEnd - leftStart; i++) {
      if (agree(left[leftStart + i] as T, right[rightStart + i] as T)) matches++;
    }
    const share = matches / overlap + overlap / 10000; // the last term favours long overlaps
    if (matches <= 1 || share <= most) continue;
    most = share;
    const rightEnd = rightStart + leftEnd - leftStart;
    best = {
      leftMiddle: Math.floor((leftStart + leftEnd) / 2),
      rightMiddle: Math.floor((rightStart + rightEnd) / 2),
    };
  }
  return best;
}
