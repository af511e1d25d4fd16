// From import to the first result of a tiny model: each library is imported, loads, and reads eight tokens, in one run.
import { values } from './inputs.mjs';

const IDS = [1, 403, 407, 261, 378, 5, 6, 7];

async function clearformer({ library, checkpoint, variant }) {
  const { AutoModelForCausalLM } = await import(library);
  const options = { deterministic: variant === 'simd128', cache: 'none', numThreads: 1 }; // as the others
  const model = await AutoModelForCausalLM.from_pretrained(checkpoint, options);
  await model.generate({ input_ids: [IDS] }, { max_new_tokens: 1, do_sample: false });
}

async function onnxruntime({ library, wasmFolder, graph, shape }) {
  const ort = await import(library);
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = wasmFolder;
  const bytes = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());
  const [model, data] = await Promise.all([bytes(`${graph}.onnx`), bytes(`${graph}.bin`)]);
  const path = `${graph.slice(graph.lastIndexOf('/') + 1)}.bin`;
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['wasm'],
    externalData: [{ path, data }],
  });
  const dims = [1, IDS.length];
  const feeds = {
    input_ids: new ort.Tensor('int64', BigInt64Array.from(IDS, BigInt), dims),
    position_ids: new ort.Tensor(
      'int64',
      BigInt64Array.from(IDS, (_, i) => BigInt(i)),
      dims,
    ),
  };
  for (let i = 0; i < shape.layers; i += 1) {
    const past = [2, 1, shape.heads, 0, shape.d / shape.heads];
    feeds[`past_${i}`] = new ort.Tensor('float32', new Float32Array(0), past);
  }
  await session.run(feeds, ['logits']);
}

/** A pre-norm decoder of the same shape in TensorFlow.js's operations, on made-up weights, which it need not fetch. */
async function tensorflow({ library, wasmFolder, shape }) {
  const tf = await import(library);
  tf.setWasmPaths(wasmFolder);
  tf.setThreadsCount(1);
  await tf.setBackend('wasm');
  await tf.ready();
  const { d, heads, hidden, vocabulary, layers } = shape;
  const matrix = (rows, columns) => tf.tensor2d(values(rows * columns), [rows, columns]);
  const table = matrix(vocabulary, d);
  const blocks = Array.from({ length: layers }, () => ({
    qkv: matrix(d, 3 * d),
    mix: matrix(d, d),
    up: matrix(d, hidden),
    down: matrix(hidden, d),
  }));
  const normed = (x) => {
    const { mean, variance } = tf.moments(x, -1, true);
    return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5)));
  };
  const toHeads = (x) => tf.transpose(tf.reshape(x, [IDS.length, heads, d / heads]), [1, 0, 2]);
  const attend = (x, { qkv, mix }) => {
    const [q, k, v] = tf.split(tf.matMul(x, qkv), 3, 1).map(toHeads);
    const weights = tf.softmax(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(d / heads)));
    return tf.matMul(tf.reshape(tf.transpose(tf.matMul(weights, v), [1, 0, 2]), [IDS.length, d]), mix);
  };
  let x = tf.gather(table, tf.tensor1d(IDS, 'int32'));
  for (const block of blocks) {
    x = tf.add(x, attend(normed(x), block));
    x = tf.add(x, tf.matMul(tf.relu(tf.matMul(normed(x), block.up)), block.down));
  }
  await tf.matMul(normed(x), table, false, true).data();
}

const starts = { clearformer, onnxruntime, tensorflow };

export async function open(spec) {
  return { about: {}, run: () => starts[spec.starts](spec), sample: () => undefined, close: () => {} };
}
