// Our kernels by themselves, and the machine's peak rates: the module of tests/bench/kernels, which times itself.

import type { Spec } from '../types.js';
import { imported } from './imported.js';
import type { Running } from './running.js';

/** The exports of tests/bench/kernels. */
interface Kernels {
  UTF8ToString(at: number): string;
  _bench_names(): number;
  /** Seconds. */
  _bench_run(index: number, m: number, k: number, n: number, repetitions: number): number;
}

let module: Kernels | undefined;

/** One instance per page or process for all works: kernel and peak rate are timed in the same memory. */
async function instance(spec: Spec): Promise<Kernels> {
  if (module === undefined) {
    const { default: create } = (await imported(spec.library)) as { default: () => Promise<Kernels> };
    module = await create();
  }
  return module;
}

export async function open(spec: Spec): Promise<Running> {
  const { work = '', m = 1, k = 1, n = 1 } = spec.input;
  const core = await instance(spec);
  const names = core.UTF8ToString(core._bench_names()).split(' ');
  const index = names.indexOf(work);
  if (index < 0) throw new Error(`${work}: this build has no such kernel`);
  return {
    about: { simd: spec.variant },
    /** Milliseconds of one run. */
    timed: (repetitions: number) => (core._bench_run(index, m, k, n, repetitions) * 1000) / repetitions,
    sample: () => undefined,
    close: () => {},
  };
}
