// The tokens of a Jinja template, and the white space that its tags remove with lstrip_blocks and trim_blocks, which
// transformers sets.

import { keptRange } from './python_space.js';

/** A text between tags, what is in a tag, or the mark at its start or end; `at` is its place in the template. */
export interface Token {
  kind: 'text' | 'name' | 'string' | 'integer' | 'float' | 'mark' | 'end';
  value: string;
  at: number;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python has them among white space
const space = /(?!\ufeff)[\s\x1c-\x1f\x85]/.source;
/** Where a tag starts: that of a raw block as a whole. */
const opening = new RegExp(`\\{%([-+]?)${space}*raw${space}*(-?)%\\}|\\{[{%#]([-+]?)`, 'g');
const rawEnd = new RegExp(`\\{%([-+]?)${space}*endraw${space}*([-+]?)%\\}`, 'g');
const commentEnd = /([-+]?)#\}/g;
const tagEnds: Readonly<Record<string, RegExp>> = { '{%': /([-+]?)%\}/y, '{{': /(-?)\}\}/y };
const kinds = ['', 'space', 'float', 'integer', 'name', 'string', 'mark'] as const;
/** These kinds of tokens in a tag. */
const inTag = new RegExp(
  [
    `(${space}+)`,
    '((?<!\\.)(?:\\d+_)*\\d+(?:(?:\\.(?:\\d+_)*\\d+)?[eE][-+]?(?:\\d+_)*\\d+|\\.(?:\\d+_)*\\d+))',
    '(0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\\da-fA-F])+|[1-9](?:_?\\d)*|0(?:_?0)*)',
    '([\\p{L}\\p{N}\\p{M}\\p{Pc}]+)',
    `('[^'\\\\]*(?:\\\\[^][^'\\\\]*)*'|"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*")`,
    '(\\*\\*|//|[=!<>]=|[-+/*%~[\\](){}<>=.:|,])',
  ].join('|'),
  'uy',
);
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** An error that names the line. */
export function faultAt(source: string, at: number, why: string): Error {
  return new Error(`line ${source.slice(0, at).split('\n').length}: ${why}`);
}

/** The tokens of a template whose lines end in line feeds; throws for what is none. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const add = (kind: Token['kind'], value: string, at: number) => tokens.push({ kind, value, at });
  let at = 0;
  let isLineStart = true;

  /** What `pattern` finds from here on. */
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  /** The text up to a tag, without the white space that the tag removes. */
  const addText = (end: number, sign: string | undefined, isBlock: boolean) => {
    const text = source.slice(at, end);
    const last = sign === '-' || (isBlock && sign === '') ? keptRange(text, undefined, false)[1] : text.length;
    const line = text.lastIndexOf('\n') + 1;
    const isBlank = last <= line && (line > 0 || isLineStart);
    const kept = sign === '-' ? last : isBlank ? line : text.length;
    if (kept > 0) add('text', text.slice(0, kept), at);
  };
  /** Goes on behind a tag and the white space that it removes. */
  const goOn = (end: number, sign: string | undefined, isBlock = true) => {
    const rest = sign === '-' ? end + spacesAt(source, end) : end + Number(isBlock && !sign && source[end] === '\n');
    isLineStart = source[rest - 1] === '\n';
    at = rest;
  };

  while (at < source.length) {
    const start = next(opening);
    if (start === null) {
      add('text', source.slice(at), at);
      break;
    }
    const [tag, rawSign, rawTrim, sign = rawSign] = start;
    addText(start.index, sign, !tag.startsWith('{{'));
    const from = start.index;
    at = from + tag.length;
    if (rawTrim !== undefined) {
      goOn(at, rawTrim, false);
      const end = next(rawEnd);
      if (end === null) throw faultAt(source, from, 'a raw block has no end');
      addText(end.index, end[1], true);
      goOn(end.index + end[0].length, end[2]);
    } else if (tag.startsWith('{#')) {
      const end = next(commentEnd);
      if (end === null) throw faultAt(source, from, 'a comment has no end');
      goOn(end.index + end[0].length, end[1]);
    } else {
      add('mark', tag.slice(0, 2), from);
      inside(tag.slice(0, 2));
    }
  }
  add('end', '', source.length);
  return tokens;

  /** The tokens of a tag. */
  function inside(tag: string): void {
    const open: string[] = [];
    while (at < source.length) {
      const end = open.length === 0 && next(tagEnds[tag] as RegExp);
      if (end) {
        add('mark', end[0].slice(-2), at);
        goOn(at + end[0].length, end[1], tag === '{%');
        return;
      }
      const found = next(inTag);
      if (found === null) throw faultAt(source, at, `unexpected ${JSON.stringify(source[at])}`);
      const [value] = found;
      const kind = kinds[found.indexOf(value, 1)] as Token['kind'] | 'space';
      const close = closing[value];
      if (close) open.push(close);
      else if (/^[)\]}]$/.test(value) && open.pop() !== value) throw faultAt(source, at, `unexpected ${value}`);
      if (kind === 'string') add(kind, unescaped(value.slice(1, -1)), at);
      else if (kind !== 'space') add(kind, value, at);
      at += value.length;
    }
  }
}

/** The number of white spaces from a place on. */
function spacesAt(source: string, from: number): number {
  const rest = new RegExp(`${space}*`, 'y');
  rest.lastIndex = from;
  return rest.exec(source)?.[0].length ?? 0;
}

const escapes: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\n': '', '\\': '\\', "'": "'", '"': '"' },
};

/** A string literal's text; as in Python a backslash stays before what it has no meaning for. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (whole, byte, short, long, octal, letter: string | undefined) => {
      if (letter !== undefined && /[xuUN]/.test(letter)) throw new Error(`${whole} is no escape sequence`);
      if (letter !== undefined) return escapes[letter] ?? whole;
      return String.fromCodePoint(octal ? Number.parseInt(octal, 8) : Number.parseInt(byte ?? short ?? long, 16));
    },
  );
}
