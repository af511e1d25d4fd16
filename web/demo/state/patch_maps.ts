// What an image model looks at: attention over patches, laid out as the patches lie in the image.

import { type AttentionMaps, type AttentionTensor, emptyRow } from './attention_maps.js';

/** Patches down and across. */
export interface PatchGrid {
  rows: number;
  columns: number;
}

/** One tensor a layer, [1, head, token, token]; the tokens are a few special ones, the class token first, then the patches. */
export class PatchAttention {
  readonly layers: number;
  readonly heads: number;
  readonly tokens: number;
  /** Special tokens before the first patch. */
  readonly specials: number;
  readonly #weights: readonly Float32Array[];

  constructor(
    tensors: readonly AttentionTensor[],
    readonly grid: PatchGrid,
  ) {
    const [, heads = 0, tokens = 0] = tensors[0]?.dims ?? [];
    this.layers = tensors.length;
    this.heads = heads;
    this.tokens = tokens;
    this.specials = tokens - grid.rows * grid.columns;
    if (this.specials < 0)
      throw new RangeError(`${tokens} tokens are fewer than ${grid.rows} × ${grid.columns} patches`);
    this.#weights = tensors.map(({ data }) => (data instanceof Float32Array ? data : Float32Array.from(data)));
  }

  /** Weights of one token over all tokens. */
  row(layer: number, head: number, token: number): Float32Array {
    const start = (head * this.tokens + token) * this.tokens;
    return this.#weights[layer]?.subarray(start, start + this.tokens) ?? emptyRow;
  }

  /** What one token looks at, as maps with the lines and columns of the image. */
  seenBy(token: number): AttentionMaps {
    const { layers, heads, grid, specials } = this;
    return {
      kind: 'self',
      layers,
      heads,
      rows: grid.rows,
      columns: grid.columns,
      full: false,
      row: (layer, head, line) => {
        const start = specials + line * grid.columns;
        return this.row(layer, head, token).subarray(start, start + grid.columns);
      },
    };
  }

  /**
   * Attention rollout (Abnar and Zuidema 2020): how much of each token reaches token `of` through all layers, when half of
   * every layer's output is its input passed by and heads count alike. Sums to 1.
   */
  rollout(of: number): Float64Array {
    let flow = new Float64Array(this.tokens);
    flow[of] = 1;
    for (let layer = this.layers - 1; layer >= 0; layer--) {
      const before = flow.map((share) => share / 2);
      for (let token = 0; token < this.tokens; token++) {
        const share = (flow[token] ?? 0) / (2 * this.heads);
        if (share === 0) continue;
        for (let head = 0; head < this.heads; head++) {
          const row = this.row(layer, head, token);
          for (let key = 0; key < row.length; key++) before[key] = (before[key] ?? 0) + share * (row[key] ?? 0);
        }
      }
      flow = before;
    }
    return flow;
  }
}

/** How a model cuts images, from its config.json: `image_size` and `patch_size`, each one number or [height, width]. */
export function patchGrid(config: Readonly<Record<string, unknown>>): PatchGrid | undefined {
  const sides = (value: unknown): [number, number] => {
    const [height, width = height] = [value].flat().map(Number);
    return [height ?? Number.NaN, width ?? Number.NaN];
  };
  const [image, patch] = [sides(config.image_size), sides(config.patch_size)];
  const [rows, columns] = [Math.floor(image[0] / patch[0]), Math.floor(image[1] / patch[1])];
  return rows > 0 && columns > 0 ? { rows, columns } : undefined;
}
