// Module: a block whose weights are in the shared core. nn.ts and d2l.ts define the classes.

import type { Handle, MaskTerm, PlainOptions, TensorIn } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { isA, isObject } from '../support/kinds.js';
import { checkOptions } from '../support/options.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';
import type { ModuleCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import { plain } from './arguments.js';
import {
  backward,
  checkNames,
  type Differentiated,
  forward,
  gradientsOf,
  type ModuleBackwardOptions,
  type ModuleEdits,
  type ModuleGradients,
} from './module_pass.js';
import { sharedEngine } from './shared_core.js';

/** Weights with the names of torch's state_dict: tensors, or the bytes of a safetensors file. */
export type StateDict = Readonly<Record<string, TensorInput>> | Uint8Array | ArrayBuffer;

/** Names of the hooks to capture; `*` matches any characters. */
export type HookNames = readonly string[] | undefined;

/** The output, or with `names` the output and the captured activations. */
export type Traced<N extends HookNames> = N extends readonly string[]
  ? [Tensor<'float32'>, ModuleCache]
  : Tensor<'float32'>;

interface Differentiation {
  options: ModuleBackwardOptions;
  found?: ModuleGradients;
}

interface Loaded {
  engine: Engine;
  module: Handle;
  lease: Lease;
  /** In progress: the weights are released after them. */
  passes: Set<Promise<unknown>>;
}

/** Options without effect, accepted by classes with attention or a feed-forward network. */
export interface InferenceOptions {
  /** Accepted and ignored: there is no dropout in inference. */
  dropout?: number | undefined;
  /** Only true: dims are [batch, position, features], or [position, features] without a batch. */
  batch_first?: true | undefined;
}

/** Options of `forward` for every module with hooks. */
export interface ForwardOptions<N extends HookNames> extends ModuleEdits {
  /** Hook names (`['*']` for all): the result becomes `[output, cache]`. */
  names?: N;
}

/** Options of `forward` for modules without hooks: there are none. */
export type NoOptions = Readonly<Record<string, never>>;

type Tensors = Record<string, TensorIn>;
type Masks = Record<string, MaskTerm[]>;
type Captured = [output: Tensor<'float32'>, cache: ModuleCache];

/**
 * A block of a transformer. `load_state_dict` sets its weights, `forward` runs it, `dispose` releases its memory.
 * `backward` gives gradients. It computes in the calling thread, without dropout, which is accepted in options and
 * ignored.
 */
export abstract class Module {
  /** @internal The class's name with that of its library, as used by the core. */
  readonly kind: string;
  /** @internal */
  readonly options: PlainOptions;
  readonly #weightless: boolean;
  #loaded: Loaded | undefined;
  /** Of backward(): the next run is differentiated. */
  #differentiation: Differentiation | undefined;

  /** @internal `sizes` are the constructor's arguments, `given` its options, `known` the names of all options. */
  constructor(kind: string, sizes: object, given: object = {}, known: readonly string[] = [], weightless = false) {
    this.kind = kind;
    this.options = optionsOf(kind, sizes, given, known);
    this.#weightless = weightless;
  }

  /**
   * Sets the weights, whose arrays must not be written to before it resolves. Rejects, and keeps the previous weights,
   * if a key is missing, unexpected or has another shape: one error lists them all (with the code of the first);
   * `invalid_argument` for inconsistent sizes, such as heads that do not divide d_model; `malformed_file`
   * for bytes that are not a safetensors file.
   */
  async load_state_dict(state_dict: StateDict): Promise<this> {
    const engine = await sharedEngine();
    const { kind, options } = this;
    const module = await createModule(engine, kind, options, state_dict);
    const passes = new Set<Promise<unknown>>();
    const release = async () => {
      await Promise.allSettled(passes);
      await releaseHandle(engine, module);
    };
    const before = this.#loaded;
    this.#loaded = { engine, module, lease: new Lease(`this ${kind}`, this, release), passes };
    await before?.lease.release();
    return this;
  }

  /** Releases the weights' memory in the core, once calls in progress are complete. */
  async dispose(): Promise<void> {
    await this.#loaded?.lease.release();
  }
  /** For `using`: disposes without waiting. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }

  /** Runs the block, see the class. */
  abstract forward(...inputs: unknown[]): Promise<unknown>;

  /**
   * Gradients, as torch's `output.backward(grad_output)` gives them: of Σ grad_output ⊙ output with respect to inputs,
   * weights, activations and the values of edits. `inputs` are the arguments of `forward` in a list, with its options;
   * edits there are in force. Rejects as `forward`, and with `shape_mismatch` for a `grad_output` of other dims than the
   * output, `invalid_argument` for inputs, weights and hooks that there are not, `unsupported` for functions that change
   * activations, and for edits of `hook_result` and the heads' inputs.
   */
  async backward(inputs: Parameters<this['forward']>, options: ModuleBackwardOptions): Promise<ModuleGradients> {
    checkList(this.kind, inputs);
    const asked: Differentiation = { options };
    this.#differentiation = asked; // run() takes it before forward() returns
    const passed = this.forward(...inputs);
    this.#differentiation = undefined;
    await passed;
    return asked.found as ModuleGradients;
  }

  /** @internal Runs the block. Throws `invalid_argument` before load_state_dict and for an unknown hook name. */
  protected async run(
    tensors: Tensors,
    masks: Masks,
    names: readonly string[],
    { edits, fwd_hooks, select, names: own = [] }: ForwardOptions<HookNames> = {},
  ): Promise<Captured> {
    const asked = this.#differentiation;
    if (this.#loaded === undefined && this.#weightless) await this.load_state_dict({});
    if (this.#loaded === undefined) {
      throw new ClearformerError('invalid_argument', `${this.kind}: forward before load_state_dict`);
    }
    const { engine, module, lease, passes } = this.#loaded;
    lease.check();
    const needed = names.slice(own.length);
    const call = { module, tensors, masks };
    const pass = { kind: this.kind, engine, call, names: own, needed, edits: { edits, fwd_hooks, select } };
    const passing = asked ? backward(pass, asked.options, this.#weightless) : forward(pass);
    passes.add(passing);
    const value = await passing.finally(() => passes.delete(passing));
    if (asked) asked.found = gradientsOf(value as Differentiated, own);
    const { cache } = value;
    checkNames(this.kind, names, Object.keys(cache));
    return [toTensor(value.output), cache];
  }

  /** @internal The output of a block without hooks, and so without options. */
  protected async output(tensors: Tensors, options: NoOptions): Promise<Tensor<'float32'>> {
    checkOptions(`${this.kind}.forward`, options, []);
    return (await this.run(tensors, {}, []))[0];
  }

  /** @internal `run` with the result requested by `options.names`; `known` are the other options. */
  protected async traced<N extends HookNames>(
    tensors: Tensors,
    masks: Masks,
    options: ForwardOptions<N>,
    known: readonly string[],
  ): Promise<Traced<N>> {
    const names = hookNames(this.kind, options, known);
    const result = await this.run(tensors, masks, names ?? [], options);
    return (names === undefined ? result[0] : result) as Traced<N>;
  }

  /** @internal Converts to float32 for the core; error messages start with the module and the argument's name. */
  protected floats(name: string, input: TensorInput): TensorIn {
    return floats(`${this.kind}: ${name}`, input);
  }
}

/** @internal Refuses arguments of `backward` that are no list. */
export function checkList(kind: string, inputs: unknown): void {
  if (Array.isArray(inputs)) return;
  throw new ClearformerError('invalid_argument', `${kind}.backward: the arguments of forward must be a list`);
}

/** @internal A module of the core with these weights. */
export async function createModule(
  engine: Engine,
  kind: string,
  options: PlainOptions,
  state_dict: StateDict,
): Promise<Handle> {
  if (isA(state_dict, 'Uint8Array', 'ArrayBuffer')) {
    const checkpoint = await read(engine, bytesOf(state_dict));
    return (await engine.call('module_create', { kind, options, checkpoint })).module;
  }
  if (!isObject(state_dict)) {
    throw new ClearformerError(
      'invalid_argument',
      `${kind}: load_state_dict needs tensors by name or safetensors bytes`,
    );
  }
  const entries = Object.entries(state_dict).map(([key, tensor]) => [key, floats(`${kind}: ${key}`, tensor)] as const);
  return (await engine.call('module_create', { kind, options, tensors: Object.fromEntries(entries) })).module;
}

/** A view of the bytes; empty for a transferred buffer, of which no view can be created. */
function bytesOf(given: Uint8Array | ArrayBuffer): Uint8Array {
  if (given.byteLength === 0) return new Uint8Array(0);
  return isA(given, 'Uint8Array') ? given : new Uint8Array(given);
}

async function read(engine: Engine, bytes: Uint8Array): Promise<Handle> {
  const { checkpoint } = await engine.call('checkpoint_open', { dtype: 'fp32' });
  try {
    await engine.call('checkpoint_begin_file', { checkpoint, name: 'state_dict', bytes: bytes.byteLength });
    await engine.write(checkpoint, bytes, true);
    await engine.call('checkpoint_end_file', { checkpoint });
    return checkpoint;
  } catch (thrown) {
    await releaseHandle(engine, checkpoint);
    throw thrown;
  }
}

/** The option `names`, after validating all options. */
export function hookNames(kind: string, options: ForwardOptions<HookNames>, known: readonly string[]): HookNames {
  checkOptions(`${kind}.forward`, options, [...known, 'names', 'select', 'edits', 'fwd_hooks']);
  const { names } = options;
  if (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === 'string'))) return names;
  throw refused(kind, 'names', 'must be an array of hook names');
}

/** The arguments of a constructor for the core; throws for unknown ones and those that JSON would lose. */
function optionsOf(kind: string, sizes: object, given: object, known: readonly string[]): PlainOptions {
  checkOptions(kind, given, known);
  const { batch_first = true, ...options } = { ...sizes, ...given } as Record<string, unknown>;
  if (batch_first !== true) {
    throw new ClearformerError('unsupported', `${kind}: batch_first must be true: dims are [batch, position, …] here`, {
      option: 'batch_first',
    });
  }
  for (const [option, value] of Object.entries(options)) {
    if (value === null && !nullable.includes(option)) throw refused(kind, option, 'is null');
  }
  return plain(kind, options);
}

/** Options for which torch's None means absent. */
const nullable = ['kdim', 'vdim', 'padding_idx', 'eps'];

function refused(kind: string, option: string, rule: string): ClearformerError {
  return new ClearformerError('invalid_argument', `${kind}: ${option}: ${rule}`, { option });
}
