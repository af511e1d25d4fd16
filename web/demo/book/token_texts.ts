// Tokens as the reader sees them: the text that each adds after the ones before it.

import type { PreTrainedTokenizer } from 'clearformer';

export interface Piece {
  readonly id: number;
  /** Text that the token adds after the ones before it. */
  readonly text: string;
  /** The same as a label: without the blank before a word; a blank by itself is ␣. */
  readonly label: string;
  readonly special: boolean;
}

type Names = Pick<PreTrainedTokenizer, 'decode' | 'convert_ids_to_tokens' | 'vocab_size' | 'all_special_ids'>;

/** How many tokens before one are decoded with it: enough for a character spread over several byte tokens. */
const reach = 5;

/** A token's text as a label: " dog" is "dog", a blank by itself "␣", a line's end "↵". */
export function labelOf(text: string): string {
  const bare = text.startsWith(' ') && text.length > 1 ? text.slice(1) : text;
  return bare.replaceAll(' ', '␣').replaceAll('\n', '↵').replaceAll('\t', '⇥') || '∅';
}

export class TokenTexts {
  readonly #special: ReadonlySet<number>;

  constructor(private readonly tokenizer: Names) {
    this.#special = new Set(tokenizer.all_special_ids);
  }

  /** The piece of the last of `ids`. */
  piece(ids: readonly number[]): Piece {
    const id = ids.at(-1) ?? 0;
    if (this.#special.has(id)) {
      const text = this.#nameOf(id);
      return { id, text, label: text, special: true };
    }
    const near = ids.slice(-reach).filter((one) => !this.#special.has(one));
    const before = this.tokenizer.decode(near.slice(0, -1));
    const after = this.tokenizer.decode(near);
    const added = after.startsWith(before) && !after.endsWith('\uFFFD') ? after.slice(before.length) : '';
    const text = added === '' ? this.#nameOf(id) : added;
    return { id, text, label: labelOf(text), special: false };
  }

  pieces(ids: readonly number[]): Piece[] {
    return ids.map((_, i) => this.piece(ids.slice(0, i + 1)));
  }

  /** A token by itself, as a candidate for the next place. */
  alone(id: number): Piece {
    const special = this.#special.has(id);
    const spelled = this.#nameOf(id);
    const text = special ? spelled : spelled.replaceAll('▁', ' ').replaceAll('Ġ', ' ').replaceAll('<0x0A>', '\n');
    return { id, text, label: special ? text : labelOf(text), special };
  }

  /** A token as the vocabulary spells it; some models count more tokens than their vocabulary has. */
  #nameOf(id: number): string {
    return id < this.tokenizer.vocab_size ? (this.tokenizer.convert_ids_to_tokens([id])[0] ?? '') : `#${id}`;
  }
}
