// Sets of code points, and their notation in a RegExp.

/** Alternating first and last code points, [from, to, from, to, …]: ascending, with a gap after each `to`. */
export type CodePoints = readonly number[];

/** The union of ranges in any order. */
export function union(...sets: readonly CodePoints[]): CodePoints {
  const ranges = sets.flatMap(pairs).sort(([a], [b]) => a - b);
  const joined: number[] = [];
  for (const [from, to] of ranges) {
    const last = joined.length - 1;
    const end = joined[last];
    if (end === undefined || from > end + 1) joined.push(from, to);
    else joined[last] = Math.max(end, to);
  }
  return joined;
}

/** The code points of a text. */
export function codePointsOf(text: string): CodePoints {
  return union(...Array.from(text, (character) => [character.codePointAt(0) ?? 0, character.codePointAt(0) ?? 0]));
}

/** The set as a character class of a RegExp with the flag u. */
export function classOf(set: CodePoints): string {
  const ranges = pairs(set).map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`));
  return `[${ranges.join('')}]`;
}

/** The ranges as pairs. */
export function pairs(set: CodePoints): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (let i = 0; i + 1 < set.length; i += 2) ranges.push([set[i] ?? 0, set[i + 1] ?? 0]);
  return ranges;
}

// Unescaped where possible: V8 does not optimise patterns of more than 20 kB.
function escaped(code: number): string {
  const isPlain = code > 0x7f && (code < 0xd800 || code > 0xdfff);
  return isPlain ? String.fromCodePoint(code) : `\\u{${code.toString(16)}}`;
}
