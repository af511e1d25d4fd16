// A long row of tokens or numbers is drawn as a window around the one that matters.

export interface Window {
  readonly from: number;
  readonly count: number;
  readonly of: number;
}

/** All of a row of at most `most`, else `shown` around a place, with more before it than after. */
export function windowAround(place: number, of: number, most: number, shown = most): Window {
  if (of <= most) return { from: 0, count: of, of };
  return { from: Math.max(0, Math.min(of - shown, place - Math.floor(shown * 0.7))), count: shown, of };
}

export const inWindow = ({ from, count }: Window, place: number): boolean => place >= from && place < from + count;

/** Its first place, and the first behind it. */
export const rangeOf = ({ from, count }: Window): [from: number, to: number] => [from, from + count];

/** The part of a row that the window shows, end excluded; undefined for all. */
export type Part = readonly [from: number, to: number] | undefined;
export const partOf = (window: Window): Part => (window.count === window.of ? undefined : rangeOf(window));

/** A part as an index of a source: `:` where nothing is left out. */
export const partText = (part: Part): string => (part === undefined ? ':' : `${part[0]}:${part[1]}`);
