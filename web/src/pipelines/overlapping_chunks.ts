// Long sound in chunks that overlap, and the tokens of the chunks joined where they say the same. As transformers'
// pipeline does it for Whisper.

import { ClearformerError } from '../support/error.js';

/** How sound is cut; in samples. */
export interface Chunking {
  length: number;
  /** What a chunk shares with the one before it, and with the one after it. */
  left: number;
  right: number;
}

/** In samples, from seconds. Throws `invalid_argument` where chunks would not advance, or are longer than `most` seconds. */
export function chunkingOf(
  seconds: number,
  stride: number | readonly [number, number] | undefined,
  { rate, most }: { rate: number; most: number },
): Chunking {
  const [left, right] = typeof stride === 'object' ? stride : [stride ?? seconds / 6, stride ?? seconds / 6];
  const refuse = (option: string, rule: string) => {
    throw new ClearformerError('invalid_argument', `${option} ${rule}`, { option });
  };
  if (!(seconds > 0 && seconds <= most)) refuse('chunk_length_s', `must be above 0 and at most ${most} seconds`);
  if (!(left >= 0 && right >= 0)) refuse('stride_length_s', 'must be one or two numbers of seconds from 0 up');
  const chunking = {
    length: Math.round(seconds * rate),
    left: Math.round(left * rate),
    right: Math.round(right * rate),
  };
  if (chunking.length <= chunking.left + chunking.right) {
    refuse('stride_length_s', 'must leave something of a chunk that no other chunk has');
  }
  return chunking;
}

/** A part of a sound, a view of it, with what of it its neighbours have, too. */
export interface Chunk {
  samples: Float32Array;
  left: number;
  right: number;
}

/** The chunks of a sound. */
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

/** Tokens of chunks that follow one another as one sequence: each pair is cut in the middle of their best agreement. */
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

/** Of all ways to lay the end of one over the start of the other, the one in which most tokens agree. */
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
    const share = matches / overlap + overlap / 10000; // the last part favours long agreements
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
