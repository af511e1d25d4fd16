// build/bench/results.json: what was measured last, by item, engine and threads, so that parts can be repeated alone.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { inProject } from '../../scripts/build/fresh.mjs';

export const RESULTS = inProject('build/bench/results.json');

export function readResults(file = RESULTS) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return { measured: {} };
    throw error;
  }
}

export const keyOf = (id, { engine, threads }) => `${id} ${engine} ${threads}`;

/** Puts one item's result in the place of an older one. */
export function keepResult(entry, file = RESULTS) {
  const results = readResults(file);
  results.measured[keyOf(entry.id, entry)] = entry;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
}
