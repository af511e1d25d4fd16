// The features that probes and control vectors read: a part of an activation at one position of each sequence, which the
// core selects, so that nothing else is copied.

import { posAxis } from '../../models/edits.js';
import { forwardIn, type ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { RunInputs, TensorIn } from '../../runtime/border.js';
import type { HookName } from '../../runtime/hook_names.js';
import { ClearformerError } from '../../support/error.js';
import { Tensor } from '../../tensor/tensor.js';
import { expectModel } from '../check_call.js';
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
    throw new ClearformerError('invalid_argument', `${call}: needs a list of texts or inputs`, { option: 'inputs' });
  }
  const names_filter = hooks as readonly HookName[];
  const found = new Map(hooks.map((hook) => [hook, [] as Tensor<'float32'>[]]));
  const axesOf = new Map(model.hooks({ on_request: true }).map(({ name, axes }) => [name as string, axes]));
  const axisOf = (hook: string) => axesOf.get(hook)?.[posAxis(axesOf.get(hook) ?? [])];
  for (const [done, one] of inputs.entries()) {
    const given = typeof one === 'string' ? await tokenized(call, model, one) : one;
    const tensors = forwardIn(call, given ?? (null as never), model.open().engine);
    for (const row of rowsOf(tensors)) {
      const select = names_filter.map((hook) => {
        const mask = tensors.past_key_values === undefined ? maskAt(hook, axisOf(hook), tensors) : undefined;
        return { hook, row, pos: mask ? placeIn(call, pos, mask, row) : pos, ...(head !== undefined && { head }) };
      });
      const [, cache] = await model.run_with_cache(given, { names_filter, select, signal });
      for (const hook of hooks) found.get(hook)?.push((cache as Record<string, Tensor<'float32'>>)[hook] as never);
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

/** The rows of a batch. */
function rowsOf({ input_ids, inputs_embeds, pixel_values, input_features }: RunInputs): number[] {
  const { dims } = input_ids ?? inputs_embeds ?? pixel_values ?? input_features ?? { dims: [1] };
  return Array.from({ length: dims[0] ?? 0 }, (_, row) => row);
}

/** A position of a row between its padding, from the first; negative ones count from the last. */
function placeIn(call: string, pos: number, { data, dims }: TensorIn, row: number): number {
  const width = dims.at(-1) ?? 0;
  const counted = Array.from(data.subarray(row * width, (row + 1) * width), Number);
  const last = counted.lastIndexOf(1);
  const at = pos < 0 ? last + 1 + pos : pos;
  if (last >= 0 && at >= counted.indexOf(1) && at <= last) return at;
  throw new ClearformerError('invalid_argument', `${call}: position ${pos} of row ${row} is padding or none`, {
    option: 'pos',
  });
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
