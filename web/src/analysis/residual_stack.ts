// The residual stream as a stack of components, as by the methods of TransformerLens' ActivationCache. Stacks are
// [component, batch, pos, d_model]; a number as `pos` drops its axis, and a cache of one `row` has no axis of sequences.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { bmm } from '../primitives/functional.js';
import { ClearformerError, quoted } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import { exportedTensor } from '../tensor/exported_tensor.js';
import { stack as stacked } from '../tensor/operations.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall } from './check_call.js';
import { attentionScale, inLayer, stackPrefix } from './layer_hooks.js';
import { type Positions, placesOf, takePlaces } from './positions.js';
import { embeddingParts, hasInLayers, refusal, requireStream, requireSum } from './residual_parts.js';
import { type TokenChoice, tokenDirections } from './token_directions.js';

type Float = Tensor<'float32'>;

/** Components of the residual stream, with their names. */
export interface ResidualStack {
  labels: string[];
  /** [component, batch, pos, d_model] */
  components: Tensor<'float32'>;
}

/** Options of the functions that return a stack. */
export interface ResidualStackOptions {
  /** The stream before this layer; default: after the last. */
  layer?: number | undefined;
  /** Divide by the scale of the norm that reads the stream there, and for LayerNorm subtract the means. */
  apply_ln?: boolean | undefined;
  /** The positions, of those that the cache has; default: all. */
  pos?: Positions | undefined;
}

const stackOptions = ['layer', 'apply_ln', 'pos'];

/**
 * The stream before each layer (`0_pre`, …; with `incl_mid` also `0_mid`) up to `layer`; after the last it is
 * `final_post`. With `mlp_input` it ends with the input of that layer's feed-forward network, which is the stream before
 * the layer where both halves read that. After the last layer, `apply_ln` normalizes each stream by its own statistics
 * (the logit lens); before a layer, all by those of the last. Rejects with `invalid_argument` for a hook that the cache
 * does not have, `unsupported` for one that the model does not have.
 */
export async function accumulated_resid(
  model: PreTrainedModel,
  cache: ActivationCache,
  options: ResidualStackOptions & { incl_mid?: boolean | undefined; mlp_input?: boolean | undefined } = {},
): Promise<ResidualStack> {
  checkCall('accumulated_resid', model, options, [...stackOptions, 'incl_mid', 'mlp_input']);
  const { incl_mid = false, mlp_input = false } = options;
  const last = lastLayer('accumulated_resid', model, options);
  const parts: Part[] = [];
  for (let layer = 0; layer <= last; layer++) {
    if (layer === model.cfg.n_layers) {
      parts.push({ label: 'final_post', hook: inLayer(model, layer - 1, 'hook_resid_post') });
      continue;
    }
    parts.push({ label: `${layer}_pre`, hook: inLayer(model, layer, 'hook_resid_pre') });
    const middle = layer < last ? incl_mid && 'hook_resid_mid' : mlp_input && mlpInput(model).stream;
    if (middle) parts.push({ label: `${layer}_mid`, hook: inLayer(model, layer, middle) });
  }
  const of = { ...options, recompute: last === model.cfg.n_layers };
  return finished('accumulated_resid', model, cache, collected('accumulated_resid', model, cache, parts), of);
}

/**
 * What the embeddings, attention and feed-forward network of every layer before `layer` add to the stream: `embed`,
 * `pos_embed` (in one `embed`, if a norm follows them), `0_attn_out`, `0_mlp_out`, … `mode` leaves out one of the two.
 * With `mlp_input` also the attention of `layer`, if the network reads it. Rejects like `accumulated_resid`, with
 * `unsupported` for models with a norm behind their layers (BERT), whose stream is no such sum.
 */
export async function decompose_resid(
  model: PreTrainedModel,
  cache: ActivationCache,
  options: ResidualStackOptions & {
    mode?: 'all' | 'attn' | 'mlp' | undefined;
    mlp_input?: boolean | undefined;
    incl_embeds?: boolean | undefined;
  } = {},
): Promise<ResidualStack> {
  checkCall('decompose_resid', model, options, [...stackOptions, 'mode', 'mlp_input', 'incl_embeds']);
  const { mode = 'all', mlp_input = false, incl_embeds = true } = options;
  const known = ['all', 'attn', 'mlp'];
  expectArgument('decompose_resid', known.includes(mode), `a mode (${known.join(', ')})`, mode);
  const last = lastLayer('decompose_resid', model, options);
  requireStream('decompose_resid', model);
  const names = new Set<string>(model.hooks().map(({ name }) => name));
  const top = stackPrefix(model);
  const parts: Part[] = incl_embeds ? embeddingParts(names, top) : [];
  const more = mlp_input && mlpInput(model).stream !== undefined ? 1 : 0;
  for (let layer = 0; layer < last + more; layer++) {
    for (const leaf of ['attn_out', 'cross_attn_out', 'mlp_out']) {
      if (mode === 'mlp' ? leaf !== 'mlp_out' : mode === 'attn' && leaf === 'mlp_out') continue;
      const hook = inLayer(model, layer, `hook_${leaf}`);
      if (names.has(hook) && (layer < last || leaf !== 'mlp_out')) parts.push({ label: `${layer}_${leaf}`, hook });
    }
  }
  return finished('decompose_resid', model, cache, collected('decompose_resid', model, cache, parts), options);
}

/**
 * What each head of every layer before `layer` adds to the stream, z·W_O (times the scale of Granite's, DINOv2's
 * and DINOv3's layers), as `L0H0`, …, from the cache's `hook_z` and the weights with the adapters in force; biases belong to no head.
 * With `incl_remainder` also what all heads leave of the stream. Rejects like `accumulated_resid`, with `unsupported`
 * where a norm follows attention or the layer.
 */
export async function stack_head_results(
  model: PreTrainedModel,
  cache: ActivationCache,
  options: ResidualStackOptions & { incl_remainder?: boolean | undefined } = {},
): Promise<ResidualStack> {
  checkCall('stack_head_results', model, options, [...stackOptions, 'incl_remainder']);
  const last = lastLayer('stack_head_results', model, options);
  requireSum('stack_head_results', model);
  const labels: string[] = [];
  const results: Float[] = [];
  const names = new Set<string>(model.hooks().map(({ name }) => name));
  for (let layer = 0; layer < last; layer++) {
    if (!names.has(inLayer(model, layer, 'attn.hook_z'))) continue; // without heads
    const z = captured('stack_head_results', model, cache, inLayer(model, layer, 'attn.hook_z'));
    const [heads = 0, width = 0] = z.dims.slice(-2);
    const rows = z.view(-1, heads, width).permute(1, 0, 2);
    const weight = await model.parameter(inLayer(model, layer, 'attn.W_O'), { with_adapters: true });
    const product = await bmm(rows, weight);
    const added = product.mul(await attentionScale(model, layer));
    for (let head = 0; head < heads; head++) {
      labels.push(`L${layer}H${head}`);
      results.push(added.slice(head).view(...z.dims.slice(0, -2), -1));
    }
  }
  if (options.incl_remainder === true && last > 0) {
    const whole = captured('stack_head_results', model, cache, inLayer(model, last - 1, 'hook_resid_post'));
    labels.push('remainder');
    results.push(results.reduce((rest, result) => rest.sub(result), whole));
  }
  return finished('stack_head_results', model, cache, { labels, components: results }, options);
}

/**
 * What each component of a stack [component, batch, pos, d_model] (or without `pos`, for the same `pos` here) adds to
 * the logit of a token, or to its difference to `incorrect_tokens`: [component, batch, pos]. The norm's scale is held
 * fixed and its weight is part of the token's direction, as in a model with folded norms; biases are not counted.
 * For a stack of three axes, whose second may be the rows or the positions of one row, a list of one token stands for all.
 * Rejects with `unsupported` where logits are no sum of shares, `shape_mismatch` for a stack of other dims than the cache.
 */
export async function logit_attrs(
  model: PreTrainedModel,
  cache: ActivationCache,
  residual_stack: Tensor<'float32'> | ResidualStack,
  tokens: TokenChoice,
  options: { incorrect_tokens?: TokenChoice | undefined; pos?: Positions | undefined } = {},
): Promise<Tensor<'float32'>> {
  checkCall('logit_attrs', model, options, ['incorrect_tokens', 'pos']);
  const given = (residual_stack as Partial<ResidualStack> | null)?.components ?? residual_stack;
  const stack = exportedTensor('logit_attrs', given) as Float;
  const choice = { right: tokens, wrong: options.incorrect_tokens };
  const scaled = normalized('logit_attrs', model, cache, stack, { pos: options.pos });
  // The second axis of three may be the positions of one sequence: one token is for all of it.
  const several = Object.values(choice).flat().length > 2;
  const batch = stack.dims.length > (several ? 2 : 3) ? (stack.dims[1] as number) : 1;
  const { directions } = await tokenDirections('logit_attrs', model, batch, choice, undefined);
  const width = scaled.dims.at(-1) ?? 1;
  const perRow = scaled.size / ((scaled.dims[0] as number) * batch || 1);
  const out = new Float32Array(scaled.size / width);
  out.forEach((_, at) => {
    const row = Math.floor((at * width) / perRow) % batch;
    let sum = 0;
    for (let i = 0; i < width; i++) {
      sum += (scaled.data[at * width + i] as number) * (directions.data[row * width + i] as number);
    }
    out[at] = sum;
  });
  return new Tensor('float32', out, scaled.dims.slice(0, -1));
}

interface Part {
  label: string;
  hook: string;
}

/** `recompute`: the statistics of the norm are each component's own, not the cache's of the whole stream. */
type NormOptions = ResidualStackOptions & { mlp_input?: boolean | undefined; recompute?: boolean | undefined };

interface Collected {
  labels: string[];
  components: Float[];
}

function lastLayer(call: string, { cfg }: PreTrainedModel, { layer }: ResidualStackOptions): number {
  const last = layer === undefined || layer === -1 ? cfg.n_layers : layer;
  if (Number.isInteger(last) && last >= 0 && last <= cfg.n_layers) return last;
  throw new ClearformerError('invalid_argument', `${call}: there is no layer ${quoted(layer)} of ${cfg.n_layers}`);
}

/** What a feed-forward network reads: the stream behind the layer's attention, if there is one, and its norm. */
function mlpInput(model: PreTrainedModel): { stream: string | undefined; norm: string } {
  const stream = ['hook_resid_mid_cross', 'hook_resid_mid'].find((leaf) => hasInLayers(model, leaf));
  const norm = ['ln3', 'ln2'].find((leaf) => hasInLayers(model, `${leaf}.hook_scale`));
  return { stream, norm: norm ?? 'ln1' };
}

function captured(call: string, model: PreTrainedModel, cache: ActivationCache, hook: string): Float {
  const value = (cache as Readonly<Record<string, Float>> | undefined)?.[hook];
  if (value !== undefined) return exportedTensor(call, value) as Float;
  if (!model.hooks().some(({ name }) => name === hook)) throw refusal(call, model, `it has no ${hook}`);
  throw new ClearformerError('invalid_argument', `${call}: the cache has no ${hook}; capture it with names_filter`);
}

function collected(call: string, model: PreTrainedModel, cache: ActivationCache, parts: readonly Part[]): Collected {
  const values = parts.map(({ hook }) => captured(call, model, cache, hook));
  // Position embeddings may have one row for all sequences.
  const none: Pick<Float, 'size' | 'dims'> = { size: 0, dims: [] };
  const { size, dims } = values.reduce((most, value) => (value.size > most.size ? value : most), none);
  const components = values.map((value) =>
    value.dims[0] === dims[0] ? value : new Tensor('float32', new Float32Array(size), dims).add(value),
  );
  return { labels: parts.map(({ label }) => label), components };
}

function finished(
  call: string,
  model: PreTrainedModel,
  cache: ActivationCache,
  { labels, components }: Collected,
  options: NormOptions,
): ResidualStack {
  const { pos } = options;
  const taken = components.map((value) => atPositions(call, value, pos));
  if (taken.length === 0) {
    throw new ClearformerError('invalid_argument', `${call}: there are no components before this layer`);
  }
  const all = stacked(taken, 0) as Float;
  return { labels, components: options.apply_ln === true ? normalized(call, model, cache, all, options) : all };
}

/** [batch, pos, features] or [pos, features] at some positions; a number drops the axis. */
function atPositions(call: string, value: Float, pos: Positions | undefined): Float {
  if (pos === undefined) return value;
  const [length = 0, width = 0] = value.dims.length > 1 ? value.dims.slice(-2) : [0];
  const places = placesOf(call, pos, length);
  const kept = typeof pos === 'number' ? [] : [places.length];
  return takePlaces(value.view(-1, length, width), places).view(...value.dims.slice(0, -2), ...kept, width);
}

/** A stack as the norm at its layer would pass it on, before its weight and bias. */
function normalized(
  call: string,
  model: PreTrainedModel,
  cache: ActivationCache,
  all: Float,
  options: NormOptions,
): Float {
  const last = lastLayer(call, model, options);
  const top = stackPrefix(model);
  requireStream(call, model);
  const norm = options.mlp_input === true ? mlpInput(model).norm : 'ln1';
  const hook = last === model.cfg.n_layers ? `${top}ln_final.hook_scale` : inLayer(model, last, `${norm}.hook_scale`);
  const scale = atPositions(call, captured(call, model, cache, hook), options.pos);
  const expected = [...all.dims.slice(0, 1), ...scale.dims.slice(0, -1), model.cfg.d_model];
  if (String(all.dims) !== String(expected)) {
    const [given, wanted] = [all.dims, expected].map((dims) => `[${dims.join(', ')}]`);
    throw new ClearformerError(
      'shape_mismatch',
      `${call}: the stack is ${given}, by the cache's ${hook} it is ${wanted}`,
    );
  }
  const centred = model.cfg.normalization_type === 'LN' ? all.sub(all.mean(-1, true)) : all;
  if (!options.recompute) return centred.div(scale);
  const eps = Number(model.cfg.eps);
  return centred.div((centred.mul(centred).mean(-1, true) as Float).map((square) => Math.sqrt(square + eps)));
}
