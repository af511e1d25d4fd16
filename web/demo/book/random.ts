// Random numbers reproducible from a seed on every device.

import { Tensor } from 'clearformer';

type Float = Tensor<'float32'>;

/** A generator of uniform numbers in [0, 1): mulberry32. */
export function uniformly(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Uniform in [−1, 1). */
export function uniform(dims: readonly number[], seed: number): Float {
  const next = uniformly(seed);
  const size = dims.reduce((product, extent) => product * extent, 1);
  return new Tensor(
    'float32',
    Float32Array.from({ length: size }, () => 2 * next() - 1),
    dims,
  );
}

/** [rows, columns] with mean 0 and variance 1 (Box and Muller 1958). */
export function normal(rows: number, columns: number, seed: number): Float {
  const next = uniformly(seed);
  const draw = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return new Tensor('float32', Float32Array.from({ length: rows * columns }, draw), [rows, columns]);
}
