// Character classes of Oniguruma's regular expressions as sets of code points
// (https://github.com/kkos/oniguruma/blob/master/doc/RE).

import { charactersOf, complement, everything, intersection, lastCodePoint, without } from './code_point_algebra.js';
import { type CodePoints, classOf, codePointsOf, union } from './code_points.js';
import { malformed, unsupported } from './step.js';
import { once, whiteSpace } from './unicode.js';
import { alphabetic, category, smallLetter } from './unicode_sets.js';

/** A source read character by character; `at` is the position of the next. */
export interface Reader {
  readonly source: string;
  at: number;
}

const hexDigits = codePointsOf('0123456789ABCDEFabcdef');
/** \w and \p{Word} outside of classes: the word characters, and those of Latin-1 that are numbers. */
export const word = once(() => union(posixWord(), codePointsOf('\u00b2\u00b3\u00b9\u00bc\u00bd\u00be')));
const posixWord = once(() => union(alphabetic(), category('M'), category('Nd'), category('Pc')));
const assigned = () => complement(category('Cn'));
const printed = () => without(assigned(), union(category('Cc'), category('Cs')));

const posixClasses: Readonly<Record<string, () => CodePoints>> = {
  alpha: alphabetic,
  digit: () => category('Nd'),
  alnum: () => union(alphabetic(), category('Nd')),
  word: posixWord,
  space: () => whiteSpace,
  blank: () => union(category('Zs'), [9, 9]),
  cntrl: () => category('Cc'),
  punct: () => union(category('P'), category('S')),
  graph: () => without(printed(), whiteSpace),
  print: () => without(printed(), without(whiteSpace, category('Zs'))),
  xdigit: () => hexDigits,
  ascii: () => [0, 0x7f],
};

// Properties of \p{…} besides categories and the classes above.
const properties: Readonly<Record<string, () => CodePoints>> = {
  ...posixClasses,
  any: () => everything,
  assigned,
  alphabetic,
  whitespace: () => whiteSpace,
  punct: () => category('P'),
  lc: () => union(...['Lu', 'Ll', 'Lt'].map(category)),
};

const categoryNames =
  `Letter Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter Other_Letter Mark Nonspacing_Mark Spacing_Mark
Enclosing_Mark Number Decimal_Number Letter_Number Other_Number Punctuation Connector_Punctuation Dash_Punctuation
Open_Punctuation Close_Punctuation Initial_Punctuation Final_Punctuation Other_Punctuation Symbol Math_Symbol Currency_Symbol
Modifier_Symbol Other_Symbol Separator Space_Separator Line_Separator Paragraph_Separator Other Control Format Surrogate
Private_Use Unassigned`.split(/\s/);
const shortNames =
  'L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn'.split(' ');
const categories = once(() => {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '');
  return new Map(shortNames.flatMap((short, i) => [short, categoryNames[i] ?? ''].map((name) => [plain(name), short])));
});

/** \p{name}: case, spaces, - and _ in names are ignored. */
function property(name: string, isInClass: boolean): CodePoints {
  const plain = name.toLowerCase().replace(/[-_ ]/g, '');
  if (plain === 'word' && !isInClass) return word();
  const short = categories().get(plain);
  const found = short === undefined ? properties[plain]?.() : category(short);
  return found ?? script(name);
}

/**
 * The characters of a script, restricted to the crate's version of Unicode. The script itself comes from the engine.
 */
function script(name: string): CodePoints {
  const spelled = name
    .toLowerCase()
    .replace(/(^|[-_ ])([a-z])/g, (_, mark, letter) => (mark && '_') + letter.toUpperCase());
  let pattern: RegExp;
  try {
    pattern = new RegExp(`\\p{Script=${spelled}}`, 'u');
  } catch {
    throw unsupported(`\\p{${name}} in a pattern is not known`);
  }
  const found: number[] = [];
  for (const character of charactersOf(without(assigned(), category('Co')))) {
    const code = character.codePointAt(0) ?? 0;
    if (pattern.test(character)) found.push(code, code);
  }
  return union(found);
}

const escapedSets: Readonly<Record<string, () => CodePoints>> = {
  d: () => category('Nd'),
  w: word,
  s: () => whiteSpace,
  h: () => hexDigits,
};
const escapedCodes: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, a: 7, e: 27 };

/** The set of the escape (\d, \p{L}, \x41, \-) at the reader's position; for a single character its `code`. */
export function readEscape(reader: Reader, isInClass = false): { set: CodePoints; code?: number } {
  const rest = reader.source.slice(reader.at);
  const named = /^\\([pP])\{(\^?)([^{}]*)\}/.exec(rest);
  if (named !== null) {
    reader.at += named[0].length;
    const set = property(named[3] ?? '', isInClass);
    return { set: (named[1] === 'P') !== (named[2] === '^') ? complement(set) : set };
  }
  const coded = /^\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4}))/.exec(rest);
  const octal = /^\\(0[0-7]{0,2})/.exec(rest);
  const character = String.fromCodePoint(rest.codePointAt(1) ?? 0);
  if (rest.length < 2) throw malformed(`the pattern ${reader.source} ends with a backslash`);
  reader.at += coded?.[0].length ?? octal?.[0].length ?? 1 + character.length;
  const digits = coded?.[1] ?? coded?.[2] ?? coded?.[3];
  if (digits !== undefined) return single(Number.parseInt(digits, 16), reader);
  if (octal !== null) return single(Number.parseInt(octal[1] ?? '', 8), reader);
  const kind = character.toLowerCase();
  const known = (kind === 'w' && isInClass ? posixWord : escapedSets[kind])?.();
  if (known !== undefined) return { set: /[A-Z]/.test(character) ? complement(known) : known };
  // Letters and digits with unsupported meanings: anchors, backreferences, control characters.
  if (/[1-9ABCGKMNORXZbcgkuxyzB]/.test(character))
    throw unsupported(`\\${character} in the pattern ${reader.source} is not read here`);
  return single(escapedCodes[character] ?? character.codePointAt(0) ?? 0, reader);
}

function single(code: number, { source }: Reader): { set: CodePoints; code: number } {
  if (code > lastCodePoint) throw malformed(`the pattern ${source} has a character beyond Unicode`);
  return { set: [code, code], code };
}

/** The set of the class at the reader's position. `fold`: case-insensitive. */
export function readClass(reader: Reader, fold: boolean): CodePoints {
  const { source } = reader;
  const broken = () => malformed(`the class in the pattern ${source} is broken`);
  reader.at++;
  const negated = source[reader.at] === '^';
  if (negated) reader.at++;
  const start = reader.at;
  let met: CodePoints = everything; // of the parts before &&
  let parts: CodePoints[] = [];
  for (;;) {
    const next = source[reader.at];
    if (next === undefined) throw broken();
    if (next === ']' && reader.at > start) break;
    if (source.startsWith('&&', reader.at)) {
      reader.at += 2;
      met = intersection(met, union(...parts));
      parts = [];
    } else parts.push(readItem(reader, broken));
  }
  reader.at++;
  const whole = intersection(met, union(...parts));
  const set = fold ? withOtherCases(whole) : whole;
  return negated ? complement(set) : set;
}

/** One character, range, escape or nested class of a class. */
function readItem(reader: Reader, broken: () => Error): CodePoints {
  const { source } = reader;
  const posix = /^\[:(\^?)(\w+):\]/.exec(source.slice(reader.at));
  if (posix !== null) {
    reader.at += posix[0].length;
    const set = posixClasses[posix[2] ?? '']?.();
    if (set === undefined) throw unsupported(`[:${posix[2]}:] in a pattern is not known`);
    return posix[1] === '^' ? complement(set) : set;
  }
  if (source[reader.at] === '[') return readClass(reader, false); // cases are added to the outermost class
  const first = readOne(reader);
  const isRange = source[reader.at] === '-' && source[reader.at + 1] !== ']' && !source.startsWith('&&', reader.at + 1);
  if (!isRange) return first.set;
  reader.at++;
  if (first.code === undefined || source[reader.at] === '[') throw broken();
  const last = readOne(reader);
  if (last.code === undefined || last.code < first.code) throw broken();
  // A - right after a range is literal: it cannot begin another.
  const dash = source[reader.at] === '-' ? [45, 45] : [];
  if (dash.length > 0) reader.at++;
  return union([first.code, last.code], dash);
}

function readOne(reader: Reader): { set: CodePoints; code?: number } {
  if (reader.source[reader.at] !== '\\') {
    const code = reader.source.codePointAt(reader.at) ?? 0;
    reader.at += code > 0xffff ? 2 : 1;
    return { set: [code, code], code };
  }
  if (!reader.source.startsWith('\\b', reader.at)) return readEscape(reader, true);
  reader.at += 2;
  return { set: [8, 8], code: 8 }; // a backspace, within a class
}

/** For each letter, the letters that are equal to it when case is ignored. */
const cases = once((): ReadonlyMap<string, string> => {
  const groups = new Map<string, string>();
  for (const name of ['Lu', 'Ll', 'Lt', 'Mn', 'Nl', 'So']) {
    for (const character of charactersOf(category(name))) {
      if (/[\u0130\u0131]/.test(character)) continue; // the Turkish i has no case variants
      const capital = capitalOf(character);
      const folded = smallLetter(capital);
      // From the small letter on, also if that has no capital of one letter, as ß.
      if (folded !== capital || capital !== character) groups.set(folded, (groups.get(folded) ?? folded) + character);
    }
  }
  return new Map([...groups.values()].flatMap((letters) => Array.from(letters, (letter) => [letter, letters])));
});

function capitalOf(character: string): string {
  const capital = character.toUpperCase();
  return Array.from(capital).length === 1 ? capital : character;
}

/** A character with its upper and lower case forms. */
export function inEachCase(character: string): CodePoints {
  if (/[a-z]/i.test(character)) {
    // Two Latin letters have a third form.
    return codePointsOf(
      character.toLowerCase() + character.toUpperCase() + ({ s: '\u017f', k: '\u212a' }[character.toLowerCase()] ?? ''),
    );
  }
  return codePointsOf(cases().get(character) ?? character);
}

/** The set with the upper and lower case forms of its letters. */
function withOtherCases(set: CodePoints): CodePoints {
  const member = new RegExp(classOf(set), 'u');
  const added = Array.from(cases()).filter(([letter]) => member.test(letter));
  return union(set, codePointsOf(added.map(([, letters]) => letters).join('')));
}
