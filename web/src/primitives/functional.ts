// The operations of the blocks as functions of tensors, under their names in torch. Each runs in the core that all
// functions share, in this thread, and resolves to a new Tensor.

import type { EmptyRow } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { finite, whole } from './arguments.js';
import { type Mask, termsOf } from './mask.js';
import { normalizedAxes } from './normalized_axes.js';
import { compute } from './shared_core.js';

type Float = Tensor<'float32'>;

/** softmax(x)ᵢ = exp(xᵢ - max x) / Σⱼ exp(xⱼ - max x) along `dim` (negative counts from the end). Dims stay. */
export async function softmax(input: TensorInput, dim = -1): Promise<Float> {
  const axis = whole('softmax', 'dim', dim, -8);
  return compute('softmax', { x: floats('softmax: input', input), axis });
}

/** Options of `masked_softmax`. */
export interface MaskedSoftmaxOptions {
  /** A row with nothing left: zeros (default), or equal weights as in d2l.ai. */
  empty_row?: EmptyRow | undefined;
}

/**
 * softmax(x + mask) over the last axis of scores [batch, query, key] or [batch, head, query, key]. Dims stay.
 * Rejects with `shape_mismatch` for other ranks and for a mask that does not broadcast to the scores.
 */
export async function masked_softmax(
  input: TensorInput,
  mask?: Mask | null,
  options: MaskedSoftmaxOptions = {},
): Promise<Float> {
  checkOptions('masked_softmax', options, ['empty_row']);
  const x = floats('masked_softmax: input', input);
  return compute('masked_softmax', { x, mask: [...termsOf('masked_softmax: mask', mask)], ...options });
}

/** x [..., n, k] times a matrix y [k, m]: [..., n, m]. */
export async function matmul(input: TensorInput, other: TensorInput): Promise<Float> {
  return compute('matmul', { x: floats('matmul: input', input), y: floats('matmul: other', other) });
}

/** Batch matrix product: [batch, n, k] times [batch, k, m] is [batch, n, m]. */
export async function bmm(input: TensorInput, mat2: TensorInput): Promise<Float> {
  return compute('bmm', { x: floats('bmm: input', input), y: floats('bmm: mat2', mat2) });
}

/** Options of `layer_norm`; weight and bias have the dims of `normalized_shape`. */
export interface LayerNormOptions {
  weight?: TensorInput | null | undefined;
  bias?: TensorInput | null | undefined;
  /** Default 1e-5. */
  eps?: number | undefined;
}

/**
 * y = (x - mean x) / √(var x + eps) · weight + bias over the last axes, which are `normalized_shape` (Ba et al. 2016,
 * arXiv 1607.06450). Dims stay. Rejects with `shape_mismatch` where they are not, or weight and bias differ from them.
 */
export async function layer_norm(
  input: TensorInput,
  normalized_shape: number | readonly number[],
  options: LayerNormOptions = {},
): Promise<Float> {
  checkOptions('layer_norm', options, ['weight', 'bias', 'eps']);
  return compute('layer_norm', normArguments('layer_norm', input, normalized_shape, options, 1e-5));
}

/** Options of `rms_norm`; the weight has the dims of `normalized_shape`. */
export interface RMSNormOptions {
  weight?: TensorInput | null | undefined;
  /** Default 2⁻²³, the epsilon of float32, as in torch. */
  eps?: number | null | undefined;
}

/** y = x / √(mean x² + eps) · weight over the last axes, which are `normalized_shape` (Zhang & Sennrich 2019, arXiv 1910.07467). */
export async function rms_norm(
  input: TensorInput,
  normalized_shape: number | readonly number[],
  options: RMSNormOptions = {},
): Promise<Float> {
  checkOptions('rms_norm', options, ['weight', 'eps']);
  return compute('rms_norm', normArguments('rms_norm', input, normalized_shape, options, 2 ** -23));
}

function normArguments(
  call: string,
  input: TensorInput,
  normalized_shape: number | readonly number[],
  options: LayerNormOptions | RMSNormOptions,
  defaultEps: number,
) {
  const x = floats(`${call}: input`, input);
  const axes = normalizedAxes(call, x.dims, normalized_shape);
  const affine = (name: 'weight' | 'bias') => {
    const given = (options as LayerNormOptions)[name];
    if (given === undefined || given === null) return undefined;
    const tensor = floats(`${call}: ${name}`, given);
    if (tensor.dims.length === axes) normalizedAxes(`${call}: ${name}`, tensor.dims, normalized_shape);
    else
      throw new ClearformerError('shape_mismatch', `${call}: ${name} of dims [${tensor.dims}] must have ${axes} axes`);
    return tensor;
  };
  const eps = finite(call, 'eps', options.eps ?? defaultEps);
  return { x, axes, weight: affine('weight'), bias: affine('bias'), eps };
}

function elementwise(name: string, kind = name): (input: TensorInput) => Promise<Float> {
  return async (input) => compute('activation', { x: floats(`${name}: input`, input), kind });
}

/** max(x, 0). Dims stay. */
export const relu: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('relu');
/** x · sigmoid(x). Dims stay. */
export const silu: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('silu');
/** tanh(x). Dims stay. */
export const tanh: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('tanh');

const geluKinds = { none: elementwise('gelu'), tanh: elementwise('gelu', 'gelu_pytorch_tanh') };

/** Options of `gelu`. */
export interface GeluOptions {
  /** `none` (default): the formula with erf; `tanh`: its approximation. */
  approximate?: 'none' | 'tanh' | undefined;
}

/**
 * x · Φ(x) = x/2 · (1 + erf(x/√2)), or x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) (Hendrycks & Gimpel 2016, arXiv
 * 1606.08415). Dims stay.
 */
export async function gelu(input: TensorInput, options: GeluOptions = {}): Promise<Float> {
  checkOptions('gelu', options, ['approximate']);
  const { approximate = 'none' } = options;
  if (Object.hasOwn(geluKinds, approximate)) return geluKinds[approximate](input);
  throw new ClearformerError('unsupported', `gelu: approximate is '${textOf(approximate)}' (known: none, tanh)`);
}
