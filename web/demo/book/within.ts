// Numbers of the address: the nearest that there are.

/** An index below `count`; 0 for what is no number. */
export const within = (asked: number, count: number): number =>
  Math.max(0, Math.min(count - 1, Math.trunc(asked) || 0));

/** One of some ascending numbers; `otherwise` for what is no number. */
export function nearestOf<Choice extends number>(asked: number, choices: readonly Choice[], otherwise: Choice): Choice {
  if (Number.isNaN(asked)) return otherwise;
  const above = choices.findIndex((choice) => choice >= asked);
  const [low, high] = [choices.at(above < 0 ? -1 : Math.max(0, above - 1)), choices.at(above)];
  return (asked - Number(low) < Number(high) - asked ? low : high) ?? otherwise;
}

/** Token ids of an address, `385.29`: up to the first that a vocabulary of this size has not. */
export function idsWithin(text: string, vocabulary: number): number[] {
  const ids = text.split('.').filter(Boolean).map(Number);
  const wrong = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= vocabulary);
  return wrong < 0 ? ids : ids.slice(0, wrong);
}
