// A long row of tokens or values is rendered as a window around the position in focus.

export interface Window {
  readonly from: number;
  readonly count: number;
  readonly of: number;
}

/**
 * The whole row if it has at most `most` positions, else `shown` around a position, more of them before it than after.
 */
export function windowAround(place: number, of: number, most: number, shown = most): Window {
  if (of <= most) return { from: 0, count: of, of };
  return { from: Math.max(0, Math.min(of - shown, place - Math.floor(shown * 0.7))), count: shown, of };
}

export const inWindow = ({ from, count }: Window, place: number): boolean => place >= from && place < from + count;

/** Its first position, and the first after it. */
export const rangeOf = ({ from, count }: Window): [from: number, to: number] => [from, from + count];

/** The slice of a row that the window shows, end exclusive; undefined for all. */
export type Part = readonly [from: number, to: number] | undefined;
export const partOf = (window: Window): Part => (window.count === window.of ? undefined : rangeOf(window));

/** A slice as an index in source code: `:` for all. */
export const partText = (part: Part): string => (part === undefined ? ':' : `${part[0]}:${part[1]}`);
