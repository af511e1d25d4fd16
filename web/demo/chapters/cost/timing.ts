// Times of layers on this device: the package's own functions, interleaved, the median of several calls. No call is
// started that would block the page for long.

import { conv1d, matmul, scaled_dot_product_attention, type Tensor, tanh } from 'clearformer';
import { uniform } from '../../book/random.js';
import type { Onnxruntime, PreparedAttention } from './onnxruntime.js';

export const lengths: readonly number[] = [16, 32, 64, 128, 256, 512];
const layerNames = ['self_attention', 'recurrent', 'convolutional'] as const;
/** The layers, and the attention of onnxruntime-web. */
export type Timed = (typeof layerNames)[number] | 'onnxruntime';

export interface Point {
  readonly n: number;
  /** Median, in milliseconds. */
  readonly milliseconds: number;
}

export interface Measured {
  readonly times: Readonly<Record<Timed, readonly Point[]>>;
  /**
   * The largest difference of onnxruntime-web's attention from ours at any length, relative to the largest value; 0
   * without it.
   */
  readonly difference: number;
}

const repeats = 5;
/** Milliseconds; a series ends after a call that took longer. */
export const longest = 25;
/** Both sum up to 512 products in float32 in different orders: about √512 · 2⁻²⁴ = 1.3e-6 in a row. */
const sameWithin = 1e-4;

/** A call for inputs of length n. */
type Layer = (n: number) => () => Promise<unknown>;
type Float = Tensor<'float32'>;

const attentionInputs = (n: number, d: number): [Float, Float, Float] => [
  uniform([n, d], 3),
  uniform([n, d], 4),
  uniform([n, d], 5),
];

function layersOf(d: number, k: number): Record<(typeof layerNames)[number], Layer> {
  const weight = uniform([d, d], 1);
  const kernel = uniform([d, d, k], 2);
  return {
    self_attention(n) {
      const [q, key, v] = attentionInputs(n, d);
      return () => scaled_dot_product_attention(q, key, v);
    },
    convolutional(n) {
      const x = uniform([d, n], 6);
      return () => conv1d(x, kernel, { padding: 'same' });
    },
    recurrent(n) {
      const start = uniform([1, d], 7);
      return async () => {
        let state: Float = start;
        for (let t = 0; t < n; t++) state = await tanh(await matmul(state, weight));
        return state;
      };
    },
  };
}

/** The largest difference of `other`'s attention from ours, relative to the largest value. */
async function differenceOf(other: PreparedAttention, inputs: [Float, Float, Float]): Promise<number> {
  const ours = (await scaled_dot_product_attention(...inputs)).data;
  const theirs = await other();
  const scale = ours.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return ours.reduce((most, value, i) => Math.max(most, Math.abs(value - (theirs[i] ?? Number.NaN)) / scale), 0);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** The median times of each call, called in turns; the first turn is not counted. */
async function timesOf(
  calls: ReadonlyMap<Timed, () => Promise<unknown>>,
  signal: AbortSignal,
): Promise<Map<Timed, number>> {
  const times = new Map<Timed, number[]>();
  for (let turn = 0; turn <= repeats; turn++) {
    for (const [name, call] of calls) {
      signal.throwIfAborted();
      const begun = performance.now();
      await call();
      const took = performance.now() - begun;
      times.set(name, turn === 0 ? [] : [...(times.get(name) ?? []), took]);
      await pause();
    }
  }
  return new Map([...times].map(([name, taken]) => [name, median(taken)]));
}

/** The time of each layer at each length, with `peer` also that of its attention on the same inputs. */
export async function measure(d: number, k: number, signal: AbortSignal, peer?: Onnxruntime): Promise<Measured> {
  const layers = layersOf(d, k);
  const points: Record<Timed, Point[]> = { self_attention: [], onnxruntime: [], recurrent: [], convolutional: [] };
  const slow = new Set<Timed>();
  let difference = 0;
  for (const n of lengths) {
    const calls = new Map<Timed, () => Promise<unknown>>();
    for (const name of layerNames) {
      if (!slow.has(name)) calls.set(name, layers[name](n));
      if (name !== 'self_attention' || !peer || slow.has('onnxruntime')) continue;
      const inputs = attentionInputs(n, d);
      const attention = peer.attention(...inputs);
      difference = Math.max(difference, await differenceOf(attention, inputs));
      // Not `>`: NaN is a difference, too.
      if (!(difference <= sameWithin)) throw new RangeError(`onnxruntime-web computes other numbers: ${difference}`);
      calls.set('onnxruntime', attention);
    }
    for (const [name, milliseconds] of await timesOf(calls, signal)) {
      points[name].push({ n, milliseconds });
      if (milliseconds > longest) slow.add(name);
    }
  }
  return { times: points, difference };
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
