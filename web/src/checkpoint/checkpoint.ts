// Loads a checkpoint into the core: finds its files and their sizes, and streams the weights into the core's memory.

import type { ArgumentsOf, Handle, WeightType } from '../runtime/border.js';
import type { BuildInfo } from '../runtime/build_info.js';
import type { Engine } from '../runtime/engine.js';
import { releaseSpareMemory } from '../support/chunk_memory.js';
import { isMissing } from '../support/error.js';
import { loadPart } from '../support/platform.js';
import {
  checkIntegrity,
  indexName,
  notFound,
  type ReadOptions,
  readChunks,
  readOptional,
  readRequired,
  type TextFile,
  weightsName,
} from './files.js';
import type { Folder, SourceFile, WeightsFile } from './folder.js';
import { Progress, type ProgressCallback } from './progress.js';

/** How a checkpoint is loaded. */
export interface CheckpointOptions extends ReadOptions {
  progress_callback?: ProgressCallback | undefined;
  /** The format of the weights of linear layers; `fp32` by default. */
  dtype?: WeightType | undefined;
}

/** A checkpoint in the core's memory, with its JSON files. */
export interface Checkpoint {
  handle: Handle;
  config: TextFile;
  generationConfig: TextFile | undefined;
  progress: Progress;
  build: BuildInfo;
}

/** A chunk is 64 kB to some megabytes. */
const writesAtOnce = 4;

/** Loads a whole checkpoint into the engine's core, which may still be starting. The handle is for model_create. */
export async function loadCheckpoint(
  folder: Folder,
  starting: Promise<Engine>,
  task: string | undefined,
  options: CheckpointOptions,
): Promise<Checkpoint> {
  const others = Promise.all([
    readOptional(folder, 'generation_config.json', options),
    findWeights(folder, starting, options),
  ]);
  others.catch(() => {}); // errors of config.json take precedence
  const core = starting.then((engine) => engine.call('build_info', {}));
  core.catch(() => {});
  const config = await readConfig(folder, starting, task, options);
  const [generationConfig, weights] = await others;
  const texts = [config, generationConfig, weights.index].filter((text) => text !== undefined);
  const sizes = new Map(texts.map((text) => [text.name, text.bytes]));
  for (const { file, bytes } of weights.files) sizes.set(file.name, bytes);
  checkIntegrity(options.integrity, [...sizes.keys()]);
  const progress = new Progress(folder.where, sizes, options.progress_callback);
  for (const text of texts) {
    progress.add(text.name, text.bytes);
    progress.done(text.name);
  }
  const engine = await starting;
  const dtype = options.dtype ?? 'fp32';
  const described = { config: config.text, ...(task !== undefined && { task }) };
  const generation = generationConfig && { generation_config: generationConfig.text };
  const { most_heap_bytes, version, simd, dot_bits } = await core;
  const bytes = weights.files.reduce((sum, file) => sum + file.bytes, 0);
  // float16 becomes float32
  if (2 * bytes > most_heap_bytes)
    await expectFit(engine, weights, { ...described, ...generation, dtype }, options.signal);
  const { index } = weights;
  const places = index && { index: index.text, index_name: index.name };
  const { checkpoint: handle } = await engine.call('checkpoint_open', {
    dtype,
    config_name: config.name,
    ...described,
    ...places,
  });
  for (const { file, bytes } of weights.files) await streamFile(engine, handle, file, bytes, progress, options);
  return { handle, config, generationConfig, progress, build: { version, simd, dot_bits } };
}

/** For weights that may exceed the memory, reads the headers first and checks them. */
async function expectFit(
  engine: Engine,
  { files, index }: FoundWeights,
  described: Omit<ArgumentsOf<'inspect'>, 'files' | 'index'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { checkHeaders } = await import('./check_headers.js');
  await checkHeaders(engine, files, { ...described, ...(index && { index: index.text }) }, signal);
}

/** Reads config.json; an unsupported model is rejected before its weights are read. */
async function readConfig(
  folder: Folder,
  starting: Promise<Engine>,
  task: string | undefined,
  options: CheckpointOptions,
): Promise<TextFile> {
  let config: TextFile | undefined;
  try {
    config = await readRequired(folder, 'config.json', options);
    const engine = await starting;
    await engine.call('model_check', {
      config: config.text,
      config_name: config.name,
      ...(task !== undefined && { task }),
    });
    return config;
  } catch (error) {
    const { explained } = await refusals();
    const better = await explained(error, folder, options.signal, config?.text);
    if (better !== error || !isWithoutConfig(error)) throw better;
    throw (await (await otherFormats()).unsupportedWeights(folder, options.signal)) ?? error;
  }
}

const isWithoutConfig = (error: unknown): boolean => isMissing(error) && error.details.file === 'config.json';

const refusals = () => loadPart(() => import('./refused_models.js'));
const otherFormats = () => loadPart(() => import('./other_formats.js'));

interface FoundWeights {
  files: WeightsFile[];
  index: TextFile | undefined;
}

async function findWeights(
  folder: Folder,
  starting: Promise<Engine>,
  options: CheckpointOptions,
): Promise<FoundWeights> {
  const whole = await folder.find(weightsName, options.signal, 'read at once');
  if (whole !== undefined && !whole.html) return { files: [await sized(whole, options)], index: undefined };
  const index = await readOptional(folder, indexName, options);
  if (index === undefined) {
    const { missingWeights, unsupportedWeights } = await otherFormats();
    throw (!whole && (await unsupportedWeights(folder, options.signal))) || (await missingWeights(folder, whole));
  }
  const engine = await starting;
  const { files } = await engine.call('checkpoint_index', { text: index.text, name: index.name });
  return { files: await Promise.all(files.map((name) => findShard(folder, name, options))), index };
}

async function findShard(folder: Folder, name: string, options: CheckpointOptions): Promise<WeightsFile> {
  const file = await folder.find(name, options.signal);
  if (file === undefined || file.html) throw notFound(folder, name);
  return sized(file, options);
}

async function sized(file: SourceFile, options: CheckpointOptions): Promise<WeightsFile> {
  if (file.size !== null) return { file, bytes: file.size };
  const { exactSize } = await loadPart(() => import('./weights_header.js')); // rarely needed
  return { file, bytes: await exactSize(file, options.signal) };
}

async function streamFile(
  engine: Engine,
  handle: Handle,
  file: SourceFile,
  bytes: number,
  progress: Progress,
  options: CheckpointOptions,
): Promise<void> {
  await engine.call('checkpoint_begin_file', { checkpoint: handle, name: file.name, bytes });
  // The next chunks are read while the worker takes the last ones.
  const writes: Promise<void>[] = [];
  for await (const chunk of readChunks(file, options)) {
    const { byteLength } = chunk; // a transferred chunk has none
    const write = engine.write(handle, chunk, file.borrowed).then(() => progress.add(file.name, byteLength));
    write.catch(() => {}); // thrown below, unless the reading fails before
    if (writes.push(write) > writesAtOnce) await writes.shift();
  }
  await Promise.all([...writes, engine.call('checkpoint_end_file', { checkpoint: handle })]); // calls keep their order
  releaseSpareMemory();
  progress.done(file.name);
}
