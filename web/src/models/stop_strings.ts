// Detects stop strings in the text of a generation.

import type { GenerationValue } from '../runtime/border.js';
import { refusedOption } from '../support/options.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { GenerationRequest } from './generation_options.js';
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

  /** Those of a generation that has begun; `own` is the tokenizer beside the model, if there is one. */
  static async of(
    { call, tokenizer, stop_strings }: GenerationRequest,
    { num_beams, eos_token_ids }: GenerationValue,
    prompt: readonly (readonly number[])[],
    own: () => Promise<PreTrainedTokenizer | undefined>,
  ): Promise<StopStrings> {
    const refuse = (why: string) => refusedOption(call, 'stop_strings', why, 'unsupported');
    if (num_beams > 1) throw refuse('are not looked for in a beam search');
    const found = tokenizer === null ? undefined : (tokenizer ?? (await own()));
    if (found === undefined) throw refuse('need a tokenizer, and there is none beside the model');
    return new StopStrings(stop_strings, found, prompt, eos_token_ids);
  }

  /** The rows whose text, with these tokens, contains one of the strings. */
  found(ids: readonly number[]): number[] {
    return this.#decoders.push(ids, false).flatMap((text, row) => {
      const tail = this.#tails[row];
      if (tail === undefined) return [];
      const whole = tail + (text || this.#decoders.pending(row));
      const endsInText = (string: string) => whole.includes(string, Math.max(0, tail.length - string.length + 1));
      const hit = this.#strings.some(endsInText);
      this.#tails[row] = hit ? undefined : this.#tail(tail + text);
      return hit ? [row] : [];
    });
  }

  #tail(text: string): string {
    const reach = Math.max(...this.#strings.map((string) => string.length)) - 1;
    return reach === 0 ? '' : text.slice(-reach);
  }
}
