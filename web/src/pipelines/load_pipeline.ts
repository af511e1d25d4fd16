// Loads a pipeline: the model and the small files beside it concurrently, from one folder, with a common progress.

import { type Integrity, isOfModel, type ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { type LoadOptions, loadModel } from '../models/auto_models.js';
import type { LoadedModel } from '../models/loaded_model.js';
import type { ModelOutput } from '../models/outputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { PipelineName } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { onAbort } from '../support/options.js';
import { JointProgress } from './joint_progress.js';
import { RecordedFolder } from './recorded_folder.js';

/** @internal The parts of a task. */
export interface Recipe<Model extends PreTrainedModel, Beside, Made> {
  Model: new (loaded: LoadedModel) => Model;
  /** Reads the preprocessing: tokenizer, processor. */
  read(folder: Folder, options: ReadOptions): Promise<Beside>;
  create(task: string, model: Model, beside: Beside): Made;
}

/** A task by the name requested, and by the pipeline's name, from which the core infers the head. */
export interface PipelineNames {
  task: string;
  pipeline: PipelineName;
}

/** Loads the pipeline of a task. */
export type Load<Made> = (names: PipelineNames, folder: Folder, options: LoadOptions) => Promise<Made>;

/** @internal */
export function loader<Model extends PreTrainedModel<ModelOutput>, Beside, Made>(
  recipe: Recipe<Model, Beside, Made>,
): Load<Made> {
  return (names, folder, options) => loadPipeline(names, recipe, folder, options);
}

/**
 * Loads a pipeline from a source. If one part fails, or the signal aborts, the other is stopped and released.
 * Rejects as loading the model and the other parts does.
 */
async function loadPipeline<Model extends PreTrainedModel<ModelOutput>, Beside, Made>(
  { task, pipeline }: PipelineNames,
  { Model, read, create }: Recipe<Model, Beside, Made>,
  folder: Folder,
  options: LoadOptions,
): Promise<Made> {
  const small = new RecordedFolder(folder);
  const progress = new JointProgress(folder.where, options.progress_callback);
  const stop = stopWith(options.signal);
  const { signal } = stop.controller;
  const { weights, others } = sorted(options.integrity);
  try {
    const loading = loadModel(folder, pipeline, {
      ...options,
      integrity: weights,
      signal,
      progress_callback: progress.ofModel,
    }).then((loaded) => ({ ...loaded, fileOptions: { ...loaded.fileOptions, integrity: options.integrity } }));
    const reading = read(small, { integrity: options.integrity, signal }).then((beside) => {
      progress.besideModel(small.sizes);
      return beside;
    });
    const [loaded, beside] = await bothOrNeither(loading, reading, stop.controller);
    const model = new Model(loaded);
    try {
      signal?.throwIfAborted();
      checkRead(others, small.sizes);
      const made = create(task, model, beside);
      progress.ready();
      return made;
    } catch (thrown) {
      await model.dispose();
      throw thrown;
    }
  } finally {
    stop.forget();
  }
}

/** A controller that aborts with the signal, until `forget` is called. */
function stopWith(signal: AbortSignal | undefined): { controller: AbortController; forget: () => void } {
  const controller = new AbortController();
  return { controller, forget: onAbort(signal, () => controller.abort(signal?.reason)) };
}

/** Both results; after the first failure the other is stopped, awaited, and released if it completes. */
async function bothOrNeither<Beside>(
  loading: Promise<LoadedModel>,
  reading: Promise<Beside>,
  controller: AbortController,
): Promise<[LoadedModel, Beside]> {
  try {
    return await Promise.all([loading, reading]);
  } catch (thrown) {
    controller.abort(thrown);
    const [model] = await Promise.allSettled([loading, reading]);
    if (model.status === 'fulfilled') await model.value.engine.close();
    throw thrown;
  }
}

/** The checksums of the model's files, and the names of all other files with one. */
function sorted(integrity: Integrity = {}): { weights: Integrity; others: readonly string[] } {
  const others = Object.keys(integrity).filter((name) => !isOfModel(name));
  return { weights: Object.fromEntries(Object.entries(integrity).filter(([name]) => isOfModel(name))), others };
}

/** Throws for a checksum of a file that was not read: it would suggest a check that did not happen. */
function checkRead(names: readonly string[], sizes: ReadonlyMap<string, number>): void {
  const file = names.find((name) => !sizes.has(name));
  if (file === undefined) return;
  const message = `integrity: ${file} is none of the files of this pipeline (${[...sizes.keys()].join(', ')})`;
  throw new ClearformerError('invalid_argument', message, { option: 'integrity', file });
}
