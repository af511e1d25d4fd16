// Functions of callers at hook points: what they receive, and what becomes of their result. The same in this thread and
// in the worker of a model (received_functions.ts).

import type { ArgumentsOf, FunctionIn, TensorIn, TensorOut } from '../runtime/border.js';
import type { HookName } from '../runtime/hook_names.js';
import type { Runner } from '../runtime/paced.js';
import { ClearformerError } from '../support/error.js';
import { transferred } from '../tensor/data.js';
import { largest } from '../tensor/largest.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';

type Float = Tensor<'float32'>;
type FloatOut = TensorOut<'float32'>;

/** What a hook function is given besides the activation. Tensors and plain values, in arrays and objects of any depth. */
export type HookConstants = Readonly<Record<string, unknown>>;

/**
 * Functions with torch's names that answer at once: products and softmax from the core that runs the model. Other
 * maths: Tensor's methods.
 */
export interface HookMath {
  /** Product of x [..., n, k] and a matrix y [k, m]: [..., n, m]. */
  matmul(input: TensorInput, other: TensorInput): Float;
  /** Batch matrix product: [batch, n, k] times [batch, k, m] is [batch, n, m]. */
  bmm(input: TensorInput, mat2: TensorInput): Float;
  /** exp(x) / Σ exp(x) along `dim`, by default the last axis. */
  softmax(input: TensorInput, dim?: number): Float;
  /** x - log Σ exp(x) along `dim`, by default the last axis. */
  log_softmax(input: TensorInput, dim?: number): Float;
  /** The `k` largest values of the last axis (null: all) in descending order, and their indices. */
  topk(input: Float, k?: number | null): [values: Float, indices: Tensor<'int64'>];
}

/** The second argument of a hook function. */
export interface HookContext {
  /** The hook point. */
  name: HookName;
  /** The constants given with the function; a copy of them for a model in a worker. */
  constants: HookConstants;
  F: HookMath;
}

/**
 * Receives a copy of an activation and may change it: in `value.data`, or by returning another tensor of the same dims.
 * It must be synchronous.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is meant
export type HookFunction = (value: Float, hook: HookContext) => Float | void;

/** A hook function as the export of a module, which is loaded where the model runs. */
export interface HookModule {
  /** The module's URL; relative ones are relative to the page, in Node to the working directory. */
  module: string | URL;
  /** The name of the export. Default: `default`. */
  export?: string | undefined;
}

/** What is called at a hook point. `what` starts messages: "run_with_hooks: fwd_hooks[0]". */
export interface CalledFunction {
  what: string;
  change: HookFunction;
  constants: HookConstants;
}

/**
 * The function for the core, which only learns that it failed: `failed` receives what was thrown. `core` computes the
 * functions of F.
 */
export function hookCall(called: CalledFunction, name: HookName, core: Runner, failed: (thrown: unknown) => void) {
  const context: HookContext = { name, constants: called.constants, F: mathOf(core) };
  const call: FunctionIn['call'] = (_, out) => {
    try {
      return changed(called, out, context);
    } catch (thrown) {
      failed(thrown);
      return null;
    }
  };
  return call;
}

function changed({ what, change }: CalledFunction, out: FloatOut, context: HookContext): Float32Array {
  const value = toTensor(out);
  const { size } = value;
  const result: unknown = change(value, context) ?? value;
  const { name } = context;
  if (!(result instanceof Tensor) || result.type !== 'float32') {
    // What rejects later is a failure that nobody waits for, which would end the process.
    if (typeof (result as PromiseLike<unknown>).then === 'function') Promise.resolve(result).catch(() => {});
    throw invalid(`${what} must give a float32 Tensor or nothing, at once (at ${name})`);
  }
  if (String(result.dims) !== String(out.dims)) {
    const dims = `${what} gave dims [${result.dims.join(', ')}], ${name} has [${out.dims.join(', ')}]`;
    throw new ClearformerError('shape_mismatch', dims, { option: 'fwd_hooks' });
  }
  if (result.data.length === size) return result.data as Float32Array;
  const found = `${result.data.length} elements for ${name}, which has ${size}${transferred}`;
  throw new ClearformerError('shape_mismatch', `${what} gave ${found}`, { option: 'fwd_hooks' });
}

function mathOf(core: Runner): HookMath {
  type Name = 'matmul' | 'bmm' | 'softmax' | 'log_softmax';
  const run = <N extends Name>(name: N, given: ArgumentsOf<N>) => toTensor(core.run(name, given) as FloatOut);
  const product = (name: 'matmul' | 'bmm') => (input: TensorInput, other: TensorInput) =>
    run(name, { x: operand(name, input), y: operand(name, other) });
  const along =
    (name: 'softmax' | 'log_softmax') =>
    (input: TensorInput, dim = -1) =>
      run(name, { x: operand(name, input), axis: dim });
  return {
    matmul: product('matmul'),
    bmm: product('bmm'),
    softmax: along('softmax'),
    log_softmax: along('log_softmax'),
    topk: (input, k = null) => largest(input, k),
  };
}

const operand = (name: string, input: TensorInput): TensorIn => floats(`F.${name}`, input);

const invalid = (message: string) => new ClearformerError('invalid_argument', message, { option: 'fwd_hooks' });
