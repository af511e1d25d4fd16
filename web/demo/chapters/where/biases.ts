// Position biases: a number per distance, added to the scores.

import { alibi_bias, alibi_slopes, relative_position_bucket } from 'clearformer';
import { stacked } from '../../book/tensors.js';
import { within } from '../../book/within.js';
import type { Made } from './places.js';

export interface Biases {
  readonly head: number;
  readonly heads: number;
  /** [heads]. */
  readonly slopes: Made;
  /** [n, n] of the chosen head; decreases with the distance. */
  readonly alibi: Made;
  /** [n, n]: the index of the learned bias that is added. */
  readonly buckets: Made;
}

const heads = 8;
export const biasTokens = 12;

export async function biasesOf(asked: number, count: number): Promise<Biases> {
  const head = within(asked, heads);
  const bias = await alibi_bias(heads, { queries: count, keys: count });
  const distances = Array.from({ length: count }, (_, query) => Array.from({ length: count }, (_, key) => key - query));
  const buckets = await relative_position_bucket(distances, { num_buckets: 8, max_distance: 16, bidirectional: false });
  return {
    head,
    heads,
    slopes: { source: `alibi_slopes(${heads})`, numbers: await alibi_slopes(heads) },
    alibi: {
      source: `alibi_bias(${heads}, { queries: ${count}, keys: ${count} })[0, ${head}]`,
      numbers: bias.slice(0, head),
    },
    buckets: {
      source: 'relative_position_bucket(keys − queries, { num_buckets: 8, max_distance: 16, bidirectional: false })',
      numbers: stacked(Array.from({ length: count }, (_, row) => Array.from(buckets.slice(row).data, Number))),
    },
  };
}
