// Complements, intersections and differences of sets of code points.

import { type CodePoints, pairs, union } from './code_points.js';

export const lastCodePoint = 0x10ffff;
export const everything: CodePoints = [0, lastCodePoint];

export function complement(set: CodePoints): CodePoints {
  const rest: number[] = [];
  let next = 0;
  for (const [from, to] of pairs(set)) {
    if (from > next) rest.push(next, from - 1);
    next = to + 1;
  }
  if (next <= lastCodePoint) rest.push(next, lastCodePoint);
  return rest;
}

export function intersection(a: CodePoints, b: CodePoints): CodePoints {
  return complement(union(complement(a), complement(b)));
}

export function without(set: CodePoints, removed: CodePoints): CodePoints {
  return intersection(set, complement(removed));
}

/** Iterates over the characters of a set. */
export function* charactersOf(set: CodePoints): Generator<string> {
  for (const [from, to] of pairs(set)) for (let code = from; code <= to; code++) yield String.fromCodePoint(code);
}
