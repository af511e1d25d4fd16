// A metric: a number that summarises a model's output, to measure the effect of a change.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError, textOf } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import { exportedTensor } from '../tensor/exported_tensor.js';
import { isTensor, type Tensor } from '../tensor/tensor.js';
import { placesOf } from './positions.js';
import type { TokenChoice } from './token_directions.js';

/**
 * Maps the logits [batch, pos, d_vocab] (or the output that the model has instead) to one number. One that reads only
 * some positions may say so: then the others are not computed where many runs are measured.
 */
export interface Metric {
  (logits: Tensor<'float32'>): number | Promise<number>;
  readonly reads?: MetricReads | undefined;
}

/** A metric that gives its number as a Tensor of one element, such as `logits.slice(0, -1, token)`. */
export interface TensorMetric {
  (logits: Tensor<'float32'>): Tensor<'float32'> | Promise<Tensor<'float32'>>;
  readonly reads?: undefined;
}

/** The positions that a metric reads, negative from the end, and the same metric of logits of these alone. */
export interface MetricReads {
  positions: readonly number[];
  /** The metric of the logits of these positions alone. */
  of: (logits: Tensor<'float32'>) => number | Promise<number>;
}

/**
 * The difference of the logits of tokens `right` and `wrong` at a position (default: the last), averaged over
 * the batch: the metric of Wang et al. 2022, arXiv 2211.00593. Lists have one token for each sequence. When called it
 * throws `invalid_argument` for tokens or a position that do not exist.
 */
export function logitDifference(right: TokenChoice, wrong: TokenChoice, pos = -1): Metric {
  const at = (place: number) => differenceAt(right, wrong, place);
  return Object.assign(at(pos), { reads: { positions: [pos], of: at(0) } });
}

function differenceAt(right: TokenChoice, wrong: TokenChoice, pos: number) {
  return (logits: Tensor<'float32'>): number => {
    const { data, dims } = exportedTensor('logitDifference', logits) as Tensor<'float32'>;
    const [batch = 0, length = 0, words = 0] = dims;
    const [rights, wrongs] = [right, wrong].map((choice) => {
      const tokens: readonly number[] = Array.isArray(choice) ? choice : Array(batch).fill(choice);
      const unknown = tokens.findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < words));
      if (unknown < 0 && tokens.length === batch && dims.length === 3) return tokens;
      const found = unknown < 0 ? `tokens of ${tokens.length} rows` : `token ${textOf(tokens[unknown])}`;
      throw new ClearformerError('invalid_argument', `logitDifference: no ${found} in [${dims.join(', ')}]`);
    }) as [readonly number[], readonly number[]];
    const [place = 0] = placesOf('logitDifference', pos, length);
    let sum = 0;
    for (let row = 0; row < batch; row++) {
      const start = (row * length + place) * words;
      sum += (data[start + (rights[row] as number)] as number) - (data[start + (wrongs[row] as number)] as number);
    }
    return sum / batch;
  };
}

/** What a metric reads, of a model that can compute the logits of some positions only. */
export const readsOf = (
  { cfg }: PreTrainedModel,
  metric: Metric | TensorMetric | undefined,
): MetricReads | undefined => (cfg.task === 'causal-lm' || cfg.task === 'seq2seq-lm' ? metric?.reads : undefined);

/** The metric of these logits. Throws `invalid_argument` if it is not a function or does not give one number. */
export async function measured(
  call: string,
  metric: Metric | TensorMetric,
  logits: Tensor<'float32'>,
): Promise<number> {
  if (typeof metric !== 'function') {
    throw refusedOption(call, 'metric', 'must be a function of the logits');
  }
  const given = await metric(logits);
  const value = isTensor(given) && given.size === 1 ? given.item() : given;
  if (typeof value === 'number') return value;
  throw refusedOption(call, 'metric', `gave ${textOf(value)}, no number`);
}
