// From import to the first result of a tiny model: each library is imported, loads, and processes eight tokens, in one
// run.

import type { LoadOptions } from 'clearformer';
import type { Spec } from '../types.js';
import { imported } from './imported.js';
import { values } from './inputs.js';
import type { Ort } from './onnxruntime.js';
import type { Running } from './running.js';
import type { TensorFlow, TfTensor } from './tensorflow.js';

const tokenIds = [1, 403, 407, 261, 378, 5, 6, 7];

async function clearformer({ library, checkpoint = '', variant }: Spec): Promise<void> {
  const { AutoModelForCausalLM } = (await imported(library)) as typeof import('clearformer');
  const options: LoadOptions = { deterministic: variant === 'simd128', cache: 'none', numThreads: 1 }; // as the others
  const model = await AutoModelForCausalLM.from_pretrained(checkpoint, options);
  await model.generate({ input_ids: [tokenIds] }, { max_new_tokens: 1, do_sample: false });
}

async function onnxruntime({ library, wasmFolder = '', graph: given, shape }: Spec): Promise<void> {
  const graph = String(given);
  const ort = (await imported(library)) as Ort;
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = wasmFolder;
  const bytes = async (url: string): Promise<Uint8Array> => new Uint8Array(await (await fetch(url)).arrayBuffer());
  const [model, data] = await Promise.all([bytes(`${graph}.onnx`), bytes(`${graph}.bin`)]);
  const path = `${graph.slice(graph.lastIndexOf('/') + 1)}.bin`;
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['wasm'],
    externalData: [{ path, data }],
  });
  const dims = [1, tokenIds.length];
  if (!shape) throw new Error('the shape of the model is missing');
  const feeds: Record<string, InstanceType<Ort['Tensor']>> = {
    input_ids: new ort.Tensor('int64', BigInt64Array.from(tokenIds, BigInt), dims),
    position_ids: new ort.Tensor(
      'int64',
      BigInt64Array.from(tokenIds, (_, i) => BigInt(i)),
      dims,
    ),
  };
  for (let i = 0; i < shape.layers; i += 1) {
    const past = [2, 1, shape.heads, 0, shape.d / shape.heads];
    feeds[`past_${i}`] = new ort.Tensor('float32', new Float32Array(0), past);
  }
  await session.run(feeds, ['logits']);
}

/**
 * A pre-norm decoder of the same shape in TensorFlow.js's operations, with generated weights, which need no download.
 */
async function tensorflow({ library, wasmFolder = '', shape }: Spec): Promise<void> {
  if (!shape) throw new Error('the shape of the model is missing');
  const tf = (await imported(library)) as TensorFlow;
  tf.setWasmPaths(wasmFolder);
  tf.setThreadsCount(1);
  await tf.setBackend('wasm');
  await tf.ready();
  const { d, heads, hidden, vocabulary, layers } = shape;
  const matrix = (rows: number, columns: number): TfTensor => tf.tensor2d(values(rows * columns), [rows, columns]);
  const table = matrix(vocabulary, d);
  const blocks = Array.from({ length: layers }, () => ({
    qkv: matrix(d, 3 * d),
    mix: matrix(d, d),
    up: matrix(d, hidden),
    down: matrix(hidden, d),
  }));
  const normed = (x: TfTensor): TfTensor => {
    const { mean, variance } = tf.moments(x, -1, true);
    return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5)));
  };
  const toHeads = (x: TfTensor): TfTensor =>
    tf.transpose(tf.reshape(x, [tokenIds.length, heads, d / heads]), [1, 0, 2]);
  const attend = (x: TfTensor, { qkv, mix }: { qkv: TfTensor; mix: TfTensor }): TfTensor => {
    const [q, k, v] = tf.split(tf.matMul(x, qkv), 3, 1).map(toHeads);
    if (!q || !k || !v) throw new Error('queries, keys and values were not split');
    const weights = tf.softmax(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(d / heads)));
    return tf.matMul(tf.reshape(tf.transpose(tf.matMul(weights, v), [1, 0, 2]), [tokenIds.length, d]), mix);
  };
  let x = tf.gather(table, tf.tensor1d(tokenIds, 'int32'));
  for (const block of blocks) {
    x = tf.add(x, attend(normed(x), block));
    x = tf.add(x, tf.matMul(tf.relu(tf.matMul(normed(x), block.up)), block.down));
  }
  await tf.matMul(normed(x), table, false, true).data();
}

const starts: Partial<Record<NonNullable<Spec['starts']>, (spec: Spec) => Promise<void>>> = {
  clearformer,
  onnxruntime,
  tensorflow,
};

export async function open(spec: Spec): Promise<Running> {
  const start = starts[spec.starts ?? 'clearformer'];
  if (start === undefined) throw new Error(`${spec.starts} does not start a library`);
  return { about: {}, run: () => start(spec), sample: () => undefined, close: () => {} };
}
