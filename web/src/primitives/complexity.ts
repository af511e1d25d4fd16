// Complexity: the cost of one layer, and the path length between positions (Vaswani et al. 2017, section 4, table 1).

import type { Complexity } from '../runtime/complexity.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { sizes } from './arguments.js';
import { run } from './shared_core.js';

const kinds = [
  'self_attention',
  'recurrent',
  'convolutional',
  'dilated_convolutional',
  'restricted_self_attention',
] as const;

/** A layer that maps n vectors of size d to n vectors of size d. */
export type LayerKind = (typeof kinds)[number];

/** Its sizes. */
export interface LayerSize {
  /** n */
  sequence_length: number;
  /** d */
  d_model: number;
  /** k, of the convolutions: the width of a kernel in positions. */
  kernel_size?: number | undefined;
  /** r, of restricted self-attention: the number of positions a query attends to. */
  neighbourhood?: number | undefined;
}

/**
 * Work, sequential operations and maximum path length: self-attention O(n²·d), O(1), O(1); recurrent O(n·d²), O(n), O(n);
 * convolutional O(k·n·d²), O(1), O(n/k), dilated O(log_k n); restricted self-attention O(r·n·d), O(1), O(n/r).
 */
export async function complexity(kind: LayerKind, size: LayerSize): Promise<Complexity> {
  if (!kinds.includes(kind)) {
    throw new ClearformerError('unsupported', `complexity: the layer is ${textOf(kind)} (known: ${kinds.join(', ')})`);
  }
  checkOptions('complexity', size, ['sequence_length', 'd_model', 'kernel_size', 'neighbourhood']);
  return run('complexity', { kind, ...sizes('complexity', { ...size }, 1) });
}
