// The attention maps of all heads of all layers, and how many heads give most of their weight to one place.

import { Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import type { Reading } from './reading.js';

/** What the token that reads may see most of: the first token, the one before it, itself. */
export const targets = ['first', 'previous', 'self'] as const;
type Target = (typeof targets)[number];

export interface Every {
  /** [layer, head, query, key] of the tokens shown. */
  readonly maps: Tensor<'float32'>;
  /** How many heads give more than half of the weight, on average over all tokens from the third on, to each target. */
  readonly counts: Readonly<Record<Target, number>> | undefined;
}

/** The weights of a pass are captured for as many layers at once as this. */
const bytesAtOnce = 32e6;

/** From here on the three targets are three tokens. */
const firstReader = 2;

/** With the edits of the reading. */
export async function every(book: Book, reading: Reading, signal: AbortSignal): Promise<Every> {
  const { given, stack, layers, heads, tokens, from, shown, specs } = reading;
  const length = tokens.length;
  const atOnce = Math.max(1, Math.floor(bytesAtOnce / (4 * heads * length ** 2)));
  const edits = await book.edits(given, specs);
  const maps = new Float32Array(layers * heads * shown ** 2);
  const counts = { first: 0, previous: 0, self: 0 };
  const part = [from, from + shown] as const;
  for (let start = 0; start < layers; start += atOnce) {
    signal.throwIfAborted();
    const some = Array.from({ length: Math.min(atOnce, layers - start) }, (_, i) => start + i);
    const hooks = some.map((layer) => `${stack}.${layer}.attn.hook_pattern`);
    const pass = await book.shelf.pass(given, { names: hooks, edits });
    hooks.forEach((hook, i) => {
      const pattern = activation(pass, hook);
      maps.set(pattern.slice(0, null, part, part).data, (start + i) * heads * shown ** 2);
      for (let head = 0; head < heads; head++) {
        const { data } = pattern.slice(0, head);
        for (const target of targets) if (meanWeight(data, length, target) > 0.5) counts[target]++;
      }
    });
  }
  return {
    maps: new Tensor('float32', maps, [layers, heads, shown, shown]),
    counts: length > firstReader ? counts : undefined,
  };
}

function meanWeight(map: Float32Array, length: number, target: Target): number {
  const keyOf = { first: () => 0, previous: (query: number) => query - 1, self: (query: number) => query };
  let sum = 0;
  for (let query = firstReader; query < length; query++) sum += map[query * length + keyOf[target](query)] ?? 0;
  return sum / (length - firstReader);
}
