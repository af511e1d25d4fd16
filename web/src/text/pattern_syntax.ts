// Parses tokenizer.json's patterns, Oniguruma's regular expressions in Ruby's syntax, to a tree. Classes become the
// code points of the crate's version of Unicode; unsupported syntax is rejected by name.

import { complement, everything } from './code_point_algebra.js';
import { type CodePoints, codePointsOf } from './code_points.js';
import { inEachCase, type Reader, readClass, readEscape, word } from './pattern_classes.js';
import { malformed, unsupported } from './step.js';

/** A node of a pattern. No group is captured, since nothing can refer to it. */
export type PatternNode =
  | { kind: 'set'; set: CodePoints }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  | { kind: 'choice'; parts: readonly PatternNode[] }
  | { kind: 'repeat'; body: PatternNode; least: number; most: number; lazy: boolean }
  /** Never backtracks into the body once it has matched. */
  | { kind: 'atomic'; body: PatternNode }
  /** A lookahead or lookbehind for the body, which consumes nothing. */
  | { kind: 'look'; body: PatternNode; behind: boolean; negated: boolean };

const set = (of: CodePoints): PatternNode => ({ kind: 'set', set: of });
const sequence = (...parts: readonly PatternNode[]): PatternNode => ({ kind: 'sequence', parts });
const choice = (...parts: readonly PatternNode[]): PatternNode => ({ kind: 'choice', parts });
const look = (sign: string, body: PatternNode): PatternNode => ({
  kind: 'look',
  body,
  behind: sign.startsWith('<'),
  negated: sign.endsWith('!'),
});
const optional = (body: PatternNode, lazy: boolean): PatternNode => ({ kind: 'repeat', body, least: 0, most: 1, lazy });

const lineEnd = set([10, 10]);
const noLineEnd = set(complement([10, 10]));
const anything = set(everything);
const textStart = look('<!', anything);
const textEnd = look('!', anything);
const fixed: Readonly<Record<string, PatternNode>> = {
  A: textStart,
  z: textEnd,
  Z: look('=', sequence(optional(lineEnd, false), textEnd)),
  N: noLineEnd,
  O: anything,
  R: {
    kind: 'atomic',
    body: choice(sequence(set([13, 13]), lineEnd), set([10, 13, 0x85, 0x85, 0x2028, 0x2029])),
  },
};
// Letters whose case folding is several characters: ß for ss, ﬁ for fi, ŉ for ʼn, …
const writtenAsOne =
  /ss|ff|fi|fl|st|[\u00df\u0130\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1e9e\u1f50-\u1fff\ufb00-\ufb17]|\u02bcn/iu;

const deepest = 100; // maximum nesting of groups

/** Parses a pattern. Throws `malformed_config` for an invalid one, `unsupported` for unsupported syntax. */
export function parsedPattern(source: string): PatternNode {
  return new Parser(source).whole();
}

class Parser implements Reader {
  readonly source: string;
  at = 0;
  #fold = false; // case-insensitive
  #dotAll = false; // a dot matches line ends
  #literals = ''; // the preceding literal characters, if case-insensitive
  #depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  whole(): PatternNode {
    const result = this.#alternatives();
    if (this.at < this.source.length) throw this.#broken('has a ) too many');
    return result;
  }

  #broken(why: string): Error {
    return malformed(`the pattern ${this.source} ${why}`);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (found !== null) this.at += found[0].length;
    return found;
  }

  /** Parses up to the ) of the group, or the end. Options set inside end with the group. */
  #alternatives(): PatternNode {
    if (++this.#depth > deepest) throw unsupported(`a pattern has more than ${deepest} groups in one another`);
    const [fold, dotAll] = [this.#fold, this.#dotAll];
    const options: PatternNode[] = [];
    let parts: PatternNode[] = [];
    for (;;) {
      const next = this.source[this.at];
      if (next === undefined || next === ')') break;
      if (this.#take(/\|/y) !== null) {
        this.#literals = '';
        options.push(sequence(...parts));
        parts = [];
        continue;
      }
      // An option within a sequence applies to the rest of its group, including further alternatives.
      const set = this.#take(/\(\?([imx]*)(?:-([imx]+))?\)/y);
      if (set === null) parts.push(this.#quantified(this.#atom()));
      else {
        this.#setOptions(set[1] ?? '', set[2] ?? '');
        parts.push(this.#alternatives());
      }
    }
    [this.#fold, this.#dotAll] = [fold, dotAll];
    this.#depth--;
    return options.length === 0 ? sequence(...parts) : choice(...options, sequence(...parts));
  }

  #setOptions(on: string, off: string): void {
    if (on.includes('x')) throw unsupported(`(?x) in the pattern ${this.source} is not read here`);
    if (/i/.test(on + off)) this.#fold = on.includes('i') && !off.includes('i');
    if (/m/.test(on + off)) this.#dotAll = on.includes('m') && !off.includes('m');
  }

  #atom(): PatternNode | undefined {
    const { source } = this;
    const next = source[this.at] ?? '';
    if (next === '(') return this.#group();
    if (next !== '\\' && !/[\p{L}\p{M}']/u.test(next)) this.#literals = '';
    if (next === '[') return set(readClass(this, this.#fold));
    if (next === '\\') return this.#escape();
    if (/[*+?]/.test(next)) throw this.#broken(`has a ${next} with nothing before it`);
    const character = String.fromCodePoint(source.codePointAt(this.at) ?? 0);
    this.at += character.length;
    if (character === '.') return this.#dotAll ? anything : noLineEnd;
    if (character === '^') return choice(textStart, sequence(look('<=', lineEnd), look('=', anything)));
    if (character === '$') return look('=', choice(lineEnd, textEnd));
    return this.#literal(character);
  }

  #literal(character: string): PatternNode {
    if (!this.#fold) return set(codePointsOf(character));
    this.#literals += character;
    if (writtenAsOne.test(this.#literals)) {
      throw unsupported(`the pattern ${this.source}: ${this.#literals} without regard to case is not read here`);
    }
    return set(inEachCase(character));
  }

  #escape(): PatternNode {
    const letter = this.source[this.at + 1] ?? '';
    const known = letter === 'b' || letter === 'B' ? wordEdge(letter === 'b') : fixed[letter];
    if (known !== undefined) {
      this.at += 2;
      return known;
    }
    const { set: codes, code } = readEscape(this);
    return code === undefined ? set(codes) : this.#literal(String.fromCodePoint(code));
  }

  /** The contents of parentheses; undefined for a comment. */
  #group(): PatternNode | undefined {
    this.#literals = '';
    if (this.#take(/\(\?#[^)]*\)/y) !== null) return undefined;
    const [fold, dotAll] = [this.#fold, this.#dotAll];
    const options = this.#take(/\(\?([imx]*)(?:-([imx]+))?:/y);
    if (options !== null) this.#setOptions(options[1] ?? '', options[2] ?? '');
    const opening = options ?? this.#take(/\(\?(?:(<?[=!])|>|<\w+>)|\((?!\?)/y);
    if (opening === null) throw unsupported(`a group in the pattern ${this.source} is not read here`);
    const body = this.#alternatives();
    if (this.#take(/\)/y) === null) throw this.#broken('has a ( too many');
    [this.#fold, this.#dotAll] = [fold, dotAll];
    this.#literals = '';
    if (opening[0] === '(?>') return { kind: 'atomic', body };
    const sign = options === null ? opening[1] : undefined;
    return sign === undefined ? body : look(sign, body);
  }

  /** The atom with its quantifier. */
  #quantified(atom: PatternNode | undefined): PatternNode {
    let body = atom ?? sequence();
    for (;;) {
      const sign = this.#take(/([*+?])([+?]?)/y);
      const bounds = sign === null ? this.#take(/\{(?:(\d+)(,?)(\d*)|,(\d+))\}(\??)/y) : null;
      if (sign === null && bounds === null) return body;
      this.#literals = '';
      if (atom === undefined) throw this.#broken('repeats nothing');
      if (sign !== null) {
        const [, often, manner] = sign;
        const most = often === '?' ? 1 : Number.POSITIVE_INFINITY;
        body = { kind: 'repeat', body, least: often === '+' ? 1 : 0, most, lazy: manner === '?' };
        if (manner === '+') body = { kind: 'atomic', body };
      } else if (bounds !== null) body = this.#bounded(body, bounds);
    }
  }

  // {,n} is {0,n}, {n}? is optional, and a + after any of them repeats it.
  #bounded(body: PatternNode, [, first, comma, second, upTo, lazy]: RegExpExecArray): PatternNode {
    const least = Number(first ?? 0);
    const high = upTo ?? (comma === '' ? String(least) : (second ?? ''));
    const most = high === '' ? Number.POSITIVE_INFINITY : Number(high);
    if (most < least) throw this.#broken('has bounds the wrong way round');
    const exact = comma === '' && upTo === undefined;
    const repeated: PatternNode = { kind: 'repeat', body, least, most, lazy: lazy === '?' && !exact };
    return exact && lazy === '?' ? optional(repeated, false) : repeated;
  }
}

function wordEdge(isEdge: boolean): PatternNode {
  const inWord = set(word());
  const [same, other] = isEdge ? ['!', '='] : ['=', '!'];
  return choice(sequence(look('<=', inWord), look(same, inWord)), sequence(look('<!', inWord), look(other, inWord)));
}
