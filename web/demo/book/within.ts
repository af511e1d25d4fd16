// An index of the address: the nearest that there is.

/** An index below `count`; 0 for what is no number. */
export const within = (asked: number, count: number): number =>
  Math.max(0, Math.min(count - 1, Math.trunc(asked) || 0));
