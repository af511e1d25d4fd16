// Images as sequences: patches, prepended tokens, interpolation of the position table.

import { checkOptions } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { flagged, sizes } from './arguments.js';
import { compute } from './shared_core.js';

type Float = Tensor<'float32'>;

/** Options of `patch_embedding`. */
export interface PatchEmbeddingOptions {
  /** [features]. */
  bias?: TensorInput | null | undefined;
  /** Drop pixels at the right and bottom edges that fill no patch, like torch.nn.Conv2d; default: an error. */
  drop_remainder?: boolean | undefined;
}

/**
 * W · patch + bias for each patch, row by row: a convolution whose stride is its kernel size (Dosovitskiy et al. 2020,
 * arXiv 2010.11929, section 3.1). images [batch, channel, height, width], weight [features, channel, patch height,
 * patch width] -> [batch, patch, features].
 */
export async function patch_embedding(
  images: TensorInput,
  weight: TensorInput,
  options: PatchEmbeddingOptions = {},
): Promise<Float> {
  const call = 'patch_embedding';
  checkOptions(call, options, ['bias', 'drop_remainder']);
  const { bias, drop_remainder } = options;
  const given = {
    images: floats(`${call}: images`, images),
    weight: floats(`${call}: weight`, weight),
    bias: bias === undefined || bias === null ? undefined : floats(`${call}: bias`, bias),
    drop_remainder: flagged(call, 'drop_remainder', drop_remainder),
  };
  return compute(call, given);
}

/**
 * Prepends the same tokens [..., features] to each sequence of x [batch, n, features]: [batch, tokens + n, features].
 */
export async function prepend_tokens(tokens: TensorInput, x: TensorInput): Promise<Float> {
  const given = { tokens: floats('prepend_tokens: tokens', tokens), x: floats('prepend_tokens: x', x) };
  return compute('prepend_tokens', given);
}

/** The numbers of patch rows and columns. */
export type Grid = readonly [rows: number, columns: number];

/**
 * Resizes a learned position table [(1,) tokens + rows · columns, features] to another grid, bicubically (Keys 1981,
 * a = -3/4) like transformers' ViT; the first rows, of tokens outside the grid, are unchanged.
 */
export async function interpolate_positions(table: TensorInput, grid: Grid, new_grid: Grid): Promise<Float> {
  const call = 'interpolate_positions';
  const [[rows, columns], [new_rows, new_columns]] = [given(grid), given(new_grid)];
  const all = sizes(call, { rows, columns, new_rows, new_columns }, 1);
  return compute(call, { table: floats(`${call}: table`, table), ...all });
}

/** A missing side becomes -1, which is rejected by name. */
function given(grid: Grid): Grid {
  return [grid?.[0] ?? -1, grid?.[1] ?? -1];
}
