// Patterns of an untrusted tokenizer.json: none keeps the page busy for ever, and ordinary ones match what the engine's
// RegExp does.

import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { array, assert, constantFrom, letrec, oneof, property, string, tuple } from 'fast-check';
import { expect, it } from 'vitest';

/** The parts of a text before, in and between the matches of a pattern, as split by the tokenizer. */
function cut(pattern: string, text: string): string[] {
  const vocab: Record<string, number> = { '[UNK]': 0, a: 1, b: 2 };
  const tokenizer = new PreTrainedTokenizer({
    model: { type: 'WordPiece', vocab, unk_token: '[UNK]', continuing_subword_prefix: '##' },
    pre_tokenizer: { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated' },
  });
  const { offset_mapping } = tokenizer(text, { return_offsets_mapping: true, return_tensor: false });
  return (offset_mapping as [number, number][]).map(([from, to]) => text.slice(from, to));
}

/** The same by the engine's RegExp. */
function expected(pattern: string, text: string): string[] {
  const parts: string[] = [];
  let last = 0;
  for (const { 0: match, index } of text.matchAll(new RegExp(pattern, 'gu'))) {
    parts.push(text.slice(last, index), match);
    last = index + match.length;
  }
  return [...parts, text.slice(last)].filter((part) => part !== '');
}

// Backtracking engines would not finish: exponential time in the first six, cubic and higher powers in the others.
it.each([
  ['(a+)+$', 1],
  ['(a|a)*b', 1],
  ['(a|aa)+$', 1],
  ['(a*)*b', 1],
  ['([a-z]+)*=', 1],
  ['(?:(?:a?){9}){9}b', 1],
  ['(x+x+)+y', 1],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 1],
  ['(.*,){30}c', 1],
  ['(?=(a+)+b)a', 1],
] as const)('%s ends', (pattern, parts) => {
  const letter = pattern.includes('x+') ? 'x' : 'a';
  expect(cut(pattern, letter.repeat(5000))).toHaveLength(parts);
});

it.each(['(?:(?=a*c)a)+', '(?>a+)+b', '(?<=a*)b'])('%s is given up, by name', (pattern) => {
  expect(() => cut(pattern, `${'a'.repeat(20_000)}c`)).toThrow(
    expect.objectContaining({ code: 'unsupported', message: expect.stringContaining(`pattern ${pattern}`) }),
  );
});

it.each(['a{1,500}{1,500}b', `${'('.repeat(5000)}a${')'.repeat(5000)}`, `${'(?='.repeat(150)}a${')'.repeat(150)}`])(
  'a pattern that is too large is refused: %.20s',
  (pattern) => {
    expect(() => cut(pattern, 'ab')).toThrow(expect.objectContaining({ code: 'unsupported' }));
  },
);

it('takes characters whole', () => {
  expect(cut('(?<=𝒳).', '𝒳a𝒳𝒳b')).toEqual(['𝒳', 'a', '𝒳', '𝒳', 'b']);
  expect(cut('(?<!a)', 'a𝒳b')).toEqual(['a𝒳', 'b']);
});

it('an atomic group gives nothing back', () => {
  expect(cut('(?>a+)ab|b', 'aaab')).toEqual(['aaa', 'b']);
  expect(cut('a++b', 'aaab')).toEqual(['aaab']);
});

it('finds what RegExp finds', () => {
  const quantifier = constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{2,}', '{0,2}?');
  const { node } = letrec((tie) => ({
    node: oneof({ maxDepth: 4 }, tie('leaf'), tie('sequence'), tie('choice'), tie('repeat'), tie('look')),
    leaf: constantFrom('a', 'b', '[ab]', '[^a]', 'é', '(?:)'),
    sequence: array(tie('node'), { maxLength: 3 }).map((parts) => parts.join('')),
    choice: array(tie('node'), { minLength: 1, maxLength: 3 }).map((parts) => `(?:${parts.join('|')})`),
    // Engines differ for a repeated body that matches the empty string.
    repeat: tuple(constantFrom('a', 'b', '[ab]', '(?:a|b+)'), tie('node'), quantifier).map(
      ([first, rest, often]) => `(?:${first}${rest})${often}`,
    ),
    look: tuple(constantFrom('=', '!', '<=', '<!'), tie('node')).map(([sign, body]) => `(?${sign}${body})`),
  }));
  const text = string({ unit: constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 12 });
  assert(
    property(node, text, (pattern, given) => {
      expect(cut(String(pattern), given)).toEqual(expected(String(pattern), given));
    }),
    { numRuns: 3000 },
  );
});

it('spaces are stripped however many there are', () => {
  const tokenizer = new PreTrainedTokenizer({
    model: { type: 'WordLevel', vocab: { a: 0, '[UNK]': 1 }, unk_token: '[UNK]' },
    normalizer: { type: 'Strip', strip_left: true, strip_right: true },
  });
  const long = ' '.repeat(1_000_000);
  expect(tokenizer.encode(`${long}a${long}`)).toEqual([0]);
  expect(tokenizer.encode(`a${long}b`)).toEqual([1]);
  expect(tokenizer.encode(long)).toEqual([]);
});
