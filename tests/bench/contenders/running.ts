// An open contender, and the time of its runs.

import type { About, Sample } from '../types.js';

/** An open contender. Kernels and wllama time themselves: `timed(repetitions)` returns the milliseconds of one run. */
export interface Running {
  about: About;
  run?(): unknown;
  /** After each run, not timed. */
  after?: (() => Promise<unknown>) | undefined;
  timed?(repetitions: number): number | Promise<number>;
  sample(): Promise<Sample> | undefined;
  close(): unknown;
}

/** Milliseconds of one run, averaged over as many runs as fill `budget` milliseconds. */
export async function averaged({ run, after }: Running, budget: number): Promise<number> {
  let total = 0;
  let runs = 0;
  while (runs === 0 || total < budget) {
    const start = performance.now();
    await run?.();
    total += performance.now() - start;
    runs += 1;
    await after?.();
  }
  return total / runs;
}
