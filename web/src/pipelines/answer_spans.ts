// The best answer spans from start and end scores, as in transformers' question-answering pipeline:
//   P(start = i) and P(end = j) are softmax over the tokens that may be in an answer (and the first token, which
//   represents "no answer"); the score of a span from i to j of at most max_answer_len tokens is P(start = i) · P(end =
//   j).

import { softmax, topIndices } from './scores.js';

/** A span of tokens, inclusive. */
export interface Span {
  start: number;
  end: number;
  score: number;
}

/** The best spans of a row of tokens, and the probability that there is no answer. */
export interface Spans {
  spans: Span[];
  nullScore: number;
}

const outside = -10000; // upstream's value for excluded scores

/** `wanted` tokens may be in an answer; those of the `null` position are included in the softmax. */
export function bestSpans(
  logits: { start: Float32Array; end: Float32Array },
  wanted: readonly boolean[],
  limits: { max_answer_len: number; count: number },
): Spans {
  const probabilities = (scores: Float32Array) => softmax(Array.from(scores, (x, i) => (wanted[i] ? x : outside)));
  const [start, end] = [probabilities(logits.start), probabilities(logits.end)];
  const nullScore = (start[0] ?? 0) * (end[0] ?? 0);
  start[0] = 0;
  end[0] = 0;
  const spans: Span[] = [];
  start.forEach((first, i) => {
    for (let j = i; j < Math.min(end.length, i + limits.max_answer_len); j++) {
      if (i > 0 && wanted[i] && wanted[j]) spans.push({ start: i, end: j, score: first * (end[j] as number) });
    }
  });
  const best = topIndices(
    spans.map(({ score }) => score),
    limits.count,
  );
  return { spans: best.map((i) => spans[i] as Span), nullScore };
}
