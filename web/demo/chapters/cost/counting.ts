// The operation counts of layers, by the package's `complexity`.

import { type Complexity, complexity, type LayerKind } from 'clearformer';
import { within } from '../../book/within.js';

export type Sizes = Readonly<Record<'n' | 'd' | 'k', number>>;

/** The chosen sizes, as far as they can be measured, too. */
export function sizesOf(value: (key: string) => string): Sizes {
  const size = (key: string, least: number): number => least + within(Number(value(key)) - least, 4097 - least);
  return { n: size('n', 1), d: Math.min(1024, size('d', 1)), k: Math.min(63, size('k', 2)) };
}

/** The layers of the table in Vaswani et al. 2017, in its order. */
export const kinds: readonly LayerKind[] = [
  'self_attention',
  'recurrent',
  'convolutional',
  'restricted_self_attention',
];

/** How many tokens a token of restricted attention reads: twice the kernel's, or all. */
export const neighbourhood = (n: number, k: number): number => Math.min(n, 2 * k);

/** Counts for a layer that maps n vectors of size d; k is the kernel size. */
export function works(n: number, d: number, k: number): Promise<Complexity[]> {
  const sizes = { sequence_length: n, d_model: d };
  return Promise.all(
    kinds.map((kind) => {
      if (kind === 'convolutional') return complexity(kind, { ...sizes, kernel_size: k });
      if (kind === 'restricted_self_attention')
        return complexity(kind, { ...sizes, neighbourhood: neighbourhood(n, k) });
      return complexity(kind, sizes);
    }),
  );
}
