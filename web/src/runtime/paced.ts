// Long calls of the core return between two layers with { pending: true } (cpp/bindings/pace.h) and are repeated, so
// that the event loop runs and an abort takes effect within a layer.

import { nextTurn } from '../support/platform.js';
import type { ArgumentsOf, BorderName, ValueOf } from './border.js';

/** Time slice of the core in milliseconds: about a frame of a page. */
const stretch = 16;

const paced = /^(?:model_(?:forward|gradient)|optimizer_backward|generation_step|log_mel)/;

/** Whether a call of this name may return early. */
export function isPaced(name: BorderName): boolean {
  return paced.test(name);
}

/** Runs functions of the core synchronously. */
export interface Runner {
  run<N extends BorderName>(name: N, given: ArgumentsOf<N>): ValueOf<N>;
}

/**
 * Runs such a call to completion; undefined if `stopped` returned true on the way, after which the core has abandoned
 * it.
 */
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
