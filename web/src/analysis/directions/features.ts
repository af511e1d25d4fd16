// The features that probes and control vectors read: a part of an activation at one position of each sequence, which the
// core selects, so that nothing else is copied.

import { posAxis } from '../../models/edits.js';
import { forwardIn, type ModelInputs, rowsOf } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { type HookName, ourName } from '../../runtime/hook_names.js';
import { ClearformerError } from '../../support/error.js';
import { Tensor } from '../../tensor/tensor.js';
import { expectModel, invalid } from '../check_call.js';
import { maskAt } from '../positions.js';

/** Rows of numbers: the features of one sequence each. */
export interface FeatureRows {
  rows: Float64Array;
  count: number;
  width: number;
}

/** What is read at the hooks. */
export interface Reading {
  hooks: readonly string[];
  /** Negative positions count from the end, without padding behind the text. */
  pos: number;
  head?: number | undefined;
  signal?: AbortSignal | undefined;
  progress?: ((progress: { done: number; total: number }) => void) | undefined;
}

/** How well a probe does. */
export interface ProbeScore {
  /** The mean log loss, or the mean of the squared errors. */
  loss: number;
  /** The share of right classes; of `ridge` the share of the variance that is explained (R²). */
  score: number;
}

/** Inputs as a text, with the model's tokenizer, or as they are. */
export type ProbedInput = string | ModelInputs;

/** The features at each hook, of all rows of the inputs in order. Rejects as `run_with_cache` does. */
export async function featuresAt(
  call: string,
  model: PreTrainedModel,
  inputs: readonly ProbedInput[],
  { hooks, pos, head, signal, progress }: Reading,
): Promise<Map<string, FeatureRows>> {
  expectModel(call, model);
  if (!Array.isArray(inputs) || inputs.length === 0) {
    throw invalid(call, 'needs a list of texts or inputs', 'inputs');
  }
  const names_filter = hooks as readonly HookName[];
  const found = new Map(hooks.map((hook) => [hook, [] as Tensor<'float32'>[]]));
  const axesOf = new Map(model.hooks({ on_request: true }).map(({ name, axes }) => [name as string, axes]));
  for (const [done, one] of inputs.entries()) {
    const given = typeof one === 'string' ? await tokenized(call, model, one) : one;
    const tensors = forwardIn(call, given ?? (null as never), model.open().engine);
    const placed = names_filter.map((hook) => {
      const axes = axesOf.get(ourName(hook)) ?? [];
      const mask = tensors.past_key_values === undefined ? maskAt(hook, axes[posAxis(axes)], tensors) : undefined;
      const places = mask ? rowsOf(mask).map((row, at) => placeIn(call, pos, row, at)) : [pos];
      return { hook, axes, places, selected: [...new Set(places)] };
    });
    const select = placed.map(({ hook, selected }) => {
      return { hook, pos: selected, ...(head !== undefined && { head: [head] }) };
    });
    const [, cache] = await model.run_with_cache(given, { names_filter, select, signal });
    for (const { hook, axes, places, selected } of placed) {
      if (axes[0] !== 'batch') throw invalid(call, `${hook} has no axis of sequences`, 'hook');
      const all = cache[hook] as Tensor<'float32'>;
      for (let row = 0; row < (all.dims[0] as number); row++) {
        const at = selected.indexOf((places[row] ?? places[0]) as number);
        const part = axes.map((_, axis) => (axis === 0 ? row : axis === posAxis(axes) ? at : null));
        found.get(hook)?.push(all.slice(...part) as Tensor<'float32'>);
      }
    }
    progress?.({ done: done + 1, total: inputs.length });
  }
  return new Map([...found].map(([hook, parts]) => [hook, joined(call, hook, parts)]));
}

async function tokenized(call: string, model: PreTrainedModel, text: string): Promise<ModelInputs> {
  const tokenizer = await model.ownTokenizer();
  if (tokenizer !== undefined) return tokenizer(text);
  throw new ClearformerError('unsupported', `${call}: there is no tokenizer in the model's folder: give inputs`);
}

/** A position of a row between its padding, from the first; negative ones count from the last. */
function placeIn(call: string, pos: number, counted: readonly number[], row: number): number {
  const last = counted.lastIndexOf(1);
  const at = pos < 0 ? last + 1 + pos : pos;
  if (last >= 0 && at >= counted.indexOf(1) && at <= last) return at;
  throw invalid(call, `position ${pos} of row ${row} is padding or none`, 'pos');
}

function joined(call: string, hook: string, parts: readonly Tensor<'float32'>[]): FeatureRows {
  const width = parts[0]?.size ?? 0;
  const other = parts.find(({ size }) => size !== width);
  if (other !== undefined || width === 0) {
    const problem = `${call}: ${hook} has ${width} features of one sequence and ${other?.size ?? 0} of another`;
    throw new ClearformerError('shape_mismatch', problem, { option: 'hook' });
  }
  const rows = new Float64Array(parts.length * width);
  for (const [row, { data }] of parts.entries()) rows.set(data, row * width);
  return { rows, count: parts.length, width };
}

/** Numbers as a tensor of float32. */
export function vector(data: ArrayLike<number>, dims: readonly number[] = [data.length]): Tensor<'float32'> {
  return new Tensor('float32', Float32Array.from(data), [...dims]);
}
