// Hook functions in the model's worker: made again from their source or from their module (sent_functions.ts).

import type { FunctionIn, SentFunction, SentHook } from '../runtime/observation_request.js';
import type { Runner } from '../runtime/paced.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isNode } from '../support/platform.js';
import { Tensor, type TensorData, type TensorType } from '../tensor/tensor.js';
import { type CalledFunction, type HookConstants, type HookFunction, hookCall } from './hook_functions.js';

/** Options of calls that contain functions. */
const options = ['fwd_hooks', 'bwd_hooks'];

/**
 * The arguments of a call with functions for the core in place of those that were sent. Rejects with `unsupported` if the
 * content security policy forbids their source, `invalid_argument` for a source that is none and a module that does not
 * load or has no such export. `failed` receives what a function throws.
 */
export async function received(given: object, core: Runner, failed: (thrown: unknown) => void): Promise<object> {
  const own = { ...given } as Record<string, unknown>;
  for (const option of options) {
    const hooks = own[option] as readonly SentHook[] | undefined;
    if (hooks === undefined) continue;
    const made = new Map<SentFunction, CalledFunction>(); // one function may be at several hook points
    const functions: FunctionIn[] = [];
    for (const { hook, sent } of hooks) {
      const called = made.get(sent) ?? (await calledOf(sent));
      made.set(sent, called);
      functions.push({ hook, call: hookCall(called, hook, core, (thrown) => failed(explained(sent.what, thrown))) });
    }
    own[option] = functions;
  }
  return own;
}

async function calledOf(sent: SentFunction): Promise<CalledFunction> {
  const { what, source, module } = sent;
  const change =
    source === undefined ? await imported(what, module as string, sent.export as string) : made(what, source);
  return { what, change, constants: unpacked(sent.constants) as HookConstants };
}

/** @internal The function that a module exports. */
export async function imported(what: string, module: string, name: string): Promise<HookFunction> {
  let found: Record<string, unknown>;
  try {
    found = await import(/* @vite-ignore */ /* webpackIgnore: true */ module);
  } catch (cause) {
    throw invalid(`${what}: ${module} could not be loaded (${messageOf(cause)})`, cause);
  }
  if (typeof found[name] === 'function') return found[name] as HookFunction;
  throw invalid(
    `${what}: ${module} has no function as its export '${name}' (exports: ${Object.keys(found).join(', ')})`,
  );
}

/** A function from its source, also that of a method, `name(value) { … }`. */
function made(what: string, source: string): HookFunction {
  let cause: unknown;
  for (const text of [`(${source})`, `Object.values({${source}})[0]`]) {
    try {
      const found: unknown = new Function(`'use strict'; return ${text}`)();
      if (typeof found === 'function') return found as HookFunction;
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw forbidden(what, thrown);
      cause = thrown;
    }
  }
  throw invalid(`${what}: the function's source is none by itself (${messageOf(cause)})`, cause);
}

function forbidden(what: string, thrown: unknown): unknown {
  if (!(thrown instanceof EvalError)) return thrown;
  const by = isNode()
    ? "Node's --disallow-code-generation-from-strings forbids functions from their source"
    : "the content security policy of the model's worker forbids functions from their source ('unsafe-eval')";
  const why = `${by}: give a module's URL instead, [name, { module: new URL('./hook.js', import.meta.url) }]`;
  return new ClearformerError('unsupported', `${what}: ${why}`, { option: 'fwd_hooks' }, thrown);
}

/** An error that names a variable which the function has in its own place only, with how to pass it. */
function explained(what: string, thrown: unknown): unknown {
  if (!(thrown instanceof ReferenceError)) return thrown;
  const { message } = thrown;
  const [, name] = /^(\S+) is not defined$/.exec(message) ?? /variable: (\S+)/.exec(message) ?? [];
  if (name === undefined) return thrown;
  return invalid(
    `${what}: ${name} is not defined in the model's worker, where the function runs without what surrounds it: pass it ` +
      `as a constant, [name, function, { ${name} }], and read hook.constants.${name}`,
    thrown,
  );
}

interface PackedTensor {
  tensor: TensorType;
  data: TensorData[TensorType];
  dims: number[];
}

function unpacked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpacked);
  const { tensor, data, dims, plain } = (value ?? {}) as Partial<PackedTensor> & { plain?: Record<string, unknown> };
  if (tensor !== undefined) return new Tensor(tensor, data as PackedTensor['data'], dims as number[]);
  if (plain === undefined) return value;
  return Object.fromEntries(Object.entries(plain).map(([key, one]) => [key, unpacked(one)]));
}

function invalid(message: string, cause?: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option: 'fwd_hooks' }, cause);
}
