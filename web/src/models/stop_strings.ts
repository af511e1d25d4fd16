// Detects stop strings in the text of a generation.

import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { RowDecoders } from './row_decoders.js';

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
      const endsInText = (string: string) => whole.includes(string, Math.max(0, tail.length - string.length + 1));
      const hit = this.#strings.some(endsInText);
      this.#tails[row] = hit ? undefined : this.#tail(whole);
      return hit ? [row] : [];
    });
  }

  #tail(text: string): string {
    const reach = Math.max(...this.#strings.map((string) => string.length)) - 1;
    return reach === 0 ? '' : text.slice(-reach);
  }
}
