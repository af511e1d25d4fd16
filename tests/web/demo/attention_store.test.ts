// The rows of attention that a generation yields step by step, kept without running anything twice.

import { describe, expect, it } from 'vitest';
import { AttentionStore } from '../../../web/demo/state/attention_store.js';
import { headProfile } from '../../../web/demo/state/head_profile.js';

const layers = 2;
const heads = 3;
const promptLength = 4;

/** A weight that tells where it belongs. */
const mark = (layer: number, head: number, query: number, key: number): number =>
  layer + head / 10 + query / 1000 + key / 100_000;

function step(first: number, queries: number): { data: Float32Array; dims: number[] }[] {
  const keys = first + queries;
  return Array.from({ length: layers }, (_, layer) => {
    const data = new Float32Array(heads * queries * keys);
    for (let head = 0; head < heads; head++)
      for (let q = 0; q < queries; q++)
        for (let k = 0; k <= first + q; k++) data[(head * queries + q) * keys + k] = mark(layer, head, first + q, k);
    return { data, dims: [1, heads, queries, keys] };
  });
}

function filled(rows: number): AttentionStore {
  const store = new AttentionStore(layers, heads);
  store.add(step(0, promptLength));
  for (let row = promptLength; row < rows; row++) store.add(step(row, 1));
  return store;
}

describe('AttentionStore', () => {
  it('finds every weight of the prompt and of later steps', () => {
    const store = filled(9);
    expect(store.rows).toBe(9);
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads; head++)
        for (let query = 0; query < 9; query++) {
          const row = store.row(layer, head, query);
          expect(row.length).toBe(query + 1);
          row.forEach((weight, key) => {
            expect(weight).toBe(Math.fround(mark(layer, head, query, key)));
          });
        }
  });

  it('keeps the tensors as they came', () => {
    const store = new AttentionStore(layers, heads);
    const given = step(0, promptLength);
    store.add(given);
    expect(store.row(1, 0, 2).buffer).toBe(given[1]?.data.buffer);
  });

  it('has nothing in the future, outside, or before the first step', () => {
    const store = filled(6);
    expect(store.weight(0, 0, 2, 3)).toBeNaN();
    for (const [layer, head, query] of [
      [0, 0, 6],
      [0, 0, -1],
      [2, 0, 0],
      [0, 3, 0],
    ] as const)
      expect(store.row(layer, head, query).length).toBe(0);
    expect(new AttentionStore(1, 1).row(0, 0, 0).length).toBe(0);
  });

  it('refuses rows that do not follow', () => {
    const store = filled(6);
    expect(() => store.add(step(7, 1))).toThrow(/does not follow 6 rows/);
    expect(() => store.add(step(6, 1).slice(1))).toThrow(RangeError);
  });

  it('stops at its budget and says so', () => {
    const store = new AttentionStore(layers, heads, 700);
    store.add(step(0, promptLength));
    for (let row = promptLength; row < 20; row++) store.add(step(row, 1));
    expect(store.full).toBe(true);
    expect(store.bytes).toBeLessThanOrEqual(700);
    expect(store.row(0, 0, store.rows - 1).length).toBe(store.rows);
  });
});

describe('headProfile', () => {
  it('averages the rows from the third token on', () => {
    const store = new AttentionStore(1, 1);
    const data = new Float32Array([1, 0, 0, 0.5, 0.5, 0, 0.1, 0.2, 0.7]);
    store.add([{ data, dims: [1, 1, 3, 3] }]);
    store.add([{ data: new Float32Array([0.3, 0.4, 0.1, 0.2]), dims: [1, 1, 1, 4] }]);
    const profile = headProfile(store, 0, 0);
    expect(profile.rows).toBe(2);
    expect(profile.first).toBeCloseTo(0.2, 6);
    expect(profile.previous).toBeCloseTo(0.15, 6);
    expect(profile.self).toBeCloseTo(0.45, 6);
    expect(profile.elsewhere).toBeCloseTo(0.2, 6);
  });

  it('says nothing about two tokens', () => {
    expect(headProfile(new AttentionStore(1, 1), 0, 0)).toMatchObject({ rows: 0, first: 0 });
  });
});
