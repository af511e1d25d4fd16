// Patterns of tokenizer.json: literal strings, and regular expressions, whose code is loaded on demand.

import { isObject } from '../support/kinds.js';
import type { Pattern } from './pattern.js';
import { malformed } from './step.js';
import { onDemand } from './unicode.js';

/** The pattern of a step: `{ String }` or `{ Regex }`, or a string, which is literal. */
export function patternOf(held: unknown): Pattern {
  const literal = isObject(held) ? held.String : held;
  if (typeof literal === 'string') return literalPattern(literal);
  if (isObject(held) && typeof held.Regex === 'string') return onDemand().regularExpression(held.Regex);
  throw malformed('a pattern must be { "String": text } or { "Regex": text }');
}

/** Finds a string, whose characters are escaped. */
export function literalPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), 'gu');
}
