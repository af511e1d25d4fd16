// From scores of starts and ends to the likeliest spans. As transformers' question-answering pipeline does it:
//   P(start = i) and P(end = j) are softmax over the tokens that may be in an answer (and the first token, which stands for
//   "no answer"); a span from i to j of at most max_answer_len tokens has the score P(start = i) · P(end = j).

import { softmax, topIndices } from './scores.js';

/** A span of tokens, both ends included. */
export interface Span {
  start: number;
  end: number;
  score: number;
}

/** The best spans of a row of tokens, and how likely it is that there is none. */
export interface Spans {
  spans: Span[];
  nullScore: number;
}

const outside = -10000; // what upstream puts in the place of scores that may not count

/** `wanted` tokens may stand in an answer, and those of the `null` position count in the sums. */
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
