// Medians and quartiles.

/** The quantile `p` of `values`, linearly interpolated. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * p;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  const [low = Number.NaN, high = Number.NaN] = [sorted[below], sorted[above]];
  return low + (high - low) * (place - below);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** A ratio; the quartiles are absent if rounds cannot be compared one by one. */
export interface Ratio {
  median: number;
  low?: number;
  high?: number;
}

/** The ratios values[i] / others[i], of the same rounds. */
export function ratios(values: readonly number[], others: readonly number[]): Ratio {
  const each = values.slice(0, others.length).map((value, i) => value / (others[i] ?? Number.NaN));
  return { median: median(each), low: quantile(each, 0.25), high: quantile(each, 0.75) };
}

/** What a ratio is taken of: the times of the same rounds, or ratios kept instead of them. */
interface Timed {
  name: string;
  milliseconds: readonly number[];
  ratios?: Readonly<Record<string, Ratio>> | undefined;
}

/** How many times as fast `one` is as `other`, in the same run. */
export const speedUp = (one: Timed, other: Timed): Ratio =>
  one.ratios?.[other.name] ??
  (one.milliseconds.length > 1
    ? ratios(other.milliseconds, one.milliseconds)
    : { median: median(other.milliseconds) / median(one.milliseconds) });
