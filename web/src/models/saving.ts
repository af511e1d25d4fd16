// Models and adapters as files that transformers and PEFT open. Loaded at the first call.

import type { Handle } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import type { Browser } from '../support/browser_types.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { isNode, nodeModule } from '../support/platform.js';
import { toSafetensors } from '../tensor/safetensors.js';
import { Tensor } from '../tensor/tensor.js';
import { type AdaptedModel, requireKnown } from './adapters.js';
import { classFor } from './class_names.js';
import { json } from './generation_settings.js';

/** The bytes of a file, in memory that threads do not share, for which TypeScript before 5.7 has no name. */
type Bytes = ReturnType<Uint8Array['slice']>;

/** Files by name, which are also a source for `from_pretrained` and `load_adapter`. */
export type SavedFiles = Record<string, Bytes>;

/** Where files are written: a directory handle, or a path (Node); without it they are only returned. */
export type Destination = string | Browser<'FileSystemDirectoryHandle'>;

/** Options of `save_pretrained`. */
export interface SaveOptions {
  /** Write the numbers that q8 and q4 weights stand for; otherwise such a model is refused (false). */
  dequantize?: boolean | undefined;
}

/** @internal A model, as far as its files need it. */
export interface SavedModel extends AdaptedModel {
  readonly cfg: { readonly task: string };
  readonly files: { texts: { config: string; generation: string | undefined } };
  readonly generation_config: Readonly<Record<string, unknown>>;
  /** What was changed there, if it generates. */
  readonly changes?: string | undefined;
}

/**
 * @internal The model's weights with the edits in force, its configuration and generation options. Calls `issued` once
 * later calls may follow.
 */
export async function savePretrained(
  model: SavedModel,
  destination: Destination | undefined,
  options: SaveOptions,
  issued: () => void,
): Promise<SavedFiles> {
  const call = 'save_pretrained';
  checkOptions(call, options, ['dequantize']);
  const generation = generationOf(model);
  const { engine, model: handle } = model.open();
  const own = { model: handle };
  const { parameters, frequencies } = await engine.call('parameter_list', own);
  const quantized = parameters.find((one) => one.quantized);
  if (quantized !== undefined && !options.dequantize) {
    const remedy = "load the model with dtype 'fp32', or pass dequantize: true for the rounded numbers";
    throw new ClearformerError('unsupported', `${call}: ${quantized.name} is in ${quantized.dtype}: ${remedy}`, {
      tensor: quantized.name,
    });
  }
  const files: SavedFiles = {
    'config.json': encoded(describing(model.cfg.task, model.files.texts.config)),
    'model.safetensors': await safetensors(engine, own, parameters, issued, esmBuffer(parameters, frequencies)),
  };
  if (generation !== undefined) files['generation_config.json'] = encoded(generation);
  return written(call, destination, files);
}

/** @internal An adapter as PEFT's folder. Calls `issued` once later calls may follow. */
export async function saveAdapter(
  model: AdaptedModel,
  adapter: string,
  destination: Destination | undefined,
  issued: () => void,
): Promise<SavedFiles> {
  const text = requireKnown(model, adapter);
  const { engine, model: handle } = model.open();
  const own = { model: handle, adapter };
  const { parameters } = await engine.call('parameter_list', own);
  const files = {
    'adapter_config.json': encoded(text),
    'adapter_model.safetensors': await safetensors(engine, own, parameters, issued),
  };
  return written('save_adapter', destination, files);
}

/**
 * The file with the class of the model that is saved, and the type of the numbers written, also in its parts (CLIP's
 * text_config). Its other numbers keep their spelling: transformers takes no 0 for 0.0.
 */
function describing(task: string, text: string): string {
  return text
    .replace(/("architectures"\s*:\s*\[\s*)"(\w+)"/, (_, before, named) => `${before}"${classFor(task, named)}"`)
    .replace(/("(?:torch_)?dtype"\s*:\s*)"\w*"/g, '$1"float32"');
}

/** The text that was read, unless it was changed. Python's floats keep a point: transformers takes no 2 for 2.0. */
function generationOf({ changes, generation_config, files }: SavedModel): string | undefined {
  if (changes === undefined) return files.texts.generation;
  return json(generation_config, 2)?.replace(/("(temperature|\w+_(penalty|p|cutoff))": -?\d+)(?=[,\n])/g, '$1.0');
}

/** ESM's frequencies, under the name of transformers 5 with the prefix that the weights have. */
function esmBuffer(
  parameters: readonly { name: string }[],
  frequencies: { data: Float32Array; dims: number[] } | undefined,
): Record<string, Tensor> {
  if (frequencies === undefined) return {};
  const words = parameters.find(({ name }) => name.endsWith('embeddings.word_embeddings.weight'))?.name ?? '';
  const { data, dims } = frequencies;
  return { [`${words.replace(/embeddings\..*/, '')}rotary_embeddings.inv_freq`]: new Tensor('float32', data, dims) };
}

/**
 * The tensors of one moment: the core is asked for all of them before later calls follow. As Python's safetensors with
 * transformers' note of the framework, which its reader requires.
 */
async function safetensors(
  engine: Engine,
  own: { model: Handle; adapter?: string },
  listed: readonly { name: string }[],
  issued: () => void,
  others: Record<string, Tensor> = {},
): Promise<Bytes> {
  const reading = listed.map(async ({ name }): Promise<[string, Tensor]> => {
    const { data, dims } = await engine.call('parameter_read', { ...own, name });
    return [name, new Tensor('float32', data, dims)];
  });
  issued();
  return toSafetensors({ ...Object.fromEntries(await Promise.all(reading)), ...others }, { format: 'pt' }) as Bytes;
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

async function written(call: string, destination: unknown, files: SavedFiles): Promise<SavedFiles> {
  if (destination === undefined) return files;
  try {
    if (typeof destination === 'string' && isNode()) await writePath(destination, files);
    else await writeHandle(call, destination, files);
  } catch (thrown) {
    if (thrown instanceof ClearformerError) throw thrown;
    throw new ClearformerError('invalid_argument', `${call}: could not write (${messageOf(thrown)})`, {}, thrown);
  }
  return files;
}

async function writePath(path: string, files: SavedFiles): Promise<void> {
  const { mkdir, writeFile } = nodeModule('node:fs/promises');
  await mkdir(path, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(nodeModule('node:path').join(path, name), bytes);
}

async function writeHandle(call: string, destination: unknown, files: SavedFiles): Promise<void> {
  if (typeof (destination as FileSystemDirectoryHandle | null)?.getFileHandle !== 'function') {
    const rule = 'a directory handle, or with Node a path';
    throw new ClearformerError('invalid_argument', `${call}: the destination is ${rule}, got ${textOf(destination)}`);
  }
  for (const [name, bytes] of Object.entries(files)) {
    const file = await (destination as FileSystemDirectoryHandle).getFileHandle(name, { create: true });
    const stream = await file.createWritable();
    await stream.write(bytes);
    await stream.close();
  }
}
