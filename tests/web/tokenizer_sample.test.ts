// Ids and spans of ten thousand lines in many scripts equal those of the `tokenizers` crate, for files of every kind.
import { readFileSync } from 'node:fs';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { type Case, casesOf, fixturePath, storiesPath, tensorsOf } from './support/references.js';

interface SampleCase extends Case {
  /** The file whose vocabulary is used, and what differs in its JSON. */
  vocabulary: string;
  changes?: Record<string, unknown>;
  /** Every so many lines of the sample. */
  every: number;
  lines: { line: number; ids: number[]; offsets: [number, number][] }[];
}
const folder = 'tokenizer_sample';
const cases = casesOf(folder) as unknown as SampleCase[];
const sample: string[] = readFileSync(fixturePath(`${folder}/sample.jsonl`), 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => JSON.parse(line));

function tokenizerOf({ vocabulary, changes }: SampleCase): PreTrainedTokenizer {
  const path =
    vocabulary === 'stories260K' ? `${storiesPath}/tokenizer.json` : fixturePath(`${folder}/${vocabulary}.json`);
  return new PreTrainedTokenizer({ ...JSON.parse(readFileSync(path, 'utf8')), ...changes });
}

function encode(tokenizer: PreTrainedTokenizer, text: string) {
  const { input_ids, offset_mapping } = tokenizer(text, { return_tensor: false, return_offsets_mapping: true });
  return { ids: input_ids, offsets: offset_mapping as [number, number][] };
}

/** FNV-1a over numbers, 32 bits. */
function fnv1a(values: readonly number[]): number {
  return values.reduce((hash, value) => Math.imul(hash ^ value, 0x01000193) >>> 0, 0x811c9dc5);
}

it('has ten thousand lines', () => {
  expect(sample.length).toBe(10_000);
  expect(new Set(sample).size).toBe(10_000);
});

describe('the sample', { timeout: 60_000 }, () => {
  it.each(cases)('$name', (one) => {
    const tokenizer = tokenizerOf(one);
    for (const { line, ids, offsets } of one.lines) {
      expect({ text: sample[line * one.every], ...encode(tokenizer, sample[line * one.every] ?? '') }).toEqual({
        text: sample[line * one.every],
        ids,
        offsets,
      });
    }
    const hashes = Array.from(tensorsOf(folder, one)('hashes').data, Number);
    expect(hashes.length).toBe(sample.length / one.every);
    const wrong = hashes.flatMap((hash, i) => {
      const text = sample[i * one.every] ?? '';
      const { ids, offsets } = encode(tokenizer, text);
      return fnv1a([...ids, ...offsets.flat()]) === hash ? [] : [text];
    });
    expect(wrong).toEqual([]);
  });

  it.each(cases.filter(({ every }) => every === 1))('$name gives the same ids without spans', (one) => {
    const tokenizer = tokenizerOf(one);
    const lines = sample.filter((_, i) => i % 4 === 0);
    const odd = lines.filter((text) => tokenizer.encode(text).join() !== encode(tokenizer, text).ids.join());
    expect(odd).toEqual([]);
  });
});
