// A long row of tokens is drawn as a window around the one that matters.

export type Window = readonly [from: number, to: number];

/** At most `most` of `count` places, around one. */
export function windowAround(focus: number, count: number, most: number): Window {
  const from = Math.max(0, Math.min(count - most, focus - Math.floor(most / 2)));
  return [from, Math.min(count, from + most)];
}

/** The window as an index of a source: `:` where nothing is left out. */
export const windowText = ([from, to]: Window, count: number): string => (to - from === count ? ':' : `${from}:${to}`);
