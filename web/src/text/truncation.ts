// Truncation: which tokens of a text or a pair are kept, and the rows made of the overflowing ones.

import type { Token } from './encoder.js';
import { invalid } from './invalid.js';
import type { Rows } from './post_processor.js';

/** Hugging Face's strategies: remove tokens from the longer text first, or from one of the two only. */
export type TruncationStrategy = 'longest_first' | 'only_first' | 'only_second';

export interface Truncation {
  strategy: TruncationStrategy;
  /** Maximum number of tokens of the texts together, without special tokens. */
  room: number;
  /** The number of tokens at the end of a row that are repeated at the start of the next. */
  stride: number;
  /** The side that tokens are removed from. */
  side: 'left' | 'right';
}

/** The rows of each text: the kept one first. */
export function truncated(texts: readonly Token[][], truncation: Truncation): Rows[] {
  const lengths = texts.map(({ length }) => length);
  const excess = lengths.reduce((sum, length) => sum + length, 0) - truncation.room;
  if (excess <= 0) return texts.map((text) => [text]);
  const kept = keptLengths(lengths, excess, truncation);
  return texts.map((text, i) => windows(text, kept[i] ?? 0, truncation));
}

function keptLengths(lengths: readonly number[], excess: number, { strategy, room }: Truncation): number[] {
  const [first = 0, second] = lengths;
  if (strategy === 'longest_first') {
    if (second === undefined) return [room];
    const shorter = Math.min(first, second);
    const longer = Math.max(shorter, room - shorter);
    const [least, most] = shorter + longer > room ? [room >> 1, room - (room >> 1)] : [shorter, longer];
    return first > second ? [most, least] : [least, most];
  }
  const at = strategy === 'only_first' ? 0 : 1;
  const length = lengths[at];
  if (length === undefined) throw invalid('truncation', "truncation 'only_second' needs text_pair");
  if (length <= excess) {
    throw invalid(
      'truncation',
      `truncation '${strategy}' would have to take ${excess} tokens from a text of ${length}`,
    );
  }
  return lengths.map((each, i) => (i === at ? each - excess : each));
}

function windows(text: Token[], size: number, { stride, side }: Truncation): Rows {
  if (size >= text.length) return [text];
  if (size === 0) return [[], text];
  if (stride >= size) {
    throw invalid('stride', `stride ${stride} is not less than the ${size} tokens a row has room for`);
  }
  const rows: Token[][] = [];
  for (let done = 0; ; done += size - stride) {
    const from = side === 'right' ? done : Math.max(text.length - done - size, 0);
    const to = side === 'right' ? Math.min(done + size, text.length) : text.length - done;
    rows.push(text.slice(from, to));
    if (side === 'right' ? to === text.length : from === 0) return rows;
  }
}
