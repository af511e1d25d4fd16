// inspect(): describes a folder. Its code is loaded on the first call.

import { SharedFolder } from '../checkpoint/shared_folder.js';
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
 * Describes a folder: the kind of model, its task and sizes, the memory it needs in each dtype, and every problem that
 * config.json, generation_config.json, the index and the headers of the safetensors files reveal; weights are not
 * read. Invalid files are reported as problems. Rejects with `file_not_found` if the folder contains no model,
 * `network_error`, `unsupported` for an unknown option, or the abort signal's reason.
 */
export async function inspect(source: Source, options: InspectOptions = {}): Promise<Inspection> {
  checkInspectOptions('inspect', options);
  const folder = openSource(source, options);
  const { inspectFolder } = await loadPart(() => import('./inspect_folder.js'));
  return (await inspectFolder(new SharedFolder(folder), options)).inspection;
}
