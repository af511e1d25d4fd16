// Pooling: one vector per text from one per token. Formulas: sentence_pooling.h of the core, which computes it.

import type { TensorIn } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError, textOf } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';

const kinds = ['cls', 'max', 'mean', 'mean_sqrt_len_tokens', 'weightedmean', 'last_token'] as const;

/** A pooling mode. */
export type PoolingMode = (typeof kinds)[number];
/** The option of a call: upstream's names, alternative names of transformers.js, or several to be concatenated. */
export type Pooling = PoolingMode | 'none' | 'lasttoken' | 'first_token' | 'eos';

const spellings = new Map<unknown, PoolingMode>(
  Object.entries({
    first_token: 'cls',
    cls_token: 'cls',
    mean_tokens: 'mean',
    max_tokens: 'max',
    weightedmean_tokens: 'weightedmean',
    eos: 'last_token',
    lasttoken: 'last_token',
  } as const),
);

/** The modes in the order in which their vectors are concatenated; empty: none. Throws `invalid_argument`. */
export function poolingModes(given: unknown): PoolingMode[] {
  const names = Array.isArray(given) ? given : given === 'none' ? [] : [given];
  const modes = names.map((name: unknown) => {
    const mode = spellings.get(name) ?? kinds.find((kind) => kind === name);
    if (mode !== undefined) return mode;
    const expected = Array.isArray(given) ? kinds : ['none', ...kinds];
    throw new ClearformerError(
      'invalid_argument',
      `pooling must be one of ${expected.join(', ')}, or several of them, not ${textOf(name)}`,
      { option: 'pooling', expected },
    );
  });
  return kinds.filter((kind) => modes.includes(kind));
}

/** [batch, position, d_model] and its mask [batch, position] -> [batch, modes · d_model]. */
export async function pool(
  engine: Engine,
  hidden: Tensor<'float32'>,
  mask: TensorIn,
  modes: readonly PoolingMode[],
): Promise<Tensor<'float32'>> {
  return toTensor(await engine.call('sentence_pooling', { x: tensorIn(hidden), mask, modes: [...modes] }));
}

/** Normalises every vector along the last axis to unit length; zero vectors are unchanged. */
export async function normalized(engine: Engine, tensor: Tensor<'float32'>): Promise<Tensor<'float32'>> {
  return toTensor(await engine.call('unit_vectors', { x: tensorIn(tensor) }));
}

/** A tensor for the core. */
export function tensorIn({ data, dims }: Tensor<'float32'> | Tensor<'int64'>): TensorIn {
  return { data, dims: [...dims] };
}
