// One head's map as an image: a square of weights, one pixel a cell, or the strongest weight of a block of cells
// where there are more cells than pixels.

import type { AttentionMaps } from './attention_maps.js';
import { type ColourScale, rampIndex } from './colour_scale.js';

/** No cell of this pixel has been computed (the future, or not written yet). */
const noWeight = -1;

/** The sizes a growing map goes through, so that it is redrawn at a new size only now and then. */
export function capacityFor(rows: number): number {
  let step = 16;
  while (step < rows) step = (step & (step - 1)) === 0 ? step * 1.5 : (step / 3) * 4;
  return step;
}

/** Which part of a square of `capacity` cells a map takes, as shares of its sides; a causal one takes all of it. */
export function mapExtent({ kind, rows, columns }: AttentionMaps, capacity: number): { rows: number; columns: number } {
  if (kind === 'causal') return { rows: 1, columns: 1 };
  return { rows: Math.min(1, rows / capacity), columns: Math.min(1, columns / capacity) };
}

export class WeightImage {
  /** Rows and columns of the map. */
  readonly capacity: number;
  /** Cells along one pixel. */
  readonly factor: number;
  /** Pixels along one side. */
  readonly side: number;
  rows = 0;
  readonly #weights: Float32Array;

  constructor(capacity: number, most_pixels: number) {
    this.capacity = capacity;
    this.factor = Math.max(1, Math.ceil(capacity / most_pixels));
    this.side = Math.ceil(capacity / this.factor);
    this.#weights = new Float32Array(this.side * this.side).fill(noWeight);
  }

  /** The next row: weights of query `rows` over the keys up to it. */
  addRow(row: ArrayLike<number>): void {
    const start = Math.floor(this.rows / this.factor) * this.side;
    for (let key = 0; key < row.length; key++) {
      const at = start + Math.floor(key / this.factor);
      this.#weights[at] = Math.max(this.#weights[at] ?? noWeight, row[key] ?? noWeight);
    }
    this.rows++;
  }

  /** Writes RGBA with `stride` pixels a line at pixel (left, top); pixels without a weight stay clear. */
  paint(scale: ColourScale, pixels: Uint8ClampedArray, stride: number, left = 0, top = 0): void {
    for (let y = 0; y < this.side; y++) {
      for (let x = 0; x < this.side; x++) {
        const weight = this.#weights[y * this.side + x] ?? noWeight;
        const to = ((top + y) * stride + left + x) * 4;
        if (weight < 0) {
          pixels[to + 3] = 0;
          continue;
        }
        const from = rampIndex(scale.spread, weight) * 3;
        pixels[to] = scale.table[from] ?? 0;
        pixels[to + 1] = scale.table[from + 1] ?? 0;
        pixels[to + 2] = scale.table[from + 2] ?? 0;
        pixels[to + 3] = 255;
      }
    }
  }
}
