// What could have been written at one place: the model's probabilities and what was left of them
// after temperature, top-k and top-p. Computed from one row of logits and one of scores.

export interface Candidate {
  token_id: number;
  /** 0 for the token the model held likeliest. */
  rank: number;
  /** Softmax of the raw logits. */
  model_probability: number;
  /** Softmax of the processed scores: the chance it had in the draw, 0 when cut; absent when nothing was drawn. */
  draw_probability: number | undefined;
  is_chosen: boolean;
}

export interface Distribution {
  /** Likeliest first; the chosen token is appended when it is not among them. */
  candidates: Candidate[];
  /** How many tokens were still in the draw; absent when nothing was drawn. */
  survivors: number | undefined;
  vocabulary: number;
  /** exp(entropy): between how many equally likely tokens the model hesitated. */
  perplexity: number;
}

/** Softmax in double precision. Entries of -Infinity get 0. */
export function softmax(values: ArrayLike<number>): Float64Array {
  const result = new Float64Array(values.length);
  let highest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) highest = Math.max(highest, values[i] ?? highest);
  if (highest === Number.NEGATIVE_INFINITY) return result;
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    const power = Math.exp((values[i] ?? highest) - highest);
    result[i] = power;
    total += power;
  }
  for (let i = 0; i < result.length; i++) result[i] = (result[i] ?? 0) / total;
  return result;
}

/** Indices of the `count` largest values, largest first; equal values keep their order. */
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

/** exp of the entropy of a distribution, in tokens. */
export function perplexity(probabilities: ArrayLike<number>): number {
  let entropy = 0;
  for (let i = 0; i < probabilities.length; i++) {
    const p = probabilities[i] ?? 0;
    if (p > 0) entropy -= p * Math.log(p);
  }
  return Math.exp(entropy);
}

function rankOf(probabilities: Float64Array, token_id: number): number {
  const own = probabilities[token_id] ?? 0;
  let rank = 0;
  for (let i = 0; i < probabilities.length; i++) {
    const other = probabilities[i] ?? 0;
    if (other > own || (other === own && i < token_id)) rank++;
  }
  return rank;
}

/** `logits` and `scores` are one row each, (V); no scores where nothing was drawn. */
export function distribution(
  logits: ArrayLike<number>,
  scores: ArrayLike<number> | undefined,
  chosen: number,
  count: number,
): Distribution {
  const model = softmax(logits);
  const draw = scores && softmax(scores);
  const candidate = (token_id: number, rank: number): Candidate => ({
    token_id,
    rank,
    model_probability: model[token_id] ?? 0,
    draw_probability: draw?.[token_id],
    is_chosen: token_id === chosen,
  });
  const candidates = largest(model, count).map(candidate);
  if (!candidates.some((one) => one.is_chosen)) candidates.push(candidate(chosen, rankOf(model, chosen)));
  const survivors = scores && Array.from(scores).filter((score) => score > Number.NEGATIVE_INFINITY).length;
  return { candidates, survivors, vocabulary: logits.length, perplexity: perplexity(model) };
}
