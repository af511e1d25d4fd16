// How far what a model says in fewer bits is from what it says in fp32.

/**
 * What a model says of fixed inputs.
 * @typedef {object} Observation
 * @property {Float32Array} [scores] logits, row by row
 * @property {number} [width] of a row
 * @property {number[]} [targets] the token that each row has to predict
 * @property {number[][]} [written] tokens of greedy texts
 * @property {Float32Array[]} [vectors] embeddings, hidden states
 */

const rowOf = ({ scores, width }, row) => scores.subarray(row * width, (row + 1) * width);

function argmax(row) {
  let best = 0;
  for (let i = 1; i < row.length; i++) if (row[i] > row[best]) best = i;
  return best;
}

/** -log of the probability of `target` among the scores. */
function surprise(row, target) {
  const largest = row.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const sum = row.reduce((total, value) => total + Math.exp(value - largest), 0);
  return largest + Math.log(sum) - row[target];
}

function perplexity(observation) {
  const { targets } = observation;
  const total = targets.reduce((sum, target, row) => sum + surprise(rowOf(observation, row), target), 0);
  return Math.exp(total / targets.length);
}

function cosine(a, b) {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb);
}

/** The share of the tokens up to the first that differs, over all texts. */
function agreement(reference, found) {
  let [same, all] = [0, 0];
  reference.forEach((text, t) => {
    const first = text.findIndex((token, i) => found[t][i] !== token);
    same += first < 0 ? text.length : first;
    all += text.length;
  });
  return same / all;
}

/**
 * One row of the table. `rms` and `largest` are of the logits' errors, `spread` the standard deviation of fp32's logits
 * about the mean of their row, so that the others have a measure.
 */
export function compare(reference, found) {
  const result = {};
  if (reference.scores !== undefined) {
    const { scores, width } = reference;
    const rows = scores.length / width;
    let [squares, largest, spread, same] = [0, 0, 0, 0];
    for (let row = 0; row < rows; row++) {
      const [wanted, given] = [rowOf(reference, row), rowOf(found, row)];
      const mean = wanted.reduce((sum, value) => sum + value, 0) / width;
      for (let i = 0; i < width; i++) {
        const error = given[i] - wanted[i];
        squares += error * error;
        largest = Math.max(largest, Math.abs(error));
        spread += (wanted[i] - mean) ** 2;
      }
      same += argmax(wanted) === argmax(given) ? 1 : 0;
    }
    Object.assign(result, { largest, rms: Math.sqrt(squares / scores.length), top: same / rows, rows });
    result.spread = Math.sqrt(spread / scores.length);
  }
  if (reference.targets !== undefined) result.perplexity = perplexity(found) / perplexity(reference) - 1;
  if (reference.written !== undefined) result.greedy = agreement(reference.written, found.written);
  if (reference.vectors !== undefined) {
    const cosines = reference.vectors.map((vector, i) => cosine(vector, found.vectors[i]));
    result.cosine = Math.min(...cosines);
  }
  return result;
}
