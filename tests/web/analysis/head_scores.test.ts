// Head scores: ideal heads, padding, and the definition as a mask over the map.

import { headScores, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';

type Scores = ReturnType<typeof headScores>;
type Looks = (query: number) => number;

const kinds = ['previous_token', 'first_token', 'duplicate_token', 'induction'] as const;
const only = (scores: Scores) => kinds.map((kind) => scores[kind].data[0]);

/** A map of one row whose heads attend to one key each. */
function looking(length: number, ...heads: Looks[]): Tensor<'float32'> {
  const data = new Float32Array(heads.length * length * length);
  heads.forEach((key, head) => {
    for (let query = 0; query < length; query++) data[(head * length + query) * length + key(query)] = 1;
  });
  return new Tensor('float32', data, [1, heads.length, length, length]);
}

describe('ideal heads', () => {
  const tokens = [9, 3, 4, 5, 3, 4, 5]; // a start, three tokens, the same again
  const heads: Looks[] = [
    (query) => Math.max(query - 1, 0),
    () => 0,
    (query) => (query > 3 ? query - 3 : query),
    (query) => (query > 3 ? query - 2 : query),
  ];

  it.each(kinds.map((kind, index) => [kind, index] as const))('%s', (kind, index) => {
    const scores = headScores([looking(7, ...heads)], tokens);
    expect(scores[kind].dims).toEqual([1, 4]);
    expect(scores[kind].data[index]).toBe(1);
    const others = [...scores[kind].data].filter((_, head) => head !== index);
    expect(Math.max(...others)).toBeLessThan(0.5);
  });

  it('gives a layer a row', () => {
    const scores = headScores([looking(7, ...heads), looking(7, ...heads.toReversed())], tokens);
    expect(scores.induction.dims).toEqual([2, 4]);
    expect([...scores.induction.data].map((score) => score === 1)).toEqual([...'00011000'].map((each) => each === '1'));
  });
});

describe('keys that count', () => {
  it('does without queries that have none', () => {
    // The first query has no previous token, and can only attend to itself.
    expect(only(headScores([looking(3, () => 0)], [1, 2, 3]))).toEqual([0.5, 1, Number.NaN, Number.NaN]);
  });

  it('adds up keys of the same kind', () => {
    const even = new Tensor('float32', new Float32Array(16).fill(0.25), [1, 1, 4, 4]);
    // Duplicates of 7, 7, 7, 7: 1, 2, 3 keys; successors of a 7: keys 1 up to the query itself.
    expect(only(headScores([even], [7, 7, 7, 7]))).toEqual([0.25, 0.25, 0.5, 0.5]);
  });

  it.each([
    ['left', [0, 0, 9, 3, 4, 3, 4], [0, 0, 1, 1, 1, 1, 1], 2],
    ['right', [9, 3, 4, 3, 4, 0, 0], [1, 1, 1, 1, 1, 0, 0], 0],
  ] as const)('leaves padding on the %s out', (_, tokens, mask, start) => {
    const head: Looks = (query) => Math.max(query - 1, start);
    const padded = headScores([looking(7, head)], [...tokens], [...mask]);
    const alone = headScores([looking(5, (query) => Math.max(query - 1, 0))], [9, 3, 4, 3, 4]);
    expect(only(padded)).toEqual(only(alone));
    expect(only(padded)[0]).toBe(1);
  });
});

it('is a masked mean over random maps', () => {
  const [batch, heads, length] = [3, 2, 12];
  let state = 7;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return state;
  };
  const data = Float32Array.from({ length: batch * heads * length * length }, () => (random() % 1000) / 1000);
  const map = new Tensor('float32', data, [batch, heads, length, length]);
  const ids = Array.from({ length: batch }, () => Array.from({ length }, () => random() % 4));
  const mask = ids.map((row) => row.map(() => (random() % 5 === 0 ? 0 : 1)));
  const scores = headScores([map], ids, mask);
  const counts: Record<(typeof kinds)[number], (t: (number | null)[], i: number, j: number) => boolean> = {
    previous_token: (_, i, j) => j + 1 === i,
    first_token: (t, i, j) => j < i && t.slice(0, j).every((each) => each === null),
    duplicate_token: (t, i, j) => j < i && t[i] === t[j],
    induction: (t, i, j) => j <= i && j > 0 && t[j - 1] === t[i],
  };
  for (const kind of kinds) {
    for (let head = 0; head < heads; head++) {
      const sums: number[] = [];
      ids.forEach((row, b) => {
        const t = row.map((id, at) => (mask[b]?.[at] === 1 ? id : null));
        for (let i = 0; i < length; i++) {
          const keys = Array.from({ length }, (_, j) => j).filter(
            (j) => t[i] !== null && t[j] !== null && counts[kind](t, i, j),
          );
          if (keys.length > 0) sums.push(keys.reduce((sum, j) => sum + (map.slice(b, head, i, j).item() as number), 0));
        }
      });
      const wanted = sums.reduce((a, b) => a + b) / sums.length;
      expect(scores[kind].data[head]).toBe(Math.fround(wanted));
    }
  }
});

it('refuses tokens of another text', async () => {
  const map = looking(3, () => 0);
  expect((await failureOf(() => headScores([map], [1, 2]))).message).toContain(
    'input_ids is [1, 2], the attention maps are of [1, 3]',
  );
  expect((await failureOf(() => headScores([map], [1, 2, 3], [[1], [1]]))).code).toBe('shape_mismatch');
  expect((await failureOf(() => headScores([], [1]))).code).toBe('invalid_argument');
});
