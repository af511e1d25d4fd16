// Attention as the page shows it: maps of a finished pass, and of an image's patches, head by head or through all layers.

import { describe, expect, it } from 'vitest';
import { AttentionGrid, haveRoom } from '../../../web/demo/state/attention_maps.js';
import { PatchAttention, patchGrid } from '../../../web/demo/state/patch_maps.js';
import { mapExtent } from '../../../web/demo/state/weight_image.js';

const heads = 3;

/** Rows of positive numbers that sum to 1 and differ everywhere. */
function layer(seed: number, rows: number, columns: number): { data: Float32Array; dims: number[] } {
  const data = new Float32Array(heads * rows * columns);
  for (let row = 0; row < heads * rows; row++) {
    const values = Array.from({ length: columns }, (_, key) => 1 + ((row * 31 + key * 17 + seed * 7) % 13));
    const sum = values.reduce((total, value) => total + value, 0);
    for (let key = 0; key < columns; key++) data[row * columns + key] = (values[key] as number) / sum;
  }
  return { data, dims: [1, heads, rows, columns] };
}

describe('AttentionGrid', () => {
  it('has the rows of a text that looks at another', () => {
    const tensors = [layer(0, 4, 6), layer(1, 4, 6)];
    const grid = new AttentionGrid('cross', tensors);
    expect([grid.layers, grid.heads, grid.rows, grid.columns]).toEqual([2, heads, 4, 6]);
    for (let at = 0; at < 2; at++)
      for (let head = 0; head < heads; head++)
        for (let query = 0; query < 4; query++) {
          const start = (head * 4 + query) * 6;
          expect([...grid.row(at, head, query)]).toEqual([...(tensors[at]?.data.slice(start, start + 6) ?? [])]);
        }
  });

  it('ends causal rows at their own token', () => {
    const grid = new AttentionGrid('causal', [layer(0, 5, 5)]);
    expect([0, 1, 4].map((query) => grid.row(0, 1, query).length)).toEqual([1, 2, 5]);
  });

  it('has no rows elsewhere', () => {
    const grid = new AttentionGrid('self', [layer(0, 5, 5)]);
    for (const [at, head, query] of [
      [1, 0, 0],
      [0, heads, 0],
      [0, -1, 0],
      [0, 0, 5],
      [0, 0, -1],
    ] as const)
      expect(grid.row(at, head, query).length).toBe(0);
  });

  it('refuses several texts at once', () => {
    expect(() => new AttentionGrid('self', [{ data: new Float32Array(50), dims: [2, 1, 5, 5] }])).toThrow(RangeError);
  });

  it('takes of a square what its lines and columns take', () => {
    const maps = new AttentionGrid('cross', [layer(0, 4, 8)]);
    expect(mapExtent(maps, 8)).toEqual({ rows: 0.5, columns: 1 });
    expect(mapExtent(new AttentionGrid('causal', [layer(0, 4, 4)]), 8)).toEqual({ rows: 1, columns: 1 });
  });
});

it('haveRoom adds up all maps: 256 MiB are there', () => {
  const stack = { n_layers: 8, n_heads: 8 };
  expect(haveRoom({ stack, queries: 1024, keys: 1024 })).toBe(true);
  expect(haveRoom({ stack, queries: 1024, keys: 1025 })).toBe(false);
  expect(haveRoom({ stack, queries: 512, keys: 1024 }, { stack, queries: 512, keys: 1024 })).toBe(true);
  expect(haveRoom({ stack, queries: 512, keys: 1024 }, { stack, queries: 513, keys: 1024 })).toBe(false);
});

describe('PatchAttention', () => {
  const grid = { rows: 2, columns: 3 };
  const tensors = [layer(0, 8, 8), layer(3, 8, 8)];
  const attention = new PatchAttention(tensors, grid); // two special tokens, six patches

  it('lays the weights out as the patches lie', () => {
    const seen = attention.seenBy(0);
    expect([seen.rows, seen.columns, attention.specials]).toEqual([2, 3, 2]);
    const row = attention.row(1, 2, 0);
    expect([...seen.row(1, 2, 0)]).toEqual([...row.slice(2, 5)]);
    expect([...seen.row(1, 2, 1)]).toEqual([...row.slice(5, 8)]);
  });

  it('rolls out as the product of the layers, each half its input passed by', () => {
    const matrix = (at: number): number[][] =>
      Array.from({ length: 8 }, (_, query) =>
        Array.from({ length: 8 }, (_, key) => {
          let sum = 0;
          for (let head = 0; head < heads; head++) sum += attention.row(at, head, query)[key] ?? 0;
          return (sum / heads + (query === key ? 1 : 0)) / 2;
        }),
      );
    const [first, second] = [matrix(0), matrix(1)];
    for (const of of [0, 5]) {
      const wanted = first.map((_, key) =>
        first.reduce((sum, row, middle) => sum + (second[of]?.[middle] ?? 0) * (row[key] ?? 0), 0),
      );
      const found = attention.rollout(of);
      found.forEach((share, key) => {
        expect(share).toBeCloseTo(wanted[key] as number, 12);
      });
      expect(found.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
    }
  });

  it('refuses more patches than tokens', () => {
    expect(() => new PatchAttention(tensors, { rows: 3, columns: 3 })).toThrow(RangeError);
  });
});

it('patchGrid reads sides from config.json', () => {
  expect(patchGrid({ image_size: 28, patch_size: 4 })).toEqual({ rows: 7, columns: 7 });
  expect(patchGrid({ image_size: [16, 24], patch_size: [4, 8] })).toEqual({ rows: 4, columns: 3 });
  expect(patchGrid({ image_size: 30, patch_size: 8 })).toEqual({ rows: 3, columns: 3 });
  expect(patchGrid({})).toBeUndefined();
});
