// Edits of activations: as data, or as functions, which are sent to where the model runs.

import type { EditIn, FunctionIn, HookPoint, SentHook, TensorIn } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { partNames } from '../runtime/needed_parts.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { floatsOrNumber, type TensorInput } from '../tensor/tensor_input.js';
import { type HookConstants, type HookFunction, type HookModule, hookCall } from './hook_functions.js';
import { type NamesFilter, resolveHooks } from './hooks.js';
import { imported } from './received_functions.js';
import { located, sent } from './sent_functions.js';

/**
 * The operation: set to 0, to the mean, multiply by the value, add the value, replace by the value; add normal noise
 * whose standard deviation is the value; subtract the projection onto the span of directions; limit to `min` and `max`.
 */
export type EditOp = 'zero' | 'mean' | 'scale' | 'add' | 'replace' | 'noise' | 'project_out' | 'clamp';

/** Indices along an axis: a number drops the axis, a list keeps it; negative ones count from the end. */
export type EditIndices = number | readonly number[];

/**
 * The part of an activation that an edit changes, as NumPy indices; what is not given is selected whole. An edit may not
 * select an index twice.
 */
export interface EditSelection {
  /** Rows of the batch. In a generation those of the prompts, each with all its beams or sequences. */
  row?: EditIndices | undefined;
  /** For grouped keys and values, the index of the key/value head. */
  head?: EditIndices | undefined;
  /**
   * Positions in the whole sequence; for scores and patterns, of the queries. In a generation those that any step may
   * compute, up to the last token but one; negative ones are those of each step.
   */
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
 * A filter of hook points, the function called at each or its module, and the constants that it reads as
 * `hook.constants`.
 */
export type ForwardHook =
  | readonly [NamesFilter, HookFunction | HookModule]
  | readonly [NamesFilter, HookFunction | HookModule, HookConstants];

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

/** Throws `invalid_argument` for what is no edit, `unsupported` for keys that none has. */
export const checkEdit = (what: string, edit: unknown): void => checkOptions(what, edit ?? null, known);

/** Converts edits for the core, one per hook point. */
export function editsIn(call: string, edits: readonly ActivationEdit[], hooks: readonly HookPoint[]): EditIn[] {
  if (!Array.isArray(edits)) throw invalid(`${call}: edits must be an array`, 'edits');
  return edits.flatMap((edit: ActivationEdit, index) => {
    const what = `edits[${index}]`;
    checkEdit(`${call}: ${what}`, edit);
    const { op, seed } = edit;
    const chosen = chosenIn(what, edit);
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
      const given = { ...chosen, ...Object.fromEntries(fitted), ...(seed !== undefined && { seed }) };
      return { hook: name, op: typeof op === 'string' ? op : textOf(op), ...given };
    });
  });
}

/** The indices of a selection, in the core's form. */
export function chosenIn(what: string, selection: EditSelection): Pick<EditIn, (typeof selections)[number][1]> {
  const chosen = selections.map(([name, inCore]) => [inCore, indicesIn(`${what}.${name}`, selection[name])] as const);
  return Object.fromEntries(chosen.filter(([, indices]) => indices !== undefined));
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
  return value === undefined ? undefined : floatsOrNumber(option, value);
}

/** Functions for the core, and the exception thrown by one of them: the core only learns that it failed. */
export interface FunctionsIn {
  fwd_hooks: FunctionIn[] | SentHook[];
  failure(): { thrown: unknown } | undefined;
}

/** Converts functions for the core in this thread, or for the worker it runs in. */
export async function functionsIn(
  call: string,
  given: readonly ForwardHook[],
  hooks: readonly HookPoint[],
  engine: Engine,
  option = 'fwd_hooks',
): Promise<FunctionsIn> {
  if (!Array.isArray(given)) throw invalid(`${call}: ${option} must be an array of [name, function]`, option);
  let failure: { thrown: unknown } | undefined;
  const here: FunctionIn[] = [];
  const there: SentHook[] = [];
  for (const [index, pair] of (given as ForwardHook[]).entries()) {
    const what = `${call}: ${option}[${index}]`;
    if (!Array.isArray(pair)) throw invalid(`${what} must be [name, function]`, option);
    const [filter, change, constants = {}] = pair as unknown as ForwardHook;
    if (typeof change !== 'function' && (change as HookModule | undefined)?.module === undefined) {
      throw invalid(`${what} needs a function, or { module } with its URL`, option);
    }
    const names = resolveHooks(`${option}[${index}]`, hooks, filter).map(({ name }) => name);
    if (engine.now === undefined) {
      const one = await sent(what, change, constants);
      there.push(...names.map((hook) => ({ hook, sent: one })));
      continue;
    }
    const called = { what, change: await functionOf(what, change), constants };
    const core = { run: engine.now.bind(engine) };
    const failed = (thrown: unknown) => {
      failure = { thrown };
    };
    here.push(...names.map((hook) => ({ hook, call: hookCall(called, hook, core, failed) })));
  }
  if (given.length > 0) await engine.addParts(partNames); // a function may compute in the core with any function of the package
  return { fwd_hooks: engine.now === undefined ? there : here, failure: () => failure };
}

async function functionOf(what: string, change: HookFunction | HookModule): Promise<HookFunction> {
  if (typeof change === 'function') return change;
  const { module, export: name } = located(what, change);
  return imported(what, module, name);
}

function invalid(message: string, option: string): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option });
}
