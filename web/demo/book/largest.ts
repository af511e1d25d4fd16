// Top-k of many values without a full sort.

/** Indices of the `count` largest values, in descending order; ties keep their order. */
export function largest(values: ArrayLike<number>, count: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (found.length === count && value <= (values[found[count - 1] ?? 0] ?? 0)) continue;
    let place = found.length;
    while (place > 0 && (values[found[place - 1] ?? 0] ?? 0) < value) place--;
    found.splice(place, 0, i);
    if (found.length > count) found.pop();
  }
  return found;
}
