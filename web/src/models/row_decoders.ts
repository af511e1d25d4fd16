// The text of every row of a generation, and the stop strings in it.

import { IncrementalDecoder } from '../text/text_streamer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';

interface Row {
  decoder: IncrementalDecoder;
  ended: boolean;
}

/** Turns each row's tokens into text that continues the prompt; a row that has met an end token says no more. */
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

  /** `last`: no further token follows in any row; `ended`: none in these. */
  push(ids: readonly number[], last: boolean, ended: readonly number[] = []): string[] {
    return this.#rows.map((row, r) => {
      if (row.ended) return '';
      const id = ids[r] as number;
      row.ended = last || ended.includes(r) || this.#ends.has(id);
      return row.decoder.push(id) + (row.ended ? row.decoder.end() : '');
    });
  }
}

/** Looks for strings in the text of every row; one may begin in the prompt and end in the middle of a token. */
export class StopStrings {
  readonly #strings: readonly string[];
  readonly #decoders: RowDecoders;
  /** The end of each row's text, as long as a string may reach back; undefined once one was found. */
  readonly #tails: (string | undefined)[];

  constructor(
    strings: readonly string[],
    tokenizer: PreTrainedTokenizer,
    prompt: readonly (readonly number[])[],
    ends: readonly number[],
  ) {
    this.#strings = strings;
    this.#decoders = new RowDecoders(tokenizer, prompt, ends, false);
    this.#tails = prompt.map((ids) => this.#tail(tokenizer.decode(ids, { clean_up_tokenization_spaces: false })));
  }

  /** The rows whose text holds one of the strings with these tokens. */
  found(ids: readonly number[]): number[] {
    return this.#decoders.push(ids, false).flatMap((text, row) => {
      const tail = this.#tails[row];
      if (tail === undefined || text === '') return [];
      const whole = tail + text;
      const hit = this.#strings.some((string) => whole.includes(string));
      this.#tails[row] = hit ? undefined : this.#tail(whole);
      return hit ? [row] : [];
    });
  }

  #tail(text: string): string {
    const reach = Math.max(...this.#strings.map((string) => string.length)) - 1;
    return reach === 0 ? '' : text.slice(-reach);
  }
}
