// Long calls of the core come back between two layers with { pending: true } (cpp/bindings/pace.h) and are made again, so
// that the event loop has its turn and an abort ends them within a layer.

import { nextTurn } from '../support/platform.js';
import type { ArgumentsOf, BorderName, ValueOf } from './border.js';

/** How long the core computes at a stretch, in milliseconds: about a frame of a page. */
const stretch = 16;

const paced: readonly BorderName[] = ['model_forward', 'generation_step'];

/** Whether a call of this name may come back in between. */
export function isPaced(name: BorderName): boolean {
  return paced.includes(name);
}

/** What runs calls of the border at once. */
export interface Runner {
  run<N extends BorderName>(name: N, given: ArgumentsOf<N>): ValueOf<N>;
}

/** Runs such a call to its end; undefined when `stopped` said so on the way: then the core has let go of it. */
export async function runPaced<N extends BorderName>(
  core: Runner,
  name: N,
  given: ArgumentsOf<N>,
  stopped: () => boolean,
): Promise<ValueOf<N> | undefined> {
  const call = { ...given, yield_after_ms: stretch };
  for (;;) {
    const value = core.run(name, call);
    if (!isPending(value)) return value;
    await nextTurn();
    if (!stopped()) continue;
    core.run(name, { ...given, abandon: true });
    return undefined;
  }
}

function isPending(value: unknown): boolean {
  return (value as { pending?: unknown } | null)?.pending === true;
}
