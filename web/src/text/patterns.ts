// Patterns of tokenizer.json: texts as they stand, and regular expressions, which are compiled in a file of their own.

import type { Pattern } from './pattern.js';
import { isObject, malformed } from './step.js';
import { onDemand } from './unicode.js';

/** The pattern of a step: `{ String }` or `{ Regex }`, or text, which is meant as it stands. */
export function patternOf(held: unknown): Pattern {
  const literal = isObject(held) ? held.String : held;
  if (typeof literal === 'string') return literalPattern(literal);
  if (isObject(held) && typeof held.Regex === 'string') return onDemand().regularExpression(held.Regex);
  throw malformed('a pattern must be { "String": text } or { "Regex": text }');
}

export function literalPattern(text: string): RegExp {
  return new RegExp(escapedText(text), 'gu');
}

/** A text as a RegExp spells it. */
export function escapedText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
