// Mean activations over a data set, for mean ablation: what replaces an activation is its mean over inputs that the
// experiment does not distinguish, instead of zero, which the model never met.
// Source: Wang et al. 2022, "Interpretability in the Wild", arXiv 2211.00593, section 3.1.

import { type ActivationEdit, type EditIndices, type EditSelection, posAxis, selections } from '../models/edits.js';
import { type NamesFilter, resolveCaptured, resolveHooks } from '../models/hooks.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookPoint } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions, expectKnown } from '../support/options.js';
import { type ActivationCache, toCache } from '../tensor/activation_cache.js';
import { elementCount } from '../tensor/elements.js';
import { integerMatrix } from '../tensor/integer_input.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall, invalid } from './check_call.js';
import { maskAt } from './positions.js';
import type { SweepProgress } from './sweep/sweep.js';

const call = 'meanActivations';

/** Options of meanActivations. */
export interface MeanActivationsOptions {
  /**
   * A mean for each feature over all sequences and positions (default), or for each position as well, over sequences of
   * the same length. Of scores and patterns, positions are those of the queries, and there is a mean for each key.
   */
  by?: 'feature' | 'position' | undefined;
  /** An abort signal: the call rejects with its reason, once the current layer is computed. */
  signal?: AbortSignal | undefined;
  /** Called after every pass. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** Mean activations, and the edits that put them in the place of a pass's own. */
export interface ActivationMeans {
  /** By hook name, in the dims of the hook with an extent of 1 for the batch and, unless by position, for positions. */
  readonly means: ActivationCache;
  /** Edits for all of these hooks, or for those that `hook` selects, of all or of a part of the activation. */
  edits(selection?: EditSelection & { hook?: NamesFilter | undefined }): ActivationEdit[];
}

interface Sums {
  dims: number[];
  totals: Float64Array;
  counts: Float64Array;
}

/**
 * Runs the model once on each of the inputs and averages the activations at `hooks`, without padding (positions where
 * the attention mask is 0). Only the sums are kept, in float64. Rejects with `invalid_argument` for no inputs, an
 * unknown hook and a position that all sequences pad, `shape_mismatch` for activations that do not fit together (by
 * position and for patterns: sequences of different lengths), and as `run_with_cache` does.
 */
export async function meanActivations(
  model: PreTrainedModel,
  inputs: readonly ModelInputs[],
  hooks: NamesFilter,
  options: MeanActivationsOptions = {},
): Promise<ActivationMeans> {
  checkCall(call, model, options, ['by', 'signal', 'progress']);
  const { by = 'feature', signal, progress } = options;
  expectKnown(call, 'by', by, ['feature', 'position']);
  if (!Array.isArray(inputs) || inputs.length === 0) {
    throw invalid(call, 'needs an array of inputs', 'inputs');
  }
  const points = resolveHooks('hooks', model.hooks({ on_request: true }), hooks);
  const names_filter = points.map(({ name }) => name);
  const sums = new Map<string, Sums>();
  for (const [done, one] of (inputs as ModelInputs[]).entries()) {
    const [, cache] = await model.run_with_cache(one, { names_filter, signal });
    for (const point of points) {
      sums.set(point.name, added(sums.get(point.name), point, cache[point.name] as Tensor<'float32'>, by, one));
    }
    progress?.({ done: done + 1, total: inputs.length });
  }
  const means = Object.fromEntries([...sums].map(([name, sum]) => [name, meanOf(name, sum)]));
  return { means: toCache(means), edits: (selection) => editsOf(means, points, selection) };
}

/** The sums with the activations of another pass. */
function added(
  sums: Sums | undefined,
  { name, axes }: HookPoint,
  { data, dims }: Tensor<'float32'>,
  by: string,
  inputs: ModelInputs,
): Sums {
  const position = posAxis(axes);
  const reduced = [axes.indexOf('batch'), ...(by === 'feature' ? [position] : [])];
  const kept = dims.map((extent, axis) => (reduced.includes(axis) ? 1 : extent));
  const count = elementCount(kept);
  const into = sums ?? { dims: kept, totals: new Float64Array(count), counts: new Float64Array(count) };
  if (String(into.dims) !== String(kept)) {
    const [first, other] = [into.dims, kept].map((extents) => `[${extents.join(', ')}]`);
    throw new ClearformerError('shape_mismatch', `${call}: means of ${name} are ${first} and ${other} of other inputs`);
  }
  const counted = maskOf(name, axes[position], inputs, dims[position]);
  const width = dims.at(-1) ?? 1; // batch and positions are never the last axis
  const at = dims.map(() => 0);
  for (let first = 0; first < data.length; first += width) {
    if (counted(at[0] as number, at[position] as number)) {
      const place = kept.reduce((sum, extent, axis) => sum * extent + (extent === 1 ? 0 : (at[axis] as number)), 0);
      for (let i = 0; i < width; i++) {
        into.totals[place + i] = (into.totals[place + i] as number) + (data[first + i] as number);
        into.counts[place + i] = (into.counts[place + i] as number) + 1;
      }
    }
    advance(at, dims);
  }
  return into;
}

/** The coordinates of the next vector of the last axis. */
function advance(at: number[], dims: readonly number[]): void {
  for (let axis = dims.length - 2; axis >= 0; axis--) {
    at[axis] = (at[axis] as number) + 1;
    if ((at[axis] as number) < (dims[axis] as number)) return;
    at[axis] = 0;
  }
}

/** Whether a position of a row is a token rather than padding. */
function maskOf(name: string, axis: string | undefined, inputs: ModelInputs, extent: number | undefined) {
  const mask = maskAt(name, axis, inputs);
  if (mask === undefined) return () => true;
  const { data, dims } = integerMatrix(`${call}: attention_mask`, mask);
  const [, columns = 0] = dims;
  const first = columns - (extent as number); // behind the positions of a cache
  if (first < 0 || (first > 0 && !inputs.past_key_values)) return () => true; // of a tower that reads no mask
  return (row: number, position: number) => Number(data[row * columns + first + position]) !== 0;
}

function meanOf(name: string, { dims, totals, counts }: Sums) {
  const empty = counts.indexOf(0);
  if (empty < 0)
    return { type: 'float32' as const, data: Float32Array.from(totals, (sum, i) => sum / (counts[i] as number)), dims };
  throw new ClearformerError('invalid_argument', `${call}: ${name} has a position that is padding in all inputs`);
}

type Means = Record<string, { data: Float32Array; dims: number[] }>;

function editsOf(
  means: Means,
  points: readonly HookPoint[],
  selected: EditSelection & { hook?: NamesFilter | undefined } = {},
): ActivationEdit[] {
  checkOptions(`${call}: edits`, selected, ['hook', ...selections.map(([name]) => name)]);
  const { hook, ...selection } = selected;
  return resolveCaptured('hook', points, hook).map(({ name, axes }) => {
    const { data, dims } = means[name] as Means[string];
    let value = new Tensor('float32', data, dims);
    // From the last axis on, since a number drops its axis.
    for (const [option, , axisIn] of [...selections].sort((a, b) => b[2](axes) - a[2](axes))) {
      const given = selection[option];
      if (given !== undefined) value = taken(value, axisIn(axes), given, `${call}: edits: ${option}`, name);
    }
    return { ...selection, hook: name, op: 'mean', value };
  });
}

/** The part of a mean at these indices of an axis; an extent of 1 is broadcast. */
function taken(value: Tensor<'float32'>, axis: number, given: EditIndices, what: string, name: string) {
  const extent = value.dims[axis];
  const before = value.dims.slice(0, axis).map(() => null);
  if (extent === undefined || axis < 0) {
    throw invalid(what, `${name} has no such axis`, 'edits');
  }
  const at = (index: number) => {
    const place = extent === 1 ? 0 : index < 0 ? index + extent : index;
    if (Number.isInteger(index) && place >= 0 && place < extent) return place;
    throw new ClearformerError('invalid_argument', `${what} ${textOf(index)} of ${extent} at ${name}`, {
      option: 'edits',
    });
  };
  if (typeof given === 'number') return value.slice(...before, at(given));
  if (!Array.isArray(given)) {
    throw invalid(what, `${textOf(given)} is no index, nor a list`, 'edits');
  }
  if (extent === 1) return value;
  const step = elementCount(value.dims.slice(axis + 1));
  const dims = value.dims.map((size, of) => (of === axis ? given.length : size));
  const data = new Float32Array(elementCount(dims));
  const places = given.map(at);
  for (let outer = 0, to = 0; to < data.length; outer++) {
    for (const place of places) {
      const from = (outer * extent + place) * step;
      data.set(value.data.subarray(from, from + step), to);
      to += step;
    }
  }
  return new Tensor('float32', data, dims);
}
