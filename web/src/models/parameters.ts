// A model's weights, read and edited where the core holds them. Loaded at the first call.

import type { Handle, TensorIn, WeightProcessing } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { listed } from '../tensor/elements.js';
import { Tensor } from '../tensor/tensor.js';
import { floatsOrNumber, type TensorInput } from '../tensor/tensor_input.js';

/**
 * A part of a weight, as in `Tensor.slice`: for each axis from the first a number (which drops the axis), `[start, end]`
 * (end excluded, null = to the end) or null (all). Negative numbers count from the end.
 */
export type ParameterPart = readonly (number | readonly [number, number | null] | null)[];

/** Options of `parameter`. The processing is TransformerLens' and applies to its names, without `at`. */
export interface ParameterOptions extends WeightProcessing {
  /** The part to read; default: all. */
  at?: ParameterPart | undefined;
}

/** A change of a weight. Values have the dims of the part, or are one number. */
export type ParameterEdit = (
  | { op: 'zero' }
  | { op: 'replace' | 'add' | 'scale'; value: number | TensorInput }
  /** Adds the outer product: left [..., m] and right [..., n] to a part [..., m, n]. */
  | { op: 'rank_one'; left: TensorInput; right: TensorInput }
) & {
  /** The part to change; default: all. */
  at?: ParameterPart | undefined;
};

/** @internal */
export interface OpenedModel {
  engine: Engine;
  model: Handle;
}

/** @internal Reads a weight, or the part `at` of it. */
export async function readParameter(
  { engine, model }: OpenedModel,
  name: string,
  options: ParameterOptions,
): Promise<Tensor<'float32'>> {
  checkOptions('parameter', options, ['at', 'fold_ln', 'center_writing_weights', 'with_adapters']);
  const { at, ...processing } = options;
  if (at !== undefined && (processing.fold_ln || processing.center_writing_weights)) {
    throw new ClearformerError('unsupported', "parameter: 'at' is for weights as they are; slice a processed one");
  }
  if ((processing.fold_ln || processing.center_writing_weights) && /(weight|bias)$/.test(name)) {
    const why = "is a checkpoint's name: fold_ln and center_writing_weights are for TransformerLens' names";
    throw new ClearformerError('invalid_argument', `parameter: "${name}" ${why}`);
  }
  const { data, dims } = await engine.call('parameter_read', { model, name, ...processing, at: boundsOf(at) });
  return new Tensor(
    'float32',
    data,
    dims.filter((_, axis) => typeof at?.[axis] !== 'number'),
  );
}

/** @internal Changes a weight; returns the number of edits in force. */
export async function editParameter(
  { engine, model }: OpenedModel,
  name: string,
  edit: ParameterEdit,
): Promise<number> {
  const zero = edit?.op === 'zero';
  const pair = edit?.op === 'rank_one';
  checkOptions('edit_parameter', edit ?? null, ['op', 'at', ...(zero ? [] : pair ? ['left', 'right'] : ['value'])]);
  const at = partIn(edit.at);
  // An op that there is not is the core's to refuse, by its name.
  const known = zero || pair || ['replace', 'add', 'scale'].includes(edit.op);
  const given = zero || !known ? 0 : edit.op === 'rank_one' ? edit.left : edit.value;
  const { edits } = await engine.call('parameter_edit', {
    model,
    name,
    op: zero ? 'replace' : textOf(edit.op),
    value: valueIn(pair ? 'left' : 'value', given, at),
    ...(pair && { right: valueIn('right', (edit as { right: TensorInput }).right, at) }),
    at: boundsOf(at),
  });
  return edits;
}

function partIn(at: ParameterPart | undefined): ParameterPart | undefined {
  if (at === undefined || Array.isArray(at)) return at;
  throw new ClearformerError('invalid_argument', `at: ${textOf(at)} is no list of indices and [start, end]`);
}

/** With the axes that a number drops, which the core has; one number is a scalar. */
function valueIn(option: string, value: number | TensorInput, at: ParameterPart | undefined): TensorIn {
  const { data, dims } = floatsOrNumber(`edit_parameter: ${option}`, value);
  if (typeof value === 'number') return { data, dims };
  const all = [...dims];
  at?.forEach((part, axis) => {
    if (typeof part === 'number') all.splice(axis, 0, 1);
  });
  return { data, dims: all };
}

function boundsOf(at: ParameterPart | undefined): number[] | undefined {
  return partIn(at)?.flatMap((part) => {
    const range = typeof part === 'number' ? [part, part === -1 ? null : part + 1] : (part ?? [0, null]);
    const [start, end] = Array.isArray(range) && range.length === 2 ? range : [];
    if (Number.isSafeInteger(start) && (end === null || Number.isSafeInteger(end))) {
      return [start as number, (end as number | null) ?? Number.MAX_SAFE_INTEGER];
    }
    throw new ClearformerError('invalid_argument', `at: ${listed(part)} is no index and no [start, end]`);
  });
}
