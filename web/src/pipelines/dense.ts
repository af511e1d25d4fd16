// Dense layers of sentence-transformers, which map pooled vectors: y = act(x Wᵀ + b). The core computes them
// (cpp/clearformer/modules/sentence_transformers.cpp).

import { expectNone } from '../checkpoint/file_rules.js';
import { notFound, type ReadOptions, readChunks, readRequired } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { tensorIn } from '../models/pooling.js';
import { createModule } from '../primitives/module.js';
import type { Handle, PlainOptions } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { copied } from '../support/copied.js';
import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import { brokenSentenceRules } from './sentence_rules.js';

/** A layer: its options and, until the core has them, its weights as a safetensors file. */
export interface DenseLayer {
  readonly options: PlainOptions;
  weights: Uint8Array | undefined;
  module: Promise<Handle> | undefined;
}

/** Reads the folder of a layer, whose path ends with a slash. Rejects as files do, and with `unsupported` for a pickle. */
export async function readDense(folder: Folder, path: string, options: ReadOptions): Promise<DenseLayer> {
  const name = `${path}config.json`;
  const values = JSON.parse((await readRequired(folder, name, options)).text);
  expectNone(brokenSentenceRules('Dense/config.json', values, name));
  const { in_features, out_features, bias = true, activation_function } = values;
  const told = { in_features, out_features, bias, ...(activation_function && { activation_function }) };
  return { options: told, weights: await readWeights(folder, path, options), module: undefined };
}

async function readWeights(folder: Folder, path: string, options: ReadOptions): Promise<Uint8Array> {
  const [name, pickle] = [`${path}model.safetensors`, `${path}pytorch_model.bin`];
  const file = await folder.find(name, options.signal);
  if (file === undefined || file.html) {
    if ((await folder.find(pickle, options.signal)) === undefined) throw notFound(folder, name);
    const why = `${pickle} is a pickle, which is not read: save the folder with sentence-transformers again`;
    throw new ClearformerError('unsupported', `${why}, which writes ${name} (${folder.where})`, { file: pickle });
  }
  const chunks: BlobPart[] = [];
  for await (const chunk of readChunks(file, options)) chunks.push(copied(chunk));
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The layers as modules of the core. Rejects if a layer's weights or sizes do not fit. */
export async function modulesOf(engine: Engine, layers: readonly DenseLayer[]): Promise<Handle[]> {
  const modules: Handle[] = [];
  for (const layer of layers) {
    layer.module ??= createModule(engine, 'sentence_transformers.Dense', layer.options, layer.weights ?? {});
    modules.push(await layer.module);
    layer.weights = undefined;
  }
  return modules;
}

/** Vectors [text, in_features] after all layers. */
export async function project(
  engine: Engine,
  layers: readonly DenseLayer[],
  vectors: Tensor<'float32'>,
): Promise<Tensor<'float32'>> {
  let found = vectors;
  for (const module of await modulesOf(engine, layers)) {
    const tensors = { input: tensorIn(found) };
    found = toTensor((await engine.call('module_forward', { module, tensors, masks: {} })).output);
  }
  return found;
}
