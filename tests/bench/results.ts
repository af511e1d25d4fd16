// build/bench/results.json: the latest measurements, by item, engine and threads, so that parts can be repeated.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inProject } from '../../scripts/build/fresh.js';
import { codeOf } from '../../scripts/toolchain/progress.js';
import type { Results, Run, Setting } from './types.js';

export const resultsFile = inProject('build/bench/results.json');

export function readResults(file = resultsFile): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { measured: {} };
    throw error;
  }
}

export const keyOf = (id: string, { engine, threads }: Setting): string => `${id} ${engine} ${threads}`;

/** Stores one item's result, replacing an older one. */
export function keepResult(entry: Run, file = resultsFile): void {
  const results = readResults(file);
  results.measured[keyOf(entry.id, entry)] = entry;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
}
