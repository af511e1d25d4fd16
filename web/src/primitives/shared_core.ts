// The core shared by functions and modules: in this thread, started by the first call.

import type { ArgumentsOf, BorderName, TensorOut, ValueOf } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { partsFor } from '../runtime/needed_parts.js';
import { isPaced } from '../runtime/paced.js';
import { startEngine } from '../runtime/start_engine.js';
import { configuration } from '../support/config.js';
import { copied } from '../support/copied.js';
import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';

interface Shared {
  settings: readonly unknown[];
  starting: Promise<Engine>;
  engine?: Engine;
  /** Calls under way that come back in between; others wait until they are done. */
  paced: number;
}

let shared: Shared | undefined;

/** The shared core for the current settings; changed settings create another core for later calls. */
function current(): Shared {
  const { wasmUrl, wasmBinary, deterministic, numThreads = 1 } = configuration;
  const settings = [wasmUrl, wasmBinary, deterministic, numThreads];
  if (shared !== undefined && settings.every((setting, i) => setting === shared?.settings[i])) return shared;
  const made: Shared = { settings, starting: startEngine({ worker: false, deterministic, numThreads }), paced: 0 };
  made.starting.then(
    (engine) => {
      made.engine = engine;
    },
    () => forget(made),
  );
  shared = made;
  return made;
}

function forget(lost: Shared): void {
  if (shared === lost) shared = undefined;
}

/** The shared engine, started. */
export function sharedEngine(): Promise<Engine> {
  return current().starting;
}

/**
 * Calls a function of the core. Arguments are read or copied before this returns, so that the caller may overwrite
 * its arrays at once. After a trap the next call gets a new core.
 */
export async function run<N extends BorderName>(
  name: N,
  given: ArgumentsOf<N>,
  signal?: AbortSignal,
): Promise<ValueOf<N>> {
  const core = current();
  const { engine, paced } = core;
  const waits = engine === undefined || paced > 0 || !engine.has(partsFor(name, given));
  const own = waits ? copyOf(given) : given;
  core.paced += Number(isPaced(name));
  try {
    return await (engine ?? (await core.starting)).call(name, own, signal);
  } catch (thrown) {
    if (thrown instanceof ClearformerError && thrown.code === 'poisoned') forget(core);
    throw thrown;
  } finally {
    core.paced -= Number(isPaced(name));
  }
}

/**
 * A deep copy of arguments. structuredClone can belong to another realm (Jest), whose arrays the core does not
 * recognize.
 */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return copied(value as unknown as Uint8Array) as T;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyOf(each)])) as T;
}

/** The core's functions that return a single tensor. */
type TensorFunction = {
  [N in BorderName]: ValueOf<N> extends TensorOut ? N : never;
}[BorderName];

/** `run` for a function that returns a single tensor. */
export async function compute<N extends TensorFunction>(
  name: N,
  given: ArgumentsOf<N>,
): Promise<Tensor<ValueOf<N> extends TensorOut ? ValueOf<N>['type'] : never>> {
  return toTensor(await run(name, given)) as never;
}
