// Every attention row of the text so far, as the model yields it: first the prompt's full map, then one row
// per token. The tensors are kept as they came, so a row is a view and nothing is run twice.

import { type AttentionMaps, type AttentionTensor, emptyRow } from './attention_maps.js';

interface Block {
  /** Position of the block's first query. */
  first: number;
  queries: number;
  keys: number;
  layers: Float32Array[];
}

export class AttentionStore implements AttentionMaps {
  readonly kind = 'causal';
  readonly layers: number;
  readonly heads: number;
  /** Bytes this store may hold; rows past it are not kept. */
  readonly budget: number;
  #blocks: Block[] = [];
  #held = 0;
  #count = 0;
  #overflow = false;

  constructor(layers: number, heads: number, budget = 512 * 2 ** 20) {
    this.layers = layers;
    this.heads = heads;
    this.budget = budget;
  }

  /** Number of queries with a row: they are the tokens 0 … rows - 1. */
  get rows(): number {
    return this.#count;
  }

  get columns(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#held;
  }

  /** True once a step was left out because the budget is used up. */
  get full(): boolean {
    return this.#overflow;
  }

  /** Takes the attentions of one step, one tensor a layer. */
  add(attentions: readonly AttentionTensor[]): void {
    if (this.#overflow) return;
    const dims = attentions[0]?.dims ?? [];
    const [batch = 0, heads = 0, queries = 0, keys = 0] = dims;
    if (attentions.length !== this.layers || batch !== 1 || heads !== this.heads || keys !== this.#count + queries) {
      throw new RangeError(
        `attention of ${attentions.length} layers [${dims.join(', ')}] does not follow ${this.#count} rows of ` +
          `${this.layers} layers and ${this.heads} heads`,
      );
    }
    const size = this.layers * heads * queries * keys * Float32Array.BYTES_PER_ELEMENT;
    if (this.#held + size > this.budget) {
      this.#overflow = true;
      return;
    }
    const layers = attentions.map(({ data }) => (data instanceof Float32Array ? data : Float32Array.from(data)));
    this.#blocks.push({ first: this.#count, queries, keys, layers });
    this.#held += size;
    this.#count += queries;
  }

  /** Weights of one query over the keys 0 … query; empty when the row is not there. */
  row(layer: number, head: number, query: number): Float32Array {
    const block = this.#blockOf(query);
    const data = block?.layers[layer];
    if (!block || !data || head < 0 || head >= this.heads) return emptyRow;
    const start = (head * block.queries + query - block.first) * block.keys;
    return data.subarray(start, start + query + 1);
  }

  /** The weight, or NaN when the key lies in the query's future or the row is not there. */
  weight(layer: number, head: number, query: number, key: number): number {
    return this.row(layer, head, query)[key] ?? Number.NaN;
  }

  #blockOf(query: number): Block | undefined {
    if (query < 0 || query >= this.#count) return undefined;
    const first = this.#blocks[0];
    if (!first || query < first.queries) return first;
    return this.#blocks[query - first.queries + 1];
  }
}
