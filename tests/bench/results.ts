// .github/bench/<machine>.json: the latest measurements of each machine, by item, engine and threads. A run replaces
// only its own items of its own machine.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inProject } from '../../scripts/build/fresh.js';
import { codeOf } from '../../scripts/toolchain/progress.js';
import type { Machine } from './machine.js';
import type { Results, Run, Setting } from './types.js';

const resultsFolder = inProject('.github/bench');

/** The results of all machines: real ones first, and of these the one of which most is measured. */
export function readResults(folder = resultsFolder): Results[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
  const all = names
    .filter((name) => name.endsWith('.json'))
    .map((name): Results => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const emulated = ({ machine }: Results): number => (machine.emulated ? 1 : 0);
  const runs = ({ measured }: Results): number => Object.keys(measured).length;
  return all.sort((a, b) => emulated(a) - emulated(b) || runs(b) - runs(a) || (a.machine.id < b.machine.id ? -1 : 1));
}

export const keyOf = (id: string, { engine, threads }: Setting): string => `${id} ${engine} ${threads}`;

/** JSON with one contender per line, so that a difference can be read. */
export function written({ machine, measured }: Results): string {
  const runs = Object.entries(measured).map(([key, { contenders, ...run }]) => {
    const rows = contenders.map((each) => `   ${JSON.stringify(each)}`).join(',\n');
    return ` ${JSON.stringify(key)}: ${JSON.stringify(run).slice(0, -1)},"contenders":[\n${rows}]}`;
  });
  return `{"machine":${JSON.stringify(machine)},\n"measured":{\n${runs.join(',\n')}}}\n`;
}

/** Stores one item's result, replacing an older one of the same machine. */
export function keepResult(machine: Machine, entry: Run, folder = resultsFolder): void {
  const found = readResults(folder).find(({ machine: { id } }) => id === machine.id);
  const measured = { ...found?.measured, [keyOf(entry.id, entry)]: entry };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${machine.id}.json`), written({ machine, measured }));
}
