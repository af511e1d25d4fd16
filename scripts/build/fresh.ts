// Skips work whose inputs have not changed: a digest of their contents is stored beside the output.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This file is two folders below the root, and so is the bundle that scripts/run.mjs makes of it. */
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
export const inProject = (...parts: readonly string[]): string => join(projectRoot, ...parts);

function filesUnder(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A digest of all files under `paths` (names and contents) and of `extra`. */
export function digestOf(paths: readonly string[], extra = ''): string {
  const hash = createHash('sha256').update(extra);
  for (const file of paths.flatMap(filesUnder)) {
    hash.update(`\0${relative(projectRoot, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

export interface Recipe {
  /** The file with the digest. */
  stamp: string;
  digest: string;
  outputs: readonly string[];
}

/** Runs `work` unless `stamp` contains `digest` and `outputs` exist. Resolves to whether it ran. */
export async function unlessFresh({ stamp, digest, outputs }: Recipe, work: () => unknown): Promise<boolean> {
  const fresh =
    existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && outputs.every((file) => existsSync(file));
  if (fresh) return false;
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
  return true;
}
