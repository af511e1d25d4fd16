// White space, and access to the parts that only some tokenizers need.

import { ClearformerError } from '../support/error.js';
import type { Steps } from '../support/steps.js';
import type { AlignedText } from './aligned_text.js';
import { type CodePoints, classOf, codePointsOf, union } from './code_points.js';
import type { Model, ModelParts, Scored } from './model_parts.js';
import type { Pattern } from './pattern.js';
import type { Step } from './step.js';

type Normalize = (text: AlignedText) => Steps<AlignedText>;

/** What on_demand.ts has: SentencePiece tokenizers do without. */
interface Tables {
  regularExpression(source: string): Pattern;
  unicodeNormalizer(step: Step): Normalize;
  neitherNorSpace(set: CodePoints): CodePoints;
  numeric(): CodePoints;
  punctuation(): CodePoints;
  wordCharacters(): CodePoints;
}

/** What sentence_pieces.ts has. */
interface Pieces {
  precompiled(charsmap: string): Normalize;
  unigram(parts: ModelParts, vocab: Scored): Model['tokenize'];
}

/** The parts that only some tokenizers need. */
interface Parts {
  tables: Tables;
  pieces: Pieces;
}

const loaded: Partial<Parts> = {};

export function useParts(given: Partial<Parts>): void {
  Object.assign(loaded, given);
}

/** A tokenizer needs a part that has not been loaded. */
export class NotLoaded extends ClearformerError {
  constructor(readonly part: keyof Parts) {
    const how = "load the tokenizer with AutoTokenizer, or import PreTrainedTokenizer from 'clearformer/tokenizer'";
    super('unsupported', `tokenizer.json needs a part (${part}) that is not loaded: ${how}`);
  }
}

export function needed<P extends keyof Parts>(part: P): Parts[P] {
  const found = loaded[part];
  if (found === undefined) throw new NotLoaded(part);
  return found;
}

export const onDemand = (): Parts['tables'] => needed('tables');

/** White_Space, unchanged since Unicode 6.3. */
export const whiteSpace: CodePoints = union(
  [0x09, 0x0d, 0x2000, 0x200a, 0x2028, 0x2029],
  codePointsOf(' \u0085\u00a0\u1680\u202f\u205f\u3000'),
);

/** A pattern with the flags g and u, made of classes and strings. */
export function patternWith(...parts: readonly (string | CodePoints)[]): RegExp {
  return new RegExp(parts.map((part) => (typeof part === 'string' ? part : classOf(part))).join(''), 'gu');
}

/** A value computed on first use. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
