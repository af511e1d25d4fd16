// A metric: a number that summarises a model's output, to measure the effect of a change.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError, textOf } from '../support/error.js';
import { exportedTensor } from '../tensor/exported_tensor.js';
import type { Tensor } from '../tensor/tensor.js';
import { placesOf } from './positions.js';

/**
 * Maps the logits [batch, pos, d_vocab] (or the output that the model has instead) to one number. One that reads only
 * some positions may say so: then the others are not computed where many runs are measured.
 */
export interface Metric {
  (logits: Tensor<'float32'>): number | Promise<number>;
  readonly reads?: MetricReads | undefined;
}

/** The positions that a metric reads, negative from the end, and the same metric of logits of these alone. */
export interface MetricReads {
  positions: readonly number[];
  /** The metric of the logits of these positions alone. */
  of: (logits: Tensor<'float32'>) => number | Promise<number>;
}

/**
 * The difference of the logits of tokens `right` and `wrong` at a position (default: the last), averaged over
 * the batch: the metric of Wang et al. 2022, arXiv 2211.00593. When called it throws `invalid_argument` for tokens or a
 * position that do not exist.
 */
export function logitDifference(right: number, wrong: number, pos = -1): Metric {
  const at = (place: number) => differenceAt(right, wrong, place);
  return Object.assign(at(pos), { reads: { positions: [pos], of: at(0) } });
}

function differenceAt(right: number, wrong: number, pos: number) {
  return (logits: Tensor<'float32'>): number => {
    const { data, dims } = exportedTensor('logitDifference', logits) as Tensor<'float32'>;
    const [batch = 0, length = 0, words = 0] = dims;
    for (const token of [right, wrong]) {
      if (Number.isInteger(token) && token >= 0 && token < words && dims.length === 3) continue;
      throw new ClearformerError(
        'invalid_argument',
        `logitDifference: no token ${textOf(token)} in [${dims.join(', ')}]`,
      );
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

/** What a metric reads, of a model that can compute the logits of some positions only. */
export const readsOf = ({ cfg }: PreTrainedModel, metric: Metric | undefined): MetricReads | undefined =>
  cfg.task === 'causal-lm' || cfg.task === 'seq2seq-lm' ? metric?.reads : undefined;

/** The metric of these logits. Throws `invalid_argument` if it is not a function or does not return a number. */
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
