// Medians and quartiles.

/** The value below which a share `p` of `values` lies, between neighbours linearly. */
export function quantile(values, p) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * p;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

export const median = (values) => quantile(values, 0.5);

/** { median, low, high } of values[i] / others[i]: what happened in the same round is compared. */
export function ratios(values, others) {
  const each = values.slice(0, others.length).map((value, i) => value / others[i]);
  return { median: median(each), low: quantile(each, 0.25), high: quantile(each, 0.75) };
}
