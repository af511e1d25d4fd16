// Where one head looks, on average over the text so far: at the token itself, the one before, the very first,
// or elsewhere. Means of the attention rows, so the four shares sum to 1.

import type { AttentionMaps } from './attention_maps.js';

export interface HeadProfile {
  self: number;
  previous: number;
  first: number;
  elsewhere: number;
  /** Rows that were averaged: those of the third token and later, where the four places differ. */
  rows: number;
}

export function headProfile(store: AttentionMaps, layer: number, head: number): HeadProfile {
  const sums = { self: 0, previous: 0, first: 0, total: 0 };
  for (let query = 2; query < store.rows; query++) {
    const row = store.row(layer, head, query);
    sums.self += row[query] ?? 0;
    sums.previous += row[query - 1] ?? 0;
    sums.first += row[0] ?? 0;
    for (const weight of row) sums.total += weight;
  }
  const rows = Math.max(0, store.rows - 2);
  const mean = (sum: number): number => (rows > 0 ? sum / rows : 0);
  const { self, previous, first, total } = sums;
  return {
    self: mean(self),
    previous: mean(previous),
    first: mean(first),
    elsewhere: Math.max(0, mean(total - self - previous - first)),
    rows,
  };
}
