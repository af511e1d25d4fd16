// Times of layers on this device: the package's own functions, interleaved, the median of several calls. No call is
// started that would block the page for long.

import { conv1d, matmul, scaled_dot_product_attention, type Tensor, tanh } from 'clearformer';
import { uniform } from '../../book/random.js';

export const lengths: readonly number[] = [16, 32, 64, 128, 256, 512];
export type Timed = 'self_attention' | 'recurrent' | 'convolutional';
export const timed: readonly Timed[] = ['self_attention', 'recurrent', 'convolutional'];

export interface Point {
  readonly n: number;
  /** Median, in milliseconds. */
  readonly milliseconds: number;
}

const repeats = 5;
/** Milliseconds; a series ends after a call that took longer. */
const longest = 25;

type Layer = (n: number) => Promise<unknown>;

function layersOf(d: number, k: number): Record<Timed, Layer> {
  const weight = uniform([d, d], 1);
  const kernel = uniform([d, d, k], 2);
  return {
    async self_attention(n) {
      const [q, key, v] = [uniform([n, d], 3), uniform([n, d], 4), uniform([n, d], 5)];
      return () => scaled_dot_product_attention(q, key, v);
    },
    async convolutional(n) {
      const x = uniform([d, n], 6);
      return () => conv1d(x, kernel, { padding: 'same' });
    },
    async recurrent(n) {
      const start = uniform([1, d], 7);
      return async () => {
        let state: Tensor<'float32'> = start;
        for (let t = 0; t < n; t++) state = await tanh(await matmul(state, weight));
        return state;
      };
    },
  };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Milliseconds of each layer at each length. */
export async function measure(d: number, k: number, signal: AbortSignal): Promise<Record<Timed, Point[]>> {
  const layers = layersOf(d, k);
  const series: Record<Timed, Point[]> = { self_attention: [], recurrent: [], convolutional: [] };
  const slow = new Set<Timed>();
  for (const n of lengths) {
    const times: Record<Timed, number[]> = { self_attention: [], recurrent: [], convolutional: [] };
    const calls = await Promise.all(timed.map((name) => layers[name](n) as Promise<() => Promise<unknown>>));
    for (let turn = 0; turn <= repeats; turn++) {
      for (const [i, name] of timed.entries()) {
        signal.throwIfAborted();
        if (slow.has(name)) continue;
        const begun = performance.now();
        await calls[i]?.();
        const took = performance.now() - begun;
        if (turn > 0) times[name].push(took); // the first is a warm-up
        await pause();
      }
    }
    for (const name of timed) {
      if (times[name].length === 0) continue;
      const milliseconds = median(times[name]);
      series[name].push({ n, milliseconds });
      if (milliseconds > longest) slow.add(name);
    }
  }
  return series;
}

/** The median time of a call, after one warm-up call. */
export async function medianTime(call: () => Promise<unknown>, turns: number, signal: AbortSignal): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn <= turns; turn++) {
    signal.throwIfAborted();
    const begun = performance.now();
    await call();
    if (turn > 0) times.push(performance.now() - begun);
  }
  return median(times);
}
