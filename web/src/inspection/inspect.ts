// inspect(): what a folder holds. What it takes is loaded when it is called.

import { openSource, type Source, sourceOptions } from '../checkpoint/source.js';
import { checkOptions, throwIfAborted } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import type { Inspection, InspectOptions } from './inspection.js';

const knownOptions = ['task', ...sourceOptions, 'signal'];

/** @internal */
export function checkInspectOptions(call: string, options: InspectOptions): void {
  checkOptions(call, options, knownOptions);
  throwIfAborted(options.signal);
}

/**
 * What a folder holds: the kind of model, its task and sizes, the memory it takes in each dtype, and every problem that can
 * be told from config.json, generation_config.json, the index and the headers of the safetensors files; weights are not
 * read. What is broken is told as a problem. Rejects with `file_not_found` where there is nothing of a model,
 * `network_error`, `unsupported` for an option that is not known, or the signal's reason.
 */
export async function inspect(source: Source, options: InspectOptions = {}): Promise<Inspection> {
  checkInspectOptions('inspect', options);
  const folder = openSource(source, options);
  const { inspectFolder } = await loadPart(() => import('./inspect_folder.js'));
  return (await inspectFolder(folder, options)).inspection;
}
