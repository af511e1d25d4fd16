// tokenizer.json's `decoder`: from tokens back to text. The steps are the library's.

import {
  BPEDecoder,
  ByteFallbackDecoder,
  ByteLevelDecoder,
  CTCDecoder,
  type Decoder,
  FuseDecoder,
  MetaspaceDecoder,
  ReplaceDecoder,
  SequenceDecoder,
  StripDecoder,
  WordPieceDecoder,
} from '@huggingface/tokenizers';
import type { AddedToken } from './added_tokens.js';
import { alignByteFallback } from './byte_fallback.js';
import { type Step, unknownStep } from './normalizers.js';

const classes: Readonly<Record<string, new (step: never) => Decoder>> = {
  ByteLevel: ByteLevelDecoder,
  WordPiece: WordPieceDecoder,
  Metaspace: MetaspaceDecoder,
  BPEDecoder,
  CTC: CTCDecoder,
  Sequence: SequenceDecoder,
  Replace: ReplaceDecoder,
  Fuse: FuseDecoder,
  Strip: StripDecoder,
  ByteFallback: ByteFallbackDecoder,
};

/** How tokens become text; throws `unsupported` for a step of an unknown type. */
export function decoderOf(
  step: Step | null | undefined,
  added: readonly AddedToken[],
  suffix: string | null | undefined,
): (tokens: string[]) => string {
  if (step === null || step === undefined) return (tokens) => tokens.join(' ');
  const Class = classes[step.type];
  if (Class === undefined) throw unknownStep('decoder', step.type);
  const decoder = new Class(step as never);
  decoder.added_tokens = added as never;
  decoder.end_of_word_suffix = suffix ?? null;
  alignByteFallback(decoder);
  if (!suffix) return (tokens) => decoder.decode(tokens);
  return (tokens) => decoder.decode(tokens).replaceAll(suffix, ' ').trim(); // the last word's end is no space
}

/** Text without the spaces that word pieces leave before punctuation and English endings. */
export function cleanedUp(text: string): string {
  return text
    .replace(/ (?=[.?!,])/g, '')
    .replace(/ ' /g, "'")
    .replace(/ (?=n't|'m|'s|'ve|'re)/g, '');
}
