// The core that functions and modules share: in this thread, started when the first of them is called.

import type { ArgumentsOf, BorderName, TensorOut, ValueOf } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { startEngine } from '../runtime/start_engine.js';
import { configuration } from '../support/config.js';
import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';

interface Shared {
  settings: readonly unknown[];
  starting: Promise<Engine>;
  engine?: Engine;
}

let shared: Shared | undefined;

/** The shared core under the settings in force; another setting means another core for what is called from then on. */
function current(): Shared {
  const { wasmUrl, wasmBinary, deterministic, numThreads = 1 } = configuration;
  const settings = [wasmUrl, wasmBinary, deterministic, numThreads];
  if (shared !== undefined && settings.every((setting, i) => setting === shared?.settings[i])) return shared;
  const made: Shared = { settings, starting: startEngine({ worker: false, deterministic, numThreads }) };
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
 * Calls a function of the border. What is passed is read before this returns to its caller, so that the caller may write
 * to its arrays again at once. After a trap the next call gets a new core.
 */
export async function run<N extends BorderName>(name: N, given: ArgumentsOf<N>): Promise<ValueOf<N>> {
  const core = current();
  try {
    if (core.engine !== undefined) return await core.engine.call(name, given);
    const copy = structuredClone(given);
    return await (await core.starting).call(name, copy);
  } catch (thrown) {
    if (thrown instanceof ClearformerError && thrown.code === 'poisoned') forget(core);
    throw thrown;
  }
}

/** The functions of the border that answer with one tensor. */
type TensorFunction = {
  [N in BorderName]: ValueOf<N> extends TensorOut ? N : never;
}[BorderName];

/** `run` for a function that answers with one tensor. */
export async function compute<N extends TensorFunction>(
  name: N,
  given: ArgumentsOf<N>,
): Promise<Tensor<ValueOf<N> extends TensorOut ? ValueOf<N>['type'] : never>> {
  return toTensor(await run(name, given)) as never;
}
