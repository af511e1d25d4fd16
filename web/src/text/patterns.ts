// Patterns of tokenizer.json, which are Oniguruma's regular expressions in Ruby's syntax, as JavaScript's. Classes become
// explicit ranges of the crate's version of Unicode; what JavaScript has no equal for is refused by name.

import { classOf } from './code_points.js';
import { inEachCase, type Reader, readClass, readEscape, word } from './pattern_classes.js';
import { isObject, malformed, unsupported } from './step.js';

/** The global pattern of a step: `{ String }` or `{ Regex }`, or text, which is meant as it stands. */
export function patternOf(held: unknown): RegExp {
  const literal = isObject(held) ? held.String : held;
  if (typeof literal === 'string') return literalPattern(literal);
  if (isObject(held) && typeof held.Regex === 'string') return translated(held.Regex);
  throw malformed('a pattern must be { "String": text } or { "Regex": text }');
}

export function literalPattern(text: string): RegExp {
  return new RegExp(escapedText(text), 'gu');
}

/** A text as a RegExp spells it. */
export function escapedText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function translated(source: string): RegExp {
  const translator = new Translator(source);
  const javascript = translator.whole();
  try {
    return new RegExp(javascript, 'gu');
  } catch (thrown) {
    throw unsupported(`the pattern ${source} is not understood (${String(thrown)})`);
  }
}

const textStart = '(?<![^])';
const textEnd = '(?![^])';
const fixed: Readonly<Record<string, string>> = {
  A: textStart,
  z: textEnd,
  Z: `(?=\\n?${textEnd})`,
  N: '[^\\n]',
  O: '[^]',
  R: '(?:\\r\\n|[\\n-\\r\\u{85}\\u{2028}\\u{2029}])',
};
// Letters that small ones of other spellings are written with when case does not count: ß for ss, ﬁ for fi, ŉ for ʼn, …
const writtenAsOne =
  /ss|ff|fi|fl|st|[\u00df\u0130\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1e9e\u1f50-\u1fff\ufb00-\ufb17]|\u02bcn/iu;

class Translator implements Reader {
  readonly source: string;
  at = 0;
  #fold = false; // capital and small letters are the same
  #dotAll = false; // a dot is a line's end, too
  #groups = 0;
  #literals = ''; // the literal characters just before, when case does not count

  constructor(source: string) {
    this.source = source;
  }

  whole(): string {
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

  /** Up to the ) of the group, or the end. Options that are set in it end with it. */
  #alternatives(): string {
    const [fold, dotAll] = [this.#fold, this.#dotAll];
    let result = '';
    for (;;) {
      const next = this.source[this.at];
      if (next === undefined || next === ')') break;
      if (this.#take(/\|/y) !== null) {
        this.#literals = '';
        result += '|';
        continue;
      }
      // An option in the middle of a sequence concerns all that follows in its group, further alternatives too.
      const options = this.#take(/\(\?([imx]*)(?:-([imx]+))?\)/y);
      if (options === null) result += this.#quantified(this.#atom());
      else {
        this.#setOptions(options[1] ?? '', options[2] ?? '');
        result += `(?:${this.#alternatives()})`;
      }
    }
    [this.#fold, this.#dotAll] = [fold, dotAll];
    return result;
  }

  #setOptions(on: string, off: string): void {
    if (on.includes('x')) throw unsupported(`(?x) in the pattern ${this.source} is not read here`);
    if (/i/.test(on + off)) this.#fold = on.includes('i') && !off.includes('i');
    if (/m/.test(on + off)) this.#dotAll = on.includes('m') && !off.includes('m');
  }

  #atom(): string {
    const { source } = this;
    const next = source[this.at] ?? '';
    if (next === '(') return this.#group();
    if (next !== '\\' && !/[\p{L}\p{M}']/u.test(next)) this.#literals = '';
    if (next === '[') return classOf(readClass(this, this.#fold));
    if (next === '\\') return this.#escape();
    if (/[*+?]/.test(next)) throw this.#broken(`has a ${next} with nothing before it`);
    const character = String.fromCodePoint(source.codePointAt(this.at) ?? 0);
    this.at += character.length;
    if (character === '.') return this.#dotAll ? '[^]' : '[^\\n]';
    if (character === '^') return `(?:${textStart}|(?<=\\n)(?=[^]))`;
    if (character === '$') return `(?=\\n|${textEnd})`;
    return this.#literal(character);
  }

  #literal(character: string): string {
    if (!this.#fold) return escapedText(character);
    this.#literals += character;
    if (writtenAsOne.test(this.#literals)) {
      throw unsupported(`the pattern ${this.source}: ${this.#literals} without regard to case is not read here`);
    }
    return classOf(inEachCase(character));
  }

  #escape(): string {
    const letter = this.source[this.at + 1] ?? '';
    if (letter in fixed || letter === 'b' || letter === 'B') {
      this.at += 2;
      const inWord = classOf(word());
      const [same, other] = letter === 'b' ? ['!', '='] : ['=', '!'];
      return fixed[letter] ?? `(?:(?<=${inWord})(?${same}${inWord})|(?<!${inWord})(?${other}${inWord}))`;
    }
    const { set, code } = readEscape(this);
    return code === undefined ? classOf(set) : this.#literal(String.fromCodePoint(code));
  }

  #group(): string {
    this.#literals = '';
    if (this.#take(/\(\?#[^)]*\)/y) !== null) return '';
    const [fold, dotAll] = [this.#fold, this.#dotAll];
    const options = this.#take(/\(\?([imx]*)(?:-([imx]+))?:/y);
    if (options !== null) this.#setOptions(options[1] ?? '', options[2] ?? '');
    // Nothing can refer to a group's text, so that no group needs to keep it.
    const opening = options ?? this.#take(/\(\?(?:<?[=!]|>|<\w+>)|\((?!\?)/y);
    if (opening === null) throw unsupported(`a group in the pattern ${this.source} is not read here`);
    const inner = this.#alternatives();
    if (this.#take(/\)/y) === null) throw this.#broken('has a ( too many');
    [this.#fold, this.#dotAll] = [fold, dotAll];
    this.#literals = '';
    if (opening[0] === '(?>') return this.#atomic(inner);
    return /^\(\?<?[=!]/.test(opening[0]) ? `(?:${opening[0]}${inner}))` : `(?:${inner})`;
  }

  /** A part that gives nothing back once it has matched: JavaScript's lookahead does not either. */
  #atomic(inner: string): string {
    const name = `once${this.#groups++}`;
    return `(?:(?=(?<${name}>${inner}))\\k<${name}>)`;
  }

  /** The atom with what says how often it comes. */
  #quantified(atom: string): string {
    let result = atom;
    for (;;) {
      const sign = this.#take(/([*+?])([+?]?)/y);
      const bounds = sign === null ? this.#take(/\{(?:(\d+)(,?)(\d*)|,(\d+))\}(\??)/y) : null;
      if (sign === null && bounds === null) return result;
      this.#literals = '';
      if (atom === '') throw this.#broken('repeats nothing');
      if (sign !== null) {
        const [, often = '', manner] = sign;
        result = manner === '+' ? this.#atomic(result + often) : `(?:${result}${often}${manner})`;
      } else if (bounds !== null) result = this.#bounded(result, bounds);
    }
  }

  // {,n} is {0,n}, {n}? may come or not, and a + after any of them repeats it.
  #bounded(atom: string, [, first, comma, second, upTo, lazy = '']: RegExpExecArray): string {
    const low = Number(first ?? 0);
    const high = upTo ?? (comma === '' ? String(low) : (second ?? ''));
    if (high !== '' && Number(high) < low) throw this.#broken('has bounds the wrong way round');
    if (comma === '' && upTo === undefined) return `(?:${atom}{${low}})${lazy}`;
    return `(?:${atom}{${low},${high}}${lazy})`;
  }
}
