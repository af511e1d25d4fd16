// Regular expressions of tokenizer.json. An untrusted pattern can keep a backtracking engine busy for ever, so only the
// patterns of published tokenizers, which cannot, run in the engine's RegExp; all others run in pattern_matcher.ts.

import { gpt2Words } from './byte_level.js';
import { classOf } from './code_points.js';
import type { Pattern } from './pattern.js';
import { PatternMatcher } from './pattern_matcher.js';
import { type PatternNode, parsedPattern } from './pattern_syntax.js';
import { clipWords } from './vocabulary_files.js';

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const letters = '[^\\r\\n\\p{L}\\p{N}]?';
const capitalised = `${letters}[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+`;
const capitals = `${letters}[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*`;
const spaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const marks = ' ?[^\\s\\p{L}\\p{N}]+';

/** At every position of a text a match begins, or a single step shows that none does: they take linear time. */
const published: ReadonlySet<string> = new Set([
  gpt2Words,
  ...['\\p{N}{1,3}', '\\p{N}'].map(
    (digits) => `${contractions}|${letters}\\p{L}+|${digits}|${marks}[\\r\\n]*|${spaces}`,
  ), // Llama 3, Qwen
  `${capitalised}${contractions}?|${capitals}${contractions}?|\\p{N}{1,3}|${marks}[\\r\\n/]*|${spaces}`, // o200k
  `${capitalised}|${capitals}|\\p{N}|${marks}[\\r\\n/]*|${spaces}`, // Mistral's tekken
  clipWords,
  '\\s+',
  '\\n',
  '\\d',
  '[0-9]',
  '\\p{N}{1,3}',
]);

/** Compiles a pattern. Throws `malformed_config` for an invalid one, `unsupported` for unsupported syntax. */
export function regularExpression(source: string): Pattern {
  const tree = parsedPattern(source);
  return published.has(source) ? new RegExp(spelled(tree), 'gu') : new PatternMatcher(source, tree);
}

/** A tree in JavaScript's syntax. */
function spelled(node: PatternNode): string {
  switch (node.kind) {
    case 'set':
      return classOf(node.set);
    case 'sequence':
      return node.parts.map(spelled).join('');
    case 'choice':
      return `(?:${node.parts.map(spelled).join('|')})`;
    case 'repeat': {
      const most = Number.isFinite(node.most) ? node.most : '';
      return `(?:${spelled(node.body)}){${node.least},${most}}${node.lazy ? '?' : ''}`;
    }
    case 'look':
      return `(?${node.behind ? '<' : ''}${node.negated ? '!' : '='}${spelled(node.body)})`;
    case 'atomic':
      throw new Error('no published pattern has one');
  }
}
