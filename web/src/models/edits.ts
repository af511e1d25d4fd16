// Edits of activations: as data, which also works in workers and generation, or as functions in this thread.

import type { EditIn, FunctionIn, HookPoint, TensorIn, TensorOut } from '../runtime/border.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import { type NamesFilter, resolveHooks } from './hooks.js';

/**
 * The operation: set to 0, to the mean, multiply by the value, add the value, replace by the value; add normal noise
 * whose standard deviation is the value; subtract the projection onto the span of directions; limit to `min` and `max`.
 */
export type EditOp = 'zero' | 'mean' | 'scale' | 'add' | 'replace' | 'noise' | 'project_out' | 'clamp';

/** Indices along an axis: a number drops the axis, a list keeps it; negative ones count from the end. */
export type EditIndices = number | readonly number[];

/** The part of an activation that an edit changes, as NumPy indices; what is not given is selected whole. */
export interface EditSelection {
  /** Rows of the batch. In a generation those of the prompts, each with all its beams or sequences. */
  row?: EditIndices | undefined;
  /** For grouped keys and values, the index of the key/value head. */
  head?: EditIndices | undefined;
  /** Positions in the whole sequence; for scores and patterns, of the queries. */
  pos?: EditIndices | undefined;
  /** For scores and patterns, the positions of the keys. */
  key_pos?: EditIndices | undefined;
  /** Indices in the last axis: neurons of `hook_post`, dimensions of the residual stream or of a head. */
  feature?: EditIndices | undefined;
}

/** An edit of activations: a selected part of them, and the operation. The value is broadcast to that part. */
export interface ActivationEdit extends EditSelection {
  /** The hook points. */
  hook: NamesFilter;
  op: EditOp;
  /**
   * Required by `scale`, `add`, `replace`, `noise` and `project_out`. `mean` without a value uses the mean of each
   * feature (in a pattern: of each key) over all sequences and positions of the pass, including padding; see
   * `meanActivations` for the mean over a data set. For `project_out` the directions, [feature] or [direction, feature];
   * they need not be orthogonal.
   */
  value?: number | TensorInput | undefined;
  /** The limits of `clamp`, at least one of them; broadcast like a value. */
  min?: number | TensorInput | undefined;
  max?: number | TensorInput | undefined;
  /**
   * The seed of `noise`, default 0. The noise of an element depends on the seed, the hook, the place of its row among
   * those selected, its position in the sequence and its other indices: neither on the rest of the batch, nor on the
   * cache, threads and engine.
   */
  seed?: number | undefined;
}

/**
 * Receives a copy of an activation and may change it: in `value.data`, or by returning another tensor of the same dims.
 * It must be synchronous.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is meant
export type HookFunction = (value: Tensor<'float32'>, hook: { name: HookName }) => Tensor<'float32'> | void;
/** A filter of hook points, and the function called at each. */
export type ForwardHook = readonly [NamesFilter, HookFunction];

const endsWithPos = (axis: string) => axis === 'frame' || axis.endsWith('pos');

/** The axis of heads or positions (for scores and patterns: of queries); -1 if there is none. */
export const headAxis = (axes: readonly string[]) =>
  axes.findIndex((axis) => axis === 'head' || axis === 'key_value_head');
export const posAxis = (axes: readonly string[]) => axes.findIndex(endsWithPos);

/** How a selection is called here and in the core, and the axis it selects from; -1 if there is none. */
export const selections = [
  ['row', 'rows', (axes) => axes.indexOf('batch')],
  ['head', 'heads', headAxis],
  ['pos', 'positions', posAxis],
  ['key_pos', 'key_positions', (axes) => axes.findIndex((axis, at) => endsWithPos(axis) && at > posAxis(axes))],
  ['feature', 'features', (axes) => axes.length - 1],
] as const satisfies readonly (readonly [keyof EditSelection, keyof EditIn, (axes: readonly string[]) => number])[];

const known = ['hook', ...selections.map(([name]) => name), 'op', 'value', 'min', 'max', 'seed'];

/** Converts edits for the core, one per hook point. */
export function editsIn(call: string, edits: readonly ActivationEdit[], hooks: readonly HookPoint[]): EditIn[] {
  if (!Array.isArray(edits)) throw invalid(`${call}: edits must be an array`, 'edits');
  return edits.flatMap((edit: ActivationEdit, index) => {
    const what = `edits[${index}]`;
    checkOptions(`${call}: ${what}`, edit, known);
    const { op, seed } = edit;
    const chosen = selections.flatMap(([name, name_in_core]) => {
      const indices = indicesIn(`${what}.${name}`, edit[name]);
      return indices === undefined ? [] : [[name_in_core, indices] as const];
    });
    const values = (['value', 'min', 'max'] as const).flatMap((name) => {
      const value = valueIn(`${what}.${name}`, edit[name]);
      return value === undefined ? [] : [[name, value] as const];
    });
    return resolveHooks(`${what}.hook`, hooks, edit.hook).map(({ name, axes }): EditIn => {
      const dropped = selections.map(([selection, , axis]) => typeof edit[selection] === 'number' && axis(axes));
      const fitted = values.map(([member, value]) => {
        if (op === 'project_out') return [member, value];
        return [member, { ...value, dims: withAxes(value.dims, axes.length, dropped) }];
      });
      const given = { ...Object.fromEntries([...chosen, ...fitted]), ...(seed !== undefined && { seed }) };
      return { hook: name, op: String(op), ...given };
    });
  });
}

/** Restores axes that a number dropped, as extents of 1, for the core. */
function withAxes(dims: readonly number[], rank: number, dropped: readonly (number | false)[]): number[] {
  const rest = [...dims];
  const all: number[] = [];
  for (let axis = rank - 1; axis >= 0 && rest.length > 0; axis--) {
    all.unshift(dropped.includes(axis) ? 1 : (rest.pop() as number));
  }
  return [...rest, ...all];
}

function indicesIn(option: string, value: EditIndices | undefined): number[] | undefined {
  if (value === undefined) return undefined;
  const indices = [value].flat();
  if (indices.length > 0 && indices.every(Number.isSafeInteger)) return indices;
  throw invalid(`${option}: needs a whole number or a list of them`, option);
}

function valueIn(option: string, value: number | TensorInput | undefined): TensorIn | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'number' ? { data: Float32Array.of(value), dims: [] } : floats(option, value);
}

/** Functions for the core, and the exception thrown by one of them: the core only learns that it failed. */
export interface FunctionsIn {
  fwd_hooks: FunctionIn[];
  failure(): { thrown: unknown } | undefined;
}

export function functionsIn(call: string, given: readonly ForwardHook[], hooks: readonly HookPoint[]): FunctionsIn {
  if (!Array.isArray(given)) throw invalid(`${call}: fwd_hooks must be an array of [name, function]`, 'fwd_hooks');
  let failure: { thrown: unknown } | undefined;
  const fwd_hooks = given.flatMap(([filter, change]: ForwardHook, index) => {
    const what = `fwd_hooks[${index}]`;
    if (typeof change !== 'function') throw invalid(`${call}: ${what} needs a function`, 'fwd_hooks');
    return resolveHooks(what, hooks, filter).map(({ name }) => ({
      hook: name,
      call(_: string, out: TensorOut<'float32'>) {
        try {
          return changed(`${call}: ${what}`, toTensor(out), change, name);
        } catch (thrown) {
          failure = { thrown };
          return null;
        }
      },
    }));
  });
  return { fwd_hooks, failure: () => failure };
}

function changed(what: string, value: Tensor<'float32'>, change: HookFunction, name: HookName): Float32Array {
  const result: unknown = change(value, { name }) ?? value;
  if (!(result instanceof Tensor) || result.type !== 'float32') {
    throw invalid(`${what} must give a float32 Tensor or nothing, at once (at ${name})`, 'fwd_hooks');
  }
  if (String(result.dims) === String(value.dims)) return result.data as Float32Array;
  throw new ClearformerError(
    'shape_mismatch',
    `${what} gave dims [${result.dims.join(', ')}], ${name} has [${value.dims.join(', ')}]`,
    { option: 'fwd_hooks' },
  );
}

function invalid(message: string, option: string): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option });
}
