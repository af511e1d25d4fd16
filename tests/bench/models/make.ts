// The contenders' files, made once in build/bench/models: checkpoints for us, graphs with the same weights for the
// peers.

import { mkdirSync } from 'node:fs';
import { digestOf, inProject, unlessFresh } from '../../../scripts/build/fresh.js';
import { writeParts } from '../../../scripts/models/write_parts.js';
import type { OnnxGraph } from '../onnx/graph.js';
import { modelGraph } from '../onnx/models.js';
import { attentionGraph, productGraph } from '../onnx/operations.js';
import type { ModelName, Source } from '../types.js';
import { checkpointFiles } from './checkpoint.js';
import { writeGguf } from './gguf.js';
import { shapes } from './shapes.js';
import { randomWeights, type Weights } from './weights.js';

const modelsFolder = 'build/bench/models';
const inputs = (): string[] => ['tests/bench/onnx', 'tests/bench/models'].map((name) => inProject(name));

/** Makes one set of files unless it exists as made by the current scripts. */
async function made(
  folder: string,
  name: string,
  outputs: readonly string[],
  make: (path: string) => void,
): Promise<void> {
  const path = inProject(modelsFolder, folder);
  const recipe = {
    stamp: inProject(modelsFolder, folder, `${name}.stamp`),
    digest: digestOf(inputs()),
    outputs: outputs.map((file) => `${path}/${file}`),
  };
  await unlessFresh(recipe, () => {
    mkdirSync(path, { recursive: true });
    console.log(`• Making ${folder}/${name}`);
    make(path);
  });
}

let latest: { model: ModelName; weights: Weights } | undefined;

function weightsOf(model: ModelName): Weights {
  if (latest?.model !== model) latest = { model, weights: randomWeights(shapes[model]) };
  return latest.weights;
}

/** NAME.onnx and NAME.bin. */
export function writeGraph(folder: string, name: string, made: OnnxGraph): void {
  const { graph, data } = made.external(name);
  writeParts(`${folder}/${name}.onnx`, [graph]);
  writeParts(`${folder}/${name}.bin`, data);
}

async function graphFiles(folder: string, name: string, make: () => OnnxGraph): Promise<string> {
  await made(folder, name, [`${name}.onnx`, `${name}.bin`], (path) => writeGraph(path, name, make()));
  return `${modelsFolder}/${folder}/${name}`;
}

/** Makes what `source` describes; resolves to its path. */
export async function makeSource(source: Source): Promise<string> {
  if (source.make === 'checkpoint') {
    const { model } = source;
    const write = (path: string): void => {
      const files = checkpointFiles(shapes[model], weightsOf(model));
      for (const [name, parts] of Object.entries(files)) writeParts(`${path}/${name}`, parts);
    };
    await made(model, 'checkpoint', ['model.safetensors', 'config.json'], write);
    return `${modelsFolder}/${model}`;
  }
  if (source.make === 'gguf') {
    const { model, precision } = source;
    const path = `${modelsFolder}/${model}/gguf-${precision}`;
    const write = (): void => writeGguf(inProject(`${path}.gguf`), shapes[model], weightsOf(model), precision);
    await made(model, `gguf-${precision}`, [`gguf-${precision}.gguf`], write);
    return path;
  }
  if (source.make === 'model') {
    const { model, precision } = source;
    return graphFiles(model, precision, () => modelGraph(shapes[model], weightsOf(model), precision));
  }
  if (source.make === 'product') {
    const { m, k, n, precision } = source;
    return graphFiles(`matmul-${m}x${k}x${n}`, precision, () => productGraph({ m, k, n }, precision));
  }
  const { n, causal, form } = source;
  return graphFiles(`attention-${n}${causal ? '-causal' : ''}`, form, () => attentionGraph(source, form));
}
