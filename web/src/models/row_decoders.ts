// Decodes every row of a generation, and detects stop strings.

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
}

/** Detects strings in the text of every row; they may begin in the prompt and end within a token. */
export class StopStrings {
  readonly #strings: readonly string[];
  readonly #decoders: RowDecoders;
  /** The end of each row's text, as long as a match may reach back; undefined after a match. */
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

  /** The rows whose text, with these tokens, contains one of the strings. */
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
