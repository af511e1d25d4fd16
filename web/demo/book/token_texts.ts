// Tokens as the reader sees them: the text that each adds after the ones before it.

import { type TokenNames, tokenName, tokenPiece } from 'clearformer/elements';

export interface Piece {
  readonly id: number;
  /** Text that the token adds after the ones before it. */
  readonly text: string;
  /** The same as a label: without the blank before a word; a blank by itself is ␣. */
  readonly label: string;
  readonly special: boolean;
}

/** A token's text as a label: " dog" is "dog", a blank by itself "␣", a line's end "↵". */
function labelOf(text: string): string {
  const bare = text.startsWith(' ') && text.length > 1 ? text.slice(1) : text;
  return bare.replaceAll(' ', '␣').replaceAll('\n', '↵').replaceAll('\t', '⇥') || '∅';
}

/** A piece depends on so many ids at most (the reach of `tokenPiece`), so pieces are remembered by them. */
const reach = 5;
const mostKnown = 4096;

export class TokenTexts {
  readonly #special: ReadonlySet<number>;
  readonly #known = new Map<string, Piece>();

  constructor(private readonly tokenizer: TokenNames) {
    this.#special = new Set(tokenizer.all_special_ids);
  }

  /** The piece of the last of `ids`. */
  piece(ids: readonly number[]): Piece {
    const near = ids.slice(-reach);
    const key = near.join();
    const known = this.#known.get(key);
    if (known) return known;
    const { text, special = false } = tokenPiece(this.tokenizer, near);
    const piece = { id: near.at(-1) ?? 0, text, label: special ? text : labelOf(text), special };
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(key, piece);
    return piece;
  }

  pieces(ids: readonly number[]): Piece[] {
    return ids.map((_, i) => this.piece(ids.slice(Math.max(0, i + 1 - reach), i + 1)));
  }

  /** A token by itself, as a candidate for the next place. */
  alone(id: number): Piece {
    const special = this.#special.has(id);
    const spelled = tokenName(this.tokenizer, id);
    const text = special ? spelled : spelled.replaceAll('▁', ' ').replaceAll('Ġ', ' ').replaceAll('<0x0A>', '\n');
    return { id, text, label: special ? text : labelOf(text), special };
  }
}
