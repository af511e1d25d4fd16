// Tokens as the reader sees them: the text that each adds after the ones before it.

import type { PreTrainedTokenizer } from 'clearformer';

export interface Piece {
  /** Text that a token adds after the ones before it. */
  text: string;
  special: boolean;
}

/** Who put a token there. */
export type Origin = 'prompt' | 'model' | 'reader';

export interface ShownToken extends Piece {
  origin: Origin;
}

type Names = Pick<PreTrainedTokenizer, 'decode' | 'convert_ids_to_tokens' | 'vocab_size' | 'all_special_ids'>;

/** How many tokens before one are decoded with it: enough for a character spread over several byte tokens. */
const reach = 5;

export class TokenTexts {
  readonly #special: ReadonlySet<number>;

  constructor(private readonly tokenizer: Names) {
    this.#special = new Set(tokenizer.all_special_ids);
  }

  /** The piece of the last of `ids`. */
  piece(ids: readonly number[]): Piece {
    const id = ids.at(-1) ?? 0;
    if (this.#special.has(id)) return { text: this.tokenizer.decode([id]), special: true };
    const near = ids.slice(-reach).filter((one) => !this.#special.has(one));
    const before = this.tokenizer.decode(near.slice(0, -1));
    const after = this.tokenizer.decode(near);
    const text = after.startsWith(before) && !after.endsWith('\uFFFD') ? after.slice(before.length) : '';
    return { text: text === '' ? this.#nameOf(id) : text, special: false };
  }

  pieces(ids: readonly number[]): Piece[] {
    return ids.map((_, i) => this.piece(ids.slice(0, i + 1)));
  }

  /** A whole text as tokens to show. */
  shown(ids: readonly number[], origin: Origin): ShownToken[] {
    return this.pieces(ids).map((piece) => ({ ...piece, origin }));
  }

  /** A token as the vocabulary spells it; some models count more tokens than their vocabulary has. */
  #nameOf(id: number): string {
    return id < this.tokenizer.vocab_size ? (this.tokenizer.convert_ids_to_tokens([id])[0] ?? '') : `#${id}`;
  }
}
