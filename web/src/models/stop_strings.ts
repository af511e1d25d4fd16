// Detects stop strings in the text of a generation.

import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { RowDecoders } from './row_decoders.js';

interface Tokens {
  told: readonly number[];
  held: readonly number[];
}

/** Detects strings in the text of every row; they may begin in the prompt and end within a token. */
export class StopStrings {
  readonly #strings: readonly string[];
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #decoders: RowDecoders;
  /** The end of each row's text, as long as a match may reach back; undefined after a match. */
  readonly #tails: (string | undefined)[];
  /** Of each row the tokens of the last text, and those since, which end in an incomplete character. */
  readonly #tokens: Tokens[];

  constructor(
    strings: readonly string[],
    tokenizer: PreTrainedTokenizer,
    prompt: readonly (readonly number[])[],
    ends: readonly number[],
  ) {
    this.#strings = strings;
    this.#tokenizer = tokenizer;
    this.#decoders = new RowDecoders(tokenizer, prompt, ends, false);
    this.#tails = prompt.map((ids) => this.#tail(tokenizer.decode(ids, { clean_up_tokenization_spaces: false })));
    this.#tokens = prompt.map((told) => ({ told, held: [] }));
  }

  /** The rows whose text, with these tokens, contains one of the strings. */
  found(ids: readonly number[]): number[] {
    return this.#decoders.push(ids, false).flatMap((text, row) => {
      const tail = this.#tails[row];
      if (tail === undefined) return [];
      const { told, held } = this.#tokens[row] as Tokens;
      const tokens = { told, held: [...held, ids[row] as number] };
      const whole = tail + (text || this.#held(tokens));
      this.#tokens[row] = text === '' ? tokens : { told: tokens.held, held: [] };
      const endsInText = (string: string) => whole.includes(string, Math.max(0, tail.length - string.length + 1));
      const hit = this.#strings.some(endsInText);
      this.#tails[row] = hit ? undefined : this.#tail(tail + text);
      return hit ? [row] : [];
    });
  }

  /** The text before an incomplete character. */
  #held({ told, held }: Tokens): string {
    const decoders = new RowDecoders(this.#tokenizer, [told], [], false);
    return held
      .flatMap((id, i) => decoders.push([id], i === held.length - 1))
      .join('')
      .replace(/\uFFFD+$/, '');
  }

  #tail(text: string): string {
    const reach = Math.max(...this.#strings.map((string) => string.length)) - 1;
    return reach === 0 ? '' : text.slice(-reach);
  }
}
