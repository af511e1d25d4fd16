// The ten thousand lines of tests/fixtures/tokenizer_sample, and the tokenizer files for them.

import { readFileSync } from 'node:fs';
import { type Case, casesOf, fixturePath, storiesPath, tensorsOf } from './references.js';

export interface SampleCase extends Case {
  /** Of the fixtures. */
  folder: string;
  /** The vocabulary's file, and changes of its JSON; those of the model are merged into it. */
  vocabulary: string;
  changes?: Record<string, unknown> & { model?: object };
  /** Use every n-th line of the sample. */
  every: number;
  lines: { line: number; ids: number[]; offsets: [number, number][] }[];
  /** Of the texts "the one" and "two <mask> [MASK] eng_Latn the". */
  pair?: { ids: number[]; type_ids: number[] };
}

const vocabularies = 'tokenizer_sample';
export const sampleCases = (folder: 'tokenizer_sample' | 'tokenizer_families' = vocabularies) =>
  casesOf<SampleCase>(folder).map((one) => ({ ...one, folder }));

export const sample: readonly string[] = readFileSync(fixturePath(`${vocabularies}/sample.jsonl`), 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => JSON.parse(line));

/** tokenizer.json of a case. */
export function jsonOf({ vocabulary, changes }: SampleCase): object {
  const path =
    vocabulary === 'stories260K' ? `${storiesPath}/tokenizer.json` : fixturePath(`${vocabularies}/${vocabulary}.json`);
  const file = JSON.parse(readFileSync(path, 'utf8'));
  return { ...file, ...changes, model: { ...file.model, ...changes?.model } };
}

/** A hash of the ids and spans of each of the case's lines. */
export function hashesOf(one: SampleCase): number[] {
  return Array.from(tensorsOf(one.folder, one)('hashes').data, Number);
}
