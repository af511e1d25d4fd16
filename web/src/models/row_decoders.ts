// Decodes every row of a generation.

import { IncrementalDecoder } from '../text/text_streamer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';

interface Row {
  decoder: IncrementalDecoder;
  ended: boolean;
}

/**
 * Decodes each row's tokens to text that continues the prompt; a row that has reached an end token gives no more text.
 */
export class RowDecoders {
  readonly #rows: Row[];
  readonly #ends: ReadonlySet<number>;

  constructor(
    tokenizer: PreTrainedTokenizer,
    prompt: readonly (readonly number[])[],
    ends: readonly number[],
    skip_special_tokens: boolean,
  ) {
    this.#ends = new Set(ends);
    this.#rows = prompt.map((ids) => {
      const decoder = new IncrementalDecoder(tokenizer, { skip_special_tokens });
      decoder.begin(ids);
      return { decoder, ended: false };
    });
  }

  /** `last`: no row has further tokens; `ended`: these rows have none. */
  push(ids: readonly number[], last: boolean, ended: readonly number[] = []): string[] {
    return this.#rows.map((row, r) => {
      if (row.ended) return '';
      const id = ids[r] as number;
      row.ended = last || ended.includes(r) || this.#ends.has(id);
      return row.decoder.push(id) + (row.ended ? row.decoder.end() : '');
    });
  }

  /** A row's text since the last that was given, before an incomplete character. */
  pending(row: number): string {
    return this.#rows[row]?.decoder.pending ?? '';
  }
}
