// Token timestamps: the cross-attentions of some heads follow the audio, and dynamic time warping finds the monotonic
// path through them. As transformers' _extract_token_timestamps, for each audio separately.

/** The attention of the alignment heads for one sequence: [head][token][audio position]. */
export type AlignmentWeights = readonly (readonly Float32Array[])[];

/**
 * The audio position at which each token begins. `length` is the number of positions with audio, the rest is padding;
 * `filter` the width of the median filter along each row. The last token, which the decoder has not processed, has the
 * time of the previous one; a single one has 0.
 */
export function tokenPositions(weights: AlignmentWeights, length: number, filter: number): number[] {
  const tokens = weights[0]?.length ?? 0;
  if (tokens === 0) return [0];
  const cut = weights.map((head) => head.map((row) => row.subarray(0, length)));
  const smoothed = cut.map((head) => standardized(head).map((row) => medians(row, filter)));
  const costs = Array.from({ length: tokens }, (_, token) =>
    Float64Array.from({ length }, (_, at) => -mean(smoothed.map((head) => head[token]?.[at] as number))),
  );
  const begins = beginnings(costs);
  return [...begins, begins.at(-1) as number];
}

const mean = (values: readonly number[]): number => Math.fround(values.reduce((a, b) => a + b, 0) / values.length);

/** Standardises each column to mean 0 and deviation 1, in single precision. */
function standardized(rows: readonly Float32Array[]): Float32Array[] {
  const width = rows[0]?.length ?? 0;
  const result = rows.map(() => new Float32Array(width));
  for (let at = 0; at < width; at++) {
    const column = rows.map((row) => row[at] as number);
    const middle = column.reduce((a, b) => a + b, 0) / column.length;
    const variance = column.reduce((sum, x) => sum + (x - middle) ** 2, 0) / column.length;
    const deviation = Math.fround(Math.sqrt(variance));
    column.forEach((x, row) => {
      (result[row] as Float32Array)[at] = Math.fround(x - Math.fround(middle)) / deviation;
    });
  }
  return result;
}

/** A median filter of `width` values, with reflected ends. */
function medians(row: Float32Array, width: number): Float32Array {
  const half = width >> 1;
  if (row.length <= half) return row;
  const last = row.length - 1;
  const mirrored = (at: number) => row[at < 0 ? -at : at > last ? 2 * last - at : at] as number;
  const window = new Float32Array(width);
  return row.map((_, at) => {
    for (let i = 0; i < width; i++) window[i] = mirrored(at + i - half);
    return window.sort()[half] as number;
  });
}

/** The column in which the cheapest path from the first to the last cell enters each row. */
function beginnings(costs: readonly Float64Array[]): number[] {
  const width = costs[0]?.length ?? 0;
  const steps = costs.map(() => new Uint8Array(width)); // 0: from the previous row and column, 1: row, 2: column
  let above = new Float32Array(width + 1).fill(Number.POSITIVE_INFINITY);
  above[0] = 0;
  costs.forEach((row, i) => {
    const sums = new Float32Array(width + 1).fill(Number.POSITIVE_INFINITY);
    for (let j = 0; j < width; j++) {
      const [diagonal, up, left] = [above[j] as number, above[j + 1] as number, sums[j] as number];
      const step = diagonal < up && diagonal < left ? 0 : up < diagonal && up < left ? 1 : 2;
      (steps[i] as Uint8Array)[j] = step;
      sums[j + 1] = (row[j] as number) + ([diagonal, up, left][step] as number);
    }
    above = sums;
  });
  const begins = new Array<number>(costs.length).fill(0);
  for (let [i, j] = [costs.length - 1, width - 1]; i >= 0; ) {
    begins[i] = Math.max(j, 0);
    const step = j < 0 ? 1 : ((steps[i] as Uint8Array)[j] as number);
    if (step !== 1) j--;
    if (step !== 2) i--;
  }
  return begins;
}
