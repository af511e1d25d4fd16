// Attention weights as the views read them: of every layer and head a map, row by row.

/** One layer of one pass: [batch = 1, head, query, key], row-major. */
export interface AttentionTensor {
  readonly data: ArrayLike<number>;
  readonly dims: readonly number[];
}

/** `causal`: a text looks at itself up to the token; `self`: at all of itself; `cross`: at another text. */
export type AttentionKind = 'causal' | 'self' | 'cross';

export interface AttentionMaps {
  readonly kind: AttentionKind;
  readonly layers: number;
  readonly heads: number;
  /** Number of queries with a row: they are 0 … rows - 1. */
  readonly rows: number;
  /** Number of keys in the longest row. */
  readonly columns: number;
  /** True once a row was left out because there is no room for more. */
  readonly full: boolean;
  /** Weights of one query over the keys 0, 1, …; empty when the row is not there. */
  row(layer: number, head: number, query: number): Float32Array;
}

/** Bytes that the maps of one finished pass may take; those of longer texts are not asked for. */
const budget = 256 * 2 ** 20;

/** Layers and heads, as a model's `cfg` names them. */
export interface Stack {
  n_layers: number;
  n_heads: number;
}

/** Whether there is room for maps, each of some queries and keys in all heads of a stack. */
export function haveRoom(...maps: readonly { stack: Stack; queries: number; keys: number }[]): boolean {
  const weights = maps.map(({ stack, queries, keys }) => stack.n_layers * stack.n_heads * queries * keys);
  return weights.reduce((sum, count) => sum + count, 0) * Float32Array.BYTES_PER_ELEMENT <= budget;
}

export const emptyRow = new Float32Array(0);

/** All maps of a finished forward pass, one tensor a layer. */
export class AttentionGrid implements AttentionMaps {
  readonly full = false;
  readonly layers: number;
  readonly heads: number;
  readonly rows: number;
  readonly columns: number;
  readonly #weights: readonly Float32Array[];

  constructor(
    readonly kind: AttentionKind,
    tensors: readonly AttentionTensor[],
  ) {
    const [batch = 0, heads = 0, rows = 0, columns = 0] = tensors[0]?.dims ?? [];
    if (batch !== 1) throw new RangeError(`attention maps of ${batch} texts at once cannot be shown`);
    this.layers = tensors.length;
    this.heads = heads;
    this.rows = rows;
    this.columns = columns;
    this.#weights = tensors.map(({ data }) => (data instanceof Float32Array ? data : Float32Array.from(data)));
  }

  row(layer: number, head: number, query: number): Float32Array {
    const data = this.#weights[layer];
    if (!data || head < 0 || head >= this.heads || query < 0 || query >= this.rows) return emptyRow;
    const start = (head * this.rows + query) * this.columns;
    return data.subarray(start, start + (this.kind === 'causal' ? query + 1 : this.columns));
  }
}
