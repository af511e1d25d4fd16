// The direction of the residual stream along which a token's logit grows.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError, textOf } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';

/** A token for all rows of a batch, or one per row. */
export type TokenChoice = number | readonly number[];

export interface TokenDirections {
  /** [rows, d_model]: logit = directions · x / scale + bias. */
  directions: Tensor<'float32'>;
  bias: number[];
  /** The tokens of each row; without `wrong` it is a logit and not a difference. */
  tokens: { right: number; wrong: number | undefined }[];
}

/**
 * Directions of the `right` tokens, or of the difference to `wrong` ones, for each row of the batch. For a LayerNorm
 * they have mean 0, which subtracts the mean of the vectors they multiply. Throws `invalid_argument` for tokens out of
 * range.
 */
export async function tokenDirections(
  call: string,
  model: PreTrainedModel,
  batch: number,
  choice: { right: TokenChoice; wrong: TokenChoice | undefined },
  signal: AbortSignal | undefined,
): Promise<TokenDirections> {
  const right = oneARow(call, 'tokens', model, batch, choice.right);
  const wrong = choice.wrong === undefined ? [] : oneARow(call, 'incorrect_tokens', model, batch, choice.wrong);
  const { engine, model: handle } = model.open();
  const tokens = { data: Int32Array.from([...right, ...wrong]), dims: [right.length + wrong.length] };
  const value = await engine.call('model_logit_directions', { model: handle, tokens }, signal);
  const width = value.vectors.dims[1] ?? 0;
  const data = new Float32Array(batch * width);
  const bias: number[] = [];
  for (let row = 0; row < batch; row++) {
    const difference = (from: Float32Array, size: number, at: number) =>
      (from[row * size + at] as number) - (wrong.length === 0 ? 0 : (from[(batch + row) * size + at] as number));
    const direction = Float64Array.from({ length: width }, (_, at) => difference(value.vectors.data, width, at));
    data.set(model.cfg.normalization_type === 'LN' ? centred(direction) : direction, row * width);
    bias.push(difference(value.bias.data, 1, 0));
  }
  return {
    directions: new Tensor('float32', data, [batch, width]),
    bias,
    tokens: right.map((token, row) => ({ right: token, wrong: wrong[row] })),
  };
}

function centred(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

function oneARow(call: string, option: string, model: PreTrainedModel, batch: number, choice: TokenChoice): number[] {
  const list = typeof choice === 'number' ? Array<number>(batch).fill(choice) : Array.isArray(choice) ? choice : [];
  const { d_vocab } = model.cfg;
  const known = list.every((token) => Number.isInteger(token) && token >= 0 && token < d_vocab);
  if (known && list.length === batch) return list;
  throw new ClearformerError(
    'invalid_argument',
    `${call}: ${option} must be a token id below ${d_vocab}, or one for each of ${batch} rows, got ${[choice].flat().map(textOf)}`,
    { option },
  );
}
