// Encodes a text to tokens, without special tokens around them: added tokens, normalizer, pre-tokenizer, model.

import type { Steps } from '../support/steps.js';
import {
  type AddedToken,
  addedTokenFinder,
  type FindAddedTokens,
  type SpelledToken,
  spelledTokens,
} from './added_tokens.js';
import { AlignedText, type Span } from './aligned_text.js';
import { decoderOf } from './decoder.js';
import { expectShort } from './invalid.js';
import type { Model, WordPart } from './model_parts.js';
import { hasScores } from './models.js';
import { normalizerOf } from './normalizers.js';
import { needsSpans, type PreTokenize, preTokenizerOf } from './pre_tokenizers.js';
import type { StoredSettings } from './settings.js';
import { settled, type TokenizerConfig } from './special_tokens.js';
import { NotLoaded, needed, onDemand } from './unicode.js';
import { BytePlaces } from './utf8.js';

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
  /** Whether it is not of a text. */
  special?: boolean;
  /** Its text, if it differs from the vocabulary's entry. */
  value?: string | undefined;
}

/** The parts of tokenizer.json used for encoding. */
export interface TokenizerJson {
  normalizer?: unknown;
  pre_tokenizer?: unknown;
  added_tokens?: AddedToken[];
}

/** All parts of tokenizer.json that are used. */
export interface WholeJson extends TokenizerJson, StoredSettings {
  model: { end_of_word_suffix?: string | null };
  post_processor?: unknown;
  decoder?: unknown;
}

/** A part that a tokenizer needs and that has not been loaded, if any. */
export function missingPart(
  json: TokenizerJson & { model?: unknown; decoder?: unknown },
  { added_tokens_decoder }: TokenizerConfig,
): NotLoaded['part'] | undefined {
  try {
    if (/"single_word":true/.test(JSON.stringify([json.added_tokens, added_tokens_decoder]))) onDemand();
    if (hasScores(json.model)) needed('pieces');
    normalizerOf(json.normalizer);
    preTokenizerOf(json.pre_tokenizer);
    decoderOf(json.decoder);
  } catch (thrown) {
    return thrown instanceof NotLoaded ? thrown.part : undefined; // other errors are reported by the constructor
  }
  return undefined;
}

const longestText = 2 ** 22; // UTF-16 code units

const nowhere: Span = [0, 0];
const unitsInStep = 2048; // code units, and some for each word
const unitsOfWord = 4;
const loneSurrogate = /\p{Surrogate}/gu; // has no UTF-8 encoding

export class Encoder {
  readonly added: readonly SpelledToken[];
  readonly #findAdded: FindAddedTokens;
  readonly #preTokenize: PreTokenize;
  readonly #model: Model;
  readonly #needsSpans: boolean;

  constructor(json: TokenizerJson, model: Model, config: TokenizerConfig) {
    const normalize = normalizerOf(settled(json.normalizer, config));
    const preTokenizer = settled(json.pre_tokenizer, config);
    this.added = spelledTokens(json.added_tokens ?? [], normalize);
    this.#findAdded = addedTokenFinder(this.added, normalize, config.split_special_tokens === true);
    this.#preTokenize = preTokenizerOf(preTokenizer);
    this.#needsSpans = needsSpans(preTokenizer);
    this.#model = model;
  }

  /** The text's tokens. Offsets are computed only `withOffsets`. */
  *encode(text: string, sequence: 0 | 1, withOffsets: boolean): Steps<Token[]> {
    expectShort(text.length, longestText);
    const aligned = AlignedText.of(text.replace(loneSurrogate, '\ufffd'), withOffsets || this.#needsSpans);
    const tokens: Token[] = [];
    let [word, units] = [0, 0];
    const add = (whole: AlignedText, parts: readonly WordPart[]) => {
      const places = new BytePlaces(text);
      for (const { id, from, to, value, beyond } of parts) {
        let [start, end] = withOffsets && !beyond ? whole.spanOf(from, to) : nowhere;
        if (withOffsets && beyond) {
          // As in the crate, it is counted from the text's start, and has two characters if it ends behind the text.
          start = places.of(from);
          end = places.of(to - 1) < text.length ? places.of(to) : Math.min(start + 2, text.length);
        }
        tokens.push({ id, start, end, word, sequence, type: sequence, value });
      }
      word++;
    };
    for (const { text: piece, token } of yield* this.#findAdded(aligned)) {
      // An added token is a word of its own.
      if (token !== undefined) {
        add(piece, [{ id: token.id, from: 0, to: piece.text.length, value: piece.text }]);
        continue;
      }
      for (const found of this.#preTokenize(piece)) {
        units += unitsOfWord + (found?.text.length ?? unitsInStep);
        if (units > unitsInStep) {
          units = 0;
          yield;
        }
        if (found === undefined || found.isEmpty) continue;
        const parts = this.#model.tokenize(found.text);
        add(found, 'length' in parts ? parts : yield* parts);
      }
    }
    return tokens;
  }
}
