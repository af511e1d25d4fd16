// What else a token could have been: probabilities, ranks, cuts.

import { describe, expect, it } from 'vitest';
import { distribution, largest, perplexity, softmax } from '../../../web/demo/book/distribution.js';

describe('softmax', () => {
  it('sums to 1 and keeps the order', () => {
    const weights = softmax([1, 3, 2]);
    expect(weights.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12);
    expect(largest(weights, 3)).toEqual([1, 2, 0]);
  });

  it('gives 0 to -Infinity and stays finite for large values', () => {
    expect([...softmax([Number.NEGATIVE_INFINITY, 1e30, -1e30])]).toEqual([0, 1, 0]);
    expect([...softmax([Number.NEGATIVE_INFINITY])]).toEqual([0]);
    expect([...softmax([])]).toEqual([]);
  });
});

describe('largest', () => {
  it('equals sorting, and equal values keep their order', () => {
    const values = Array.from({ length: 200 }, (_, i) => (i * 7919) % 31);
    const sorted = [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
    expect(largest(values, 25)).toEqual(sorted.slice(0, 25));
    expect(largest([1, 2], 5)).toEqual([1, 0]);
  });
});

describe('perplexity', () => {
  it('is the number of equally likely tokens', () => {
    expect(perplexity([0.25, 0.25, 0.25, 0.25])).toBeCloseTo(4, 12);
    expect(perplexity([1, 0])).toBe(1);
  });
});

describe('distribution', () => {
  const logits = [0, 4, 3, 2, 1];
  const cut = Number.NEGATIVE_INFINITY;

  it('holds model and draw side by side', () => {
    const shown = distribution(logits, [cut, 8, 6, cut, cut], 2, 3);
    expect(shown.candidates.map((one) => one.token_id)).toEqual([1, 2, 3]);
    expect(shown.candidates[1]).toMatchObject({ rank: 1, is_chosen: true });
    expect(shown.candidates[1]?.draw_probability).toBeCloseTo(1 / (1 + Math.E ** 2), 12);
    expect(shown.candidates[2]?.draw_probability).toBe(0);
    expect(shown).toMatchObject({ survivors: 2, vocabulary: 5 });
  });

  it('appends a chosen token that is not among the likeliest, with its rank', () => {
    const shown = distribution(logits, logits, 0, 2);
    expect(shown.candidates.map((one) => [one.token_id, one.rank])).toEqual([
      [1, 0],
      [2, 1],
      [0, 4],
    ]);
  });

  it('has no draw where nothing was drawn', () => {
    const shown = distribution(logits, undefined, 1, 2);
    expect(shown.survivors).toBeUndefined();
    expect(shown.candidates[0]?.draw_probability).toBeUndefined();
  });
});
