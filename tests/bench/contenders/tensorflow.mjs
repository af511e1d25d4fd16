// TensorFlow.js with its wasm backend: products and attention of its own operations.
import { sampled, values } from './inputs.mjs';

async function load(spec) {
  const loaded = await import(spec.library);
  const tf = loaded.default ?? loaded;
  tf.setWasmPaths(spec.wasmFolder);
  tf.setThreadsCount(spec.threads);
  await tf.setBackend('wasm');
  await tf.ready();
  return tf;
}

const operations = {
  product(tf, { m, k, n, weight }) {
    const x = tf.tensor2d(values(m * k), [m, k]);
    const w = tf.tensor2d(weight, [k, n]);
    return () => tf.matMul(x, w);
  },
  attention(tf, { n, heads, d }) {
    const part = (phase) => tf.transpose(tf.tensor3d(values(n * heads * d, phase), [n, heads, d]), [1, 0, 2]);
    const [q, k, v] = [part(0), part(1), part(2)];
    return () =>
      tf.tidy(() => {
        const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(d));
        return tf.transpose(tf.matMul(tf.softmax(scores), v), [1, 0, 2]);
      });
  },
};

export async function open(spec) {
  const tf = await load(spec);
  const input = { ...spec.input };
  if (input.kind === 'product') {
    const { RandomNumbers } = await import('../models/random.mjs');
    input.weight = new RandomNumbers(input.k * 31 + input.n).array(input.k * input.n, 0.02);
  }
  const compute = operations[input.kind](tf, input);
  return {
    about: { threads: spec.threads },
    // The wasm backend computes when it is called; reading the result back is not timed.
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
