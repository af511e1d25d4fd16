// The text of tokens: what each adds to the decoded text of its prefix.

import { type TokenNames, tokenName, tokenPiece } from 'clearformer/elements';

export interface Piece {
  readonly id: number;
  /** Text that the token adds to that of its prefix. */
  readonly text: string;
  /** The same as a label: without the space before a word; a lone space is ␣. */
  readonly label: string;
  readonly special: boolean;
}

/** A character without a look of its own, as vocabularies name its byte, or by its code point. */
function nameOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 2 ? `<U+${hex}>` : `<0x${hex.padStart(2, '0')}>`;
}

/** A token's text with line breaks, tabs, control characters and those that turn the direction made visible. */
export const visible = (text: string): string =>
  text
    .replaceAll('\n', '↵')
    .replaceAll('\t', '⇥')
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, nameOf);

/** A token's text as a label: " dog" is "dog", a lone space (also one that is spelled ▁) "␣", a line break "↵". */
function labelOf(text: string): string {
  const bare = text.startsWith(' ') && text.length > 1 ? text.slice(1) : text;
  return visible(bare.replace(/[ ▁]/g, '␣')) || '∅';
}

/** As much of a label as has room; of a byte's name, `<0xD7>`, what tells it from others. */
export const shortened = (label: string, width: number): string => {
  const most = Math.max(2, Math.floor(width / 8));
  if (label.length <= most) return label;
  return /^<0x(..)>$/.exec(label)?.[1] ?? `${label.slice(0, most - 1)}…`;
};

/** A piece depends on at most this many preceding ids (the reach of `tokenPiece`), so pieces are cached by them. */
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

  /** A token alone, as a candidate for the next position. */
  alone(id: number): Piece {
    const special = this.#special.has(id);
    const spelled = tokenName(this.tokenizer, id);
    const text = special ? spelled : spelled.replaceAll('▁', ' ').replaceAll('Ġ', ' ').replaceAll('<0x0A>', '\n');
    return { id, text, label: special ? text : labelOf(text), special };
  }
}
