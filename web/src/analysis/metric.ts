// A number that says how a model answers, to see what changes it.

import { ClearformerError, textOf } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { placesOf } from './positions.js';

/** From the logits [batch, pos, d_vocab] (or what the model gives in their place) to one number. */
export type Metric = (logits: Tensor<'float32'>) => number | Promise<number>;

/**
 * How much higher the logit of token `right` is than that of `wrong` at a position (default: the last), as a mean over
 * the batch: the metric of Wang et al. 2022, arXiv 2211.00593. When it runs it throws `invalid_argument` for tokens or a
 * position that are not there.
 */
export function logitDifference(right: number, wrong: number, pos = -1): Metric {
  return ({ data, dims }) => {
    const [batch = 0, length = 0, words = 0] = dims;
    for (const token of [right, wrong]) {
      if (Number.isInteger(token) && token >= 0 && token < words && dims.length === 3) continue;
      throw new ClearformerError('invalid_argument', `logitDifference: no token ${token} in [${dims.join(', ')}]`);
    }
    const [place = 0] = placesOf('logitDifference', pos, length);
    let sum = 0;
    for (let row = 0; row < batch; row++) {
      const start = (row * length + place) * words;
      sum += (data[start + right] as number) - (data[start + wrong] as number);
    }
    return sum / batch;
  };
}

/** What the metric makes of these logits. Throws `invalid_argument` when it is no function or gives no number. */
export async function measured(call: string, metric: Metric, logits: Tensor<'float32'>): Promise<number> {
  if (typeof metric !== 'function') {
    throw new ClearformerError('invalid_argument', `${call}: metric must be a function of the logits`, {
      option: 'metric',
    });
  }
  const value = await metric(logits);
  if (typeof value === 'number') return value;
  throw new ClearformerError('invalid_argument', `${call}: metric gave ${textOf(value)}, no number`, {
    option: 'metric',
  });
}
