// Tests whether this engine executes WebAssembly correctly: small computations with known results, before a core is
// used. The core itself tests integer products when a q8 or q4 checkpoint is opened.

import { ClearformerError } from '../support/error.js';
import type { TensorIn } from './border.js';
import type { Runner } from './paced.js';

// Sizes that cover whole registers and tails; integers, whose sums are exact in every build. The time is that of compiling
// the functions, which the first pass needs as well: larger sizes take no longer.
const [rows, inner, columns] = [3, 9, 19];
const x = Float32Array.from({ length: rows * inner }, (_, i) => ((i * 7) % 23) - 11);
const y = Float32Array.from({ length: inner * columns }, (_, i) => ((i * 5) % 31) - 15);

// A softmax, correct to the bit where products are rounded before they are added.
const scores = Float32Array.of(-80, -20, -7.25, -3.3, -1, -0.5, 0, 0.7, 1.9, 2.5, 3.1);
const shares = Float32Array.of(
  ...[4.00259539e-37, 4.57098491e-11, 1.57494142e-5, 8.1795227e-4, 0.00815840252, 0.0134509318],
  ...[0.0221768357, 0.0446586721, 0.148271993, 0.270169169, 0.492280304],
);
/** Relaxed SIMD fuses some multiply-adds: a difference of a few ulps. */
const relaxedError = 2 ** -20;

/** What is wrong with an element of x·y, or undefined. */
function wrongProduct(found: TensorIn['data']): string | undefined {
  for (let i = 0; i < rows * columns; i++) {
    let sum = 0;
    for (let k = 0; k < inner; k++)
      sum += (x[Math.floor(i / columns) * inner + k] as number) * (y[k * columns + (i % columns)] as number);
    if (found[i] !== sum) return `element ${i} of a matrix product is ${found[i]} instead of ${sum}`;
  }
  return undefined;
}

/**
 * Throws `unsupported`, naming engine, build and difference, if the core computes wrong results. Takes about a
 * millisecond; once for a compiled build.
 */
export function selfTest(core: Runner): void {
  const tensor = (data: TensorIn['data'], ...dims: number[]): TensorIn => ({ data, dims });
  const wrong = wrongProduct(core.run('matmul', { x: tensor(x, rows, inner), y: tensor(y, inner, columns) }).data);
  const found = core.run('softmax', { x: tensor(scores, scores.length), axis: 0 }).data;
  const worst = found.reduce((most, share, i) => Math.max(most, Math.abs(share / (shares[i] as number) - 1)), 0);
  if (wrong === undefined && worst === 0) return;
  const { simd, version } = core.run('build_info', {});
  if (wrong === undefined && simd === 'relaxed' && worst <= relaxedError) return;
  const why = wrong ?? `a softmax is wrong by ${worst} of a share`;
  const { navigator, process } = globalThis as {
    navigator?: { userAgent?: string };
    process?: { versions?: Record<string, string> };
  };
  const engine = navigator?.userAgent ?? `Node ${process?.versions?.node}, V8 ${process?.versions?.v8}`;
  const build = `clearformer ${version}, ${simd}`;
  throw new ClearformerError('unsupported', `this engine computes wrong (${engine}; ${build}): ${why}`);
}
