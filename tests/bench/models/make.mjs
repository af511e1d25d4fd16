// What the contenders load, made once in build/bench/models: checkpoints for us, graphs of the same numbers for the peers.
import { mkdirSync } from 'node:fs';

import { digestOf, inProject, unlessFresh } from '../../../scripts/build/fresh.mjs';
import { modelGraph } from '../onnx/models.mjs';
import { attentionGraph, productGraph } from '../onnx/operations.mjs';
import { writeCheckpoint } from './checkpoint.mjs';
import { SHAPES } from './shapes.mjs';
import { randomWeights } from './weights.mjs';

const MODELS = 'build/bench/models';
const inputs = () => ['tests/bench/onnx', 'tests/bench/models'].map((name) => inProject(name));

/** Makes one file set unless it is there as today's scripts make it. */
async function made(folder, name, outputs, make) {
  const path = inProject(MODELS, folder);
  const recipe = {
    stamp: inProject(MODELS, folder, `${name}.stamp`),
    digest: digestOf(inputs()),
    outputs: outputs.map((file) => `${path}/${file}`),
  };
  await unlessFresh(recipe, () => {
    mkdirSync(path, { recursive: true });
    console.log(`• Making ${folder}/${name}`);
    make(path);
  });
}

let latest = { model: undefined, weights: undefined };
function weightsOf(model) {
  if (latest.model !== model) latest = { model, weights: randomWeights(SHAPES[model]) };
  return latest.weights;
}

const makers = {
  async checkpoint({ model }) {
    const write = (path) => writeCheckpoint(path, SHAPES[model], weightsOf(model));
    await made(model, 'checkpoint', ['model.safetensors', 'config.json'], write);
    return `${MODELS}/${model}`;
  },
  async model({ model, precision }) {
    const write = (path) => modelGraph(SHAPES[model], weightsOf(model), precision).write(path, precision);
    await made(model, precision, [`${precision}.onnx`, `${precision}.bin`], write);
    return `${MODELS}/${model}/${precision}`;
  },
  async product({ m, k, n, precision }) {
    const folder = `matmul-${m}x${k}x${n}`;
    const write = (path) => productGraph({ m, k, n }, precision).write(path, precision);
    await made(folder, precision, [`${precision}.onnx`, `${precision}.bin`], write);
    return `${MODELS}/${folder}/${precision}`;
  },
  async attention({ n, heads, d, causal, form }) {
    const folder = `attention-${n}${causal ? '-causal' : ''}`;
    const write = (path) => attentionGraph({ n, heads, d, causal }, form).write(path, form);
    await made(folder, form, [`${form}.onnx`, `${form}.bin`], write);
    return `${MODELS}/${folder}/${form}`;
  },
};

/** Makes what `source` ({ make: 'checkpoint' | 'model' | 'product' | 'attention', … }) describes; resolves to its path. */
export const makeSource = (source) => makers[source.make](source);
