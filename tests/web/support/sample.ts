// The ten thousand lines of tests/fixtures/tokenizer_sample, and the tokenizer files for them.

import { readFileSync } from 'node:fs';
import { type Case, casesOf, fixturePath, storiesPath, tensorsOf } from './references.js';

export interface SampleCase extends Case {
  /** The vocabulary's file, and changes of its JSON. */
  vocabulary: string;
  changes?: Record<string, unknown>;
  /** Use every n-th line of the sample. */
  every: number;
  lines: { line: number; ids: number[]; offsets: [number, number][] }[];
}

const folder = 'tokenizer_sample';
export const sampleCases = () => casesOf(folder) as unknown as SampleCase[];

export const sample: readonly string[] = readFileSync(fixturePath(`${folder}/sample.jsonl`), 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => JSON.parse(line));

/** tokenizer.json of a case. */
export function jsonOf({ vocabulary, changes }: SampleCase): object {
  const path =
    vocabulary === 'stories260K' ? `${storiesPath}/tokenizer.json` : fixturePath(`${folder}/${vocabulary}.json`);
  return { ...JSON.parse(readFileSync(path, 'utf8')), ...changes };
}

/** A hash of the ids and spans of each of the case's lines. */
export function hashesOf(one: SampleCase): number[] {
  return Array.from(tensorsOf(folder, one)('hashes').data, Number);
}
