// Encodes a text to tokens, without special tokens around them: added tokens, normalizer, pre-tokenizer, model.

import { type AddedToken, addedTokenFinder, type FindAddedTokens, type Piece } from './added_tokens.js';
import { AlignedText } from './aligned_text.js';
import { decoderOf } from './decoder.js';
import type { Model, WordPart } from './model_parts.js';
import { normalizerOf } from './normalizers.js';
import { needsSpans, type PreTokenize, preTokenizerOf } from './pre_tokenizers.js';
import type { TokenizerConfig } from './special_tokens.js';
import { NotLoaded, onDemand } from './unicode.js';

/** One token of a text, with all information of an encoding. */
export interface Token {
  id: number;
  /** UTF-16 code units [start, end) of the original text; 0, 0 for tokens without text. */
  start: number;
  end: number;
  /** The index of its word; null for tokens without text. */
  word: number | null;
  /** 0 the text, 1 its pair; null for tokens without text. */
  sequence: 0 | 1 | null;
  type: number;
  /** Its text, if it differs from the vocabulary's entry. */
  value?: string | undefined;
}

/** The parts of tokenizer.json used for encoding. */
export interface TokenizerJson {
  normalizer?: unknown;
  pre_tokenizer?: unknown;
  added_tokens?: AddedToken[];
}

/** Whether a tokenizer needs Unicode categories or patterns that are not loaded yet. */
export function needsOnDemand(
  json: TokenizerJson & { decoder?: unknown },
  { added_tokens_decoder }: TokenizerConfig,
): boolean {
  try {
    if (/"single_word":true/.test(JSON.stringify([json.added_tokens, added_tokens_decoder]))) onDemand();
    normalizerOf(json.normalizer);
    preTokenizerOf(json.pre_tokenizer);
    decoderOf(json.decoder, null);
  } catch (thrown) {
    return thrown instanceof NotLoaded; // other errors are reported when the tokenizer is created
  }
  return false;
}

const nowhere = [0, 0] as const;
const loneSurrogate = /\p{Surrogate}/gu; // has no UTF-8 encoding

export class Encoder {
  readonly #findAdded: FindAddedTokens;
  readonly #preTokenize: PreTokenize;
  readonly #model: Model;
  readonly #needsSpans: boolean;

  constructor(json: TokenizerJson, model: Model) {
    const normalize = normalizerOf(json.normalizer);
    const normalizedText = (text: string) => normalize(AlignedText.of(text, false)).text;
    this.#findAdded = addedTokenFinder(json.added_tokens ?? [], normalize, normalizedText);
    this.#preTokenize = preTokenizerOf(json.pre_tokenizer);
    this.#needsSpans = needsSpans(json.pre_tokenizer);
    this.#model = model;
  }

  /** The text's tokens. Offsets are computed only `withOffsets`. */
  encode(text: string, sequence: 0 | 1, withOffsets: boolean): Token[] {
    const aligned = AlignedText.of(text.replace(loneSurrogate, '\ufffd'), withOffsets || this.#needsSpans);
    const tokens: Token[] = [];
    let word = 0;
    for (const piece of this.#findAdded(aligned)) {
      for (const { text: whole, parts } of this.#words(piece)) {
        for (const { id, from, to, value } of parts) {
          const [start, end] = withOffsets ? whole.spanOf(from, to) : nowhere;
          tokens.push({ id, start, end, word, sequence, type: sequence, value });
        }
        word++;
      }
    }
    return tokens;
  }

  /** The words of a piece, with the tokens of each; an added token is a word of its own. */
  #words({ text, token }: Piece): { text: AlignedText; parts: readonly WordPart[] }[] {
    if (token !== undefined) {
      return [{ text, parts: [{ id: token.id, from: 0, to: text.text.length, value: text.text }] }];
    }
    const words = this.#preTokenize(text).filter((word) => !word.isEmpty);
    return words.map((word) => ({ text: word, parts: this.#model.tokenize(word.text) }));
  }
}
