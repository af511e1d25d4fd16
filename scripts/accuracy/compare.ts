// Compares a model's outputs in a quantised format with those in fp32.

/** Logits by row. */
export interface Scores {
  data: Float32Array;
  /** Values per row. */
  width: number;
}

/** What is kept of the predictions of a long text: for each position -log of the next token's probability, and the top
 * token. */
export interface Predictions {
  surprises: Float64Array;
  tops: Int32Array;
}

/** A model's outputs for fixed inputs; a model has the same parts each time. */
export interface Observation {
  /** Of a long text unlike the model's own; the perplexity is compared over it, if present. */
  predictions?: Predictions;
  scores?: Scores;
  /** The token to be predicted by each row of the scores. */
  targets?: readonly number[];
  /** Tokens of greedy generations. */
  written?: readonly (readonly number[])[];
  /** Embeddings, hidden states. */
  vectors?: readonly Float32Array[];
}

/** Parts without values for a checkpoint are absent. */
export interface Comparison {
  /** RMS error of the logits, and for scale the standard deviation of fp32's logits about the mean of their row. */
  rms?: number;
  largest?: number;
  spread?: number;
  /** Fraction of positions with fp32's top token. */
  top?: number;
  /** Relative change over `tokens` tokens. */
  perplexity?: number;
  tokens?: number;
  /** Fraction of the positions of the long text with fp32's top token. */
  topOfText?: number;
  /** Fraction of the tokens of greedy generations before the first difference. */
  greedy?: number;
  /** The smallest cosine among all embeddings or hidden states. */
  cosine?: number;
}

function rowOf({ data, width }: Scores, row: number): Float32Array {
  return data.subarray(row * width, (row + 1) * width);
}

function argmax(row: Float32Array): number {
  let best = 0;
  for (let i = 1; i < row.length; i++) if ((row[i] ?? 0) > (row[best] ?? 0)) best = i;
  return best;
}

/** -log of the probability of `target` among the scores. */
function surprise(row: Float32Array, target: number): number {
  const largest = row[argmax(row)] ?? Number.NaN;
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += Math.exp((row[i] ?? 0) - largest);
  return largest + Math.log(sum) - (row[target] ?? Number.NaN);
}

/** The predictions of rows of scores. */
export function predicted(scores: Scores, targets: readonly number[]): Predictions {
  return {
    surprises: Float64Array.from(targets, (target, row) => surprise(rowOf(scores, row), target)),
    tops: Int32Array.from(targets, (_, row) => argmax(rowOf(scores, row))),
  };
}

function perplexity({ surprises }: Predictions): number {
  return Math.exp(surprises.reduce((sum, each) => sum + each, 0) / surprises.length);
}

function predictionsOf({ predictions, scores, targets }: Observation): Predictions | undefined {
  return predictions ?? (scores && targets && predicted(scores, targets));
}

function compareTexts(reference: Observation, found: Observation): Comparison {
  const [wanted, given] = [predictionsOf(reference), predictionsOf(found)];
  if (!wanted || !given) return {};
  const { length } = wanted.tops;
  const result: Comparison = { tokens: length, perplexity: perplexity(given) / perplexity(wanted) - 1 };
  if (!reference.predictions) return result;
  const same = wanted.tops.reduce((sum, top, row) => sum + (given.tops[row] === top ? 1 : 0), 0);
  return { ...result, topOfText: same / length };
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

/** The fraction of the tokens before the first difference, over all texts. */
function agreement(reference: readonly (readonly number[])[], found: readonly (readonly number[])[]): number {
  let [same, all] = [0, 0];
  for (const [t, text] of reference.entries()) {
    const first = text.findIndex((token, i) => found[t]?.[i] !== token);
    same += first < 0 ? text.length : first;
    all += text.length;
  }
  return same / all;
}

function compareScores(reference: Scores, found: Scores): Comparison {
  const { data, width } = reference;
  const rows = data.length / width;
  let [squares, largest, spread, same] = [0, 0, 0, 0];
  for (let row = 0; row < rows; row++) {
    const [wanted, given] = [rowOf(reference, row), rowOf(found, row)];
    let mean = 0;
    for (let i = 0; i < width; i++) mean += (wanted[i] ?? Number.NaN) / width;
    for (let i = 0; i < width; i++) {
      const value = wanted[i] ?? Number.NaN;
      const error = (given[i] ?? Number.NaN) - value;
      squares += error * error;
      largest = Math.max(largest, Math.abs(error));
      spread += (value - mean) ** 2;
    }
    same += argmax(wanted) === argmax(given) ? 1 : 0;
  }
  const deviation = (sum: number): number => Math.sqrt(sum / data.length);
  return { largest, rms: deviation(squares), top: same / rows, spread: deviation(spread) };
}

/** One row of the table. */
export function compare(reference: Observation, found: Observation): Comparison {
  const result: Comparison = {};
  if (reference.scores && found.scores) Object.assign(result, compareScores(reference.scores, found.scores));
  Object.assign(result, compareTexts(reference, found));
  if (reference.written && found.written) result.greedy = agreement(reference.written, found.written);
  if (reference.vectors) {
    const none = new Float32Array(0);
    result.cosine = Math.min(...reference.vectors.map((vector, i) => cosine(vector, found.vectors?.[i] ?? none)));
  }
  return result;
}
