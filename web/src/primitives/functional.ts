// Functions of tensors with torch's names. Each runs in the core shared by all functions, in this thread, and resolves
// to a new Tensor.

import type { EmptyRow } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { checkOptions, expectKnown } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import { finite, whole } from './arguments.js';
import { type Mask, termsOf } from './mask.js';
import { normalizedAxes } from './normalized_axes.js';
import { compute, run } from './shared_core.js';

type Float = Tensor<'float32'>;

/**
 * softmax(x)ᵢ = exp(xᵢ - max x) / Σⱼ exp(xⱼ - max x) along `dim` (negative counts from the end). Keeps dims. For a
 * plain Float32Array, such as `logits.data`, it is synchronous and returns one, as in transformers.js.
 */
export function softmax(input: Float32Array): Float32Array;
export function softmax(input: TensorInput, dim?: number): Promise<Tensor<'float32'>>;
export function softmax(input: TensorInput | Float32Array, dim = -1): Promise<Float> | Float32Array {
  if (isA(input, 'Float32Array')) return hidden(input) ? new Float32Array(input.length) : vector(input).softmax().data;
  return along('softmax', input, dim);
}

/**
 * ln softmax(x) along `dim`, as xᵢ - max x - ln Σⱼ exp(xⱼ - max x): neither overflows nor loses small weights. Keeps
 * dims. A row of -Infinity throughout is unchanged, as softmax gives zeros for it. For a plain Float32Array it is
 * synchronous, as in transformers.js.
 */
export function log_softmax(input: Float32Array): Float32Array;
export function log_softmax(input: TensorInput, dim?: number): Promise<Tensor<'float32'>>;
export function log_softmax(input: TensorInput | Float32Array, dim = -1): Promise<Float> | Float32Array {
  if (!isA(input, 'Float32Array')) return along('log_softmax', input, dim);
  if (hidden(input)) return new Float32Array(input.length).fill(Number.NEGATIVE_INFINITY);
  const own = vector(input);
  const below = own.sub(own.max());
  return below.sub(Math.log(Number(below.map(Math.exp).sum().item()))).data;
}

/** Whether all scores are those that a mask hides, or there are none. */
const hidden = (scores: Float32Array) =>
  scores.length === 0 || scores.every((score) => score === Number.NEGATIVE_INFINITY);
const vector = (data: Float32Array): Float => new Tensor('float32', data, [data.length]);

async function along(call: 'softmax' | 'log_softmax', input: TensorInput, dim: number): Promise<Float> {
  return compute(call, alongAxis(call, input, dim));
}

function alongAxis(call: string, input: TensorInput, dim: number) {
  return { x: floats(`${call}: input`, input), axis: whole(call, 'dim', dim, -8) };
}

/** Options of `masked_softmax`. */
export interface MaskedSoftmaxOptions {
  /** A fully masked row: zeros (default), or equal weights as in d2l.ai. */
  empty_row?: EmptyRow | undefined;
}

/**
 * softmax(x + mask) over the last axis of scores [batch, query, key] or [batch, head, query, key]. Keeps dims.
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

/** Product of x [..., n, k] and a matrix y [k, m]: [..., n, m]. */
export async function matmul(input: TensorInput, other: TensorInput): Promise<Float> {
  return compute('matmul', { x: floats('matmul: input', input), y: floats('matmul: other', other) });
}

/**
 * The singular value decomposition U·diag(S)·Vh of a matrix [m, n], or of the product of two, which is not formed: U
 * [m, k], S [k] descending, Vh [k, n], where k is the least of the sizes. By Jacobi's method in double precision;
 * unlike in torch, vectors of singular values that are 0 may be zeros.
 */
export async function svd(input: TensorInput, other?: TensorInput): Promise<Record<'U' | 'S' | 'Vh', Float>> {
  const y = other === undefined ? {} : { y: floats('svd: other', other) };
  const { u, s, vh } = await run('svd', { x: floats('svd: input', input), ...y });
  return { U: toTensor(u), S: toTensor(s), Vh: toTensor(vh) };
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
 * y = (x - mean x) / √(var x + eps) · weight + bias over the last axes, `normalized_shape` (Ba et al. 2016,
 * arXiv 1607.06450). Keeps dims. Rejects with `shape_mismatch` if the last axes, weight or bias have other dims.
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

/**
 * y = x / √(mean x² + eps) · weight over the last axes, `normalized_shape` (Zhang & Sennrich 2019, arXiv 1910.07467).
 */
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

/** max(x, 0). Keeps dims. */
export const relu: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('relu');
/** x · sigmoid(x). Keeps dims. */
export const silu: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('silu');
/** tanh(x). Keeps dims. */
export const tanh: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('tanh');

/** 1 / (1 + exp(-x)). Keeps dims. */
export const sigmoid: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('sigmoid');
/** erf(x) = 2/√π ∫₀ˣ exp(-t²) dt. Keeps dims. */
export const erf: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('erf');
/** x · sigmoid(1.702 x), CLIP's approximation of GELU. Keeps dims. */
export const quick_gelu: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('quick_gelu');
/** max(x, 0)² (So et al. 2021, arXiv 2109.08668). Keeps dims. */
export const relu2: (input: TensorInput) => Promise<Tensor<'float32'>> = elementwise('relu2');

/** Options of `softplus`. */
export interface SoftplusOptions {
  /** Default 1. */
  beta?: number | undefined;
  /** Above this value of beta · x the result is x. Default 20. */
  threshold?: number | undefined;
}

/** ln(1 + exp(beta · x)) / beta. Keeps dims. */
export async function softplus(input: TensorInput, options: SoftplusOptions = {}): Promise<Float> {
  checkOptions('softplus', options, ['beta', 'threshold']);
  const beta = finite('softplus', 'beta', options.beta ?? 1);
  const threshold = finite('softplus', 'threshold', options.threshold ?? 20);
  return compute('softplus', { x: floats('softplus: input', input), beta, threshold });
}

const geluKinds = { none: 'gelu', tanh: 'gelu_pytorch_tanh' };

/** Options of `gelu`. */
export interface GeluOptions {
  /** `none` (default): the exact form with erf; `tanh`: its approximation. */
  approximate?: 'none' | 'tanh' | undefined;
}

/**
 * x · Φ(x) = x/2 · (1 + erf(x/√2)), or x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) (Hendrycks & Gimpel 2016, arXiv
 * 1606.08415). Keeps dims.
 */
export async function gelu(input: TensorInput, options: GeluOptions = {}): Promise<Float> {
  return elementwise('gelu', geluKind('gelu', options))(input);
}

function geluKind(call: string, options: GeluOptions): string {
  checkOptions(call, options, ['approximate']);
  const { approximate = 'none' } = options;
  expectKnown(call, 'approximate', approximate, Object.keys(geluKinds));
  return geluKinds[approximate];
}

function gatedUnit(call: string, kind: string, input: TensorInput, dim: number): Promise<Float> {
  return compute('gated', { ...alongAxis(call, input, dim), kind });
}

/**
 * a · sigmoid(b), a and b the halves of x along `dim` (negative counts from the end), like
 * torch.nn.functional.glu (Dauphin et al. 2016, arXiv 1612.08083). Rejects with `shape_mismatch` if the size of `dim`
 * is odd.
 */
export async function glu(input: TensorInput, dim = -1): Promise<Float> {
  return gatedUnit('glu', 'sigmoid', input, dim);
}

/** a · relu(b), halves as in `glu` (Shazeer 2020, arXiv 2002.05202). */
export async function reglu(input: TensorInput, dim = -1): Promise<Float> {
  return gatedUnit('reglu', 'relu', input, dim);
}

/** a · silu(b), halves as in `glu` (Shazeer 2020, arXiv 2002.05202). */
export async function swiglu(input: TensorInput, dim = -1): Promise<Float> {
  return gatedUnit('swiglu', 'silu', input, dim);
}

/** a · gelu(b), halves as in `glu` (Shazeer 2020, arXiv 2002.05202). */
export async function geglu(input: TensorInput, dim = -1, options: GeluOptions = {}): Promise<Float> {
  return gatedUnit('geglu', geluKind('geglu', options), input, dim);
}

/** Options of `conv1d`. */
export interface Conv1dOptions {
  /** [out]. */
  bias?: TensorInput | null | undefined;
  /** Frames between two outputs. Default 1. */
  stride?: number | undefined;
  /** Zeros at both ends, default 0; `same`: keeps the length (stride 1); `valid`: none. */
  padding?: number | 'same' | 'valid' | undefined;
  /** Frames between two taps. Default 1. */
  dilation?: number | undefined;
  /** Number of independent groups of channels. Default 1. */
  groups?: number | undefined;
}

/**
 * y(o, t) = bias(o) + Σ W(o, c, j) · x(c, t · stride + j · dilation - padding), like torch.nn.functional.conv1d. input
 * [batch, in, n] or [in, n], weight [out, in / groups, taps] -> [batch, out, m] or [out, m]. Rejects with
 * `shape_mismatch` for shapes that do not fit.
 */
export async function conv1d(input: TensorInput, weight: TensorInput, options: Conv1dOptions = {}): Promise<Float> {
  const call = 'conv1d';
  checkOptions(call, options, ['bias', 'stride', 'padding', 'dilation', 'groups']);
  const { bias, padding = 0 } = options;
  const of = (name: 'stride' | 'dilation' | 'groups') => whole(call, name, options[name] ?? 1, 1);
  const [stride, dilation, groups] = [of('stride'), of('dilation'), of('groups')];
  const w = floats(`${call}: weight`, weight);
  if (padding === 'same' && stride !== 1) {
    throw new ClearformerError('invalid_argument', `${call}: padding 'same' needs stride 1, it is ${stride}`);
  }
  // As in torch, an odd number of zeros has the extra one at the end.
  const both = padding === 'same' ? dilation * Math.max((w.dims[2] ?? 1) - 1, 0) : 0;
  const given = padding === 'same' || padding === 'valid' ? 0 : whole(call, 'padding', padding, 0);
  return compute(call, {
    x: floats(`${call}: input`, input),
    weight: w,
    bias: bias === undefined || bias === null ? undefined : floats(`${call}: bias`, bias),
    stride,
    dilation,
    groups,
    padding: given + (both >> 1),
    padding_behind: given + both - (both >> 1),
  });
}
