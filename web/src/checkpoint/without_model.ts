// Why a folder has no model that can be loaded. Imported by parts alone that are loaded later: from the package's core it would
// take the advice on other formats along.

import type { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { indexName, weightsName } from './files.js';
import type { Folder } from './folder.js';
import { refusedFolder } from './refused_models.js';

/** Why no model can be loaded from a folder, whatever else was looked for in it: it is none, or its weights are not read. */
export async function folderWithoutModel(folder: Folder, signal?: AbortSignal): Promise<ClearformerError | undefined> {
  const isThere = async (name: string) => (await folder.find(name, signal))?.html === false;
  const [config, ...weights] = await Promise.all(['config.json', weightsName, indexName].map(isThere));
  const stranger = config ? undefined : await refusedFolder(folder, signal).catch(() => undefined);
  throwIfAborted(signal);
  if (stranger || weights.includes(true)) return stranger;
  const { unsupportedWeights } = await loadPart(() => import('./other_formats.js'));
  return unsupportedWeights(folder, signal);
}
