// TensorFlow.js with its wasm backend: products and attention from its own operations.

import { RandomNumbers } from '../models/random.js';
import type { Input, Spec } from '../types.js';
import { imported } from './imported.js';
import { sampled, values } from './inputs.js';
import type { Running } from './running.js';

export interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

/** The part of TensorFlow.js's interface that is used. */
export interface TensorFlow {
  setWasmPaths(folder: string): void;
  setThreadsCount(count: number): void;
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tidy(work: () => TfTensor): TfTensor;
  tensor1d(values: readonly number[], type: string): TfTensor;
  tensor2d(values: Float32Array, shape: readonly number[]): TfTensor;
  tensor3d(values: Float32Array, shape: readonly number[]): TfTensor;
  moments(x: TfTensor, axis: number, keepDims: boolean): { mean: TfTensor; variance: TfTensor };
  add(a: TfTensor, b: TfTensor | number): TfTensor;
  sub(a: TfTensor, b: TfTensor): TfTensor;
  mul(a: TfTensor, b: TfTensor | number): TfTensor;
  div(a: TfTensor, b: TfTensor): TfTensor;
  sqrt(x: TfTensor): TfTensor;
  relu(x: TfTensor): TfTensor;
  softmax(x: TfTensor): TfTensor;
  matMul(a: TfTensor, b: TfTensor, transposeA?: boolean, transposeB?: boolean): TfTensor;
  gather(x: TfTensor, indices: TfTensor): TfTensor;
  reshape(x: TfTensor, shape: readonly number[]): TfTensor;
  transpose(x: TfTensor, order: readonly number[]): TfTensor;
  split(x: TfTensor, parts: number, axis: number): TfTensor[];
}

async function load(spec: Spec): Promise<TensorFlow> {
  const loaded = (await imported(spec.library)) as TensorFlow & { default?: TensorFlow };
  const tf = loaded.default ?? loaded;
  tf.setWasmPaths(spec.wasmFolder ?? '');
  tf.setThreadsCount(spec.threads);
  await tf.setBackend('wasm');
  await tf.ready();
  return tf;
}

type Operation = (tf: TensorFlow, input: Input) => () => TfTensor;

const operations: Readonly<Record<'product' | 'attention', Operation>> = {
  product(tf, { m = 1, k = 1, n = 1 }) {
    const weight = new RandomNumbers(k * 31 + n).array(k * n, 0.02);
    const x = tf.tensor2d(values(m * k), [m, k]);
    const w = tf.tensor2d(weight, [k, n]);
    return () => tf.matMul(x, w);
  },
  attention(tf, { n = 1, heads = 1, d = 1 }) {
    const part = (phase: number): TfTensor =>
      tf.transpose(tf.tensor3d(values(n * heads * d, phase), [n, heads, d]), [1, 0, 2]);
    const [q, k, v] = [part(0), part(1), part(2)] as const;
    return () =>
      tf.tidy(() => {
        const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(d));
        return tf.transpose(tf.matMul(tf.softmax(scores), v), [1, 0, 2]);
      });
  },
};

export async function open(spec: Spec): Promise<Running> {
  const tf = await load(spec);
  const compute = operations[spec.input.kind === 'attention' ? 'attention' : 'product'](tf, spec.input);
  return {
    about: { threads: spec.threads },
    // The wasm backend computes synchronously; reading the result back is not timed.
    run: () => compute().dispose(),
    async sample() {
      const result = compute();
      const data = await result.data();
      result.dispose();
      return sampled(data);
    },
    close: () => {},
  };
}
