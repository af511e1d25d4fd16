// Ids and spans of ten thousand lines in many scripts equal those of the `tokenizers` crate, for all kinds of
// tokenizer.

import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { hashesOf, jsonOf, sample, sampleCases } from './support/sample.js';
import { encode, wrongLines } from './support/sample_lines.js';

const families = sampleCases('tokenizer_families');
const cases = [...sampleCases(), ...families];

it('has ten thousand lines', () => {
  expect(sample.length).toBe(10_000);
  expect(new Set(sample).size).toBe(10_000);
});

describe('the sample', { timeout: 60_000 }, () => {
  it.each(cases)('$name', (one) => {
    const tokenizer = new PreTrainedTokenizer(jsonOf(one));
    for (const { line, ids, offsets } of one.lines) {
      expect({ text: sample[line * one.every], ...encode(tokenizer, sample[line * one.every] ?? '') }).toEqual({
        text: sample[line * one.every],
        ids,
        offsets,
      });
    }
    const hashes = hashesOf(one);
    expect(hashes.length).toBe(sample.length / one.every);
    const lines = sample.filter((_, i) => i % one.every === 0);
    expect(wrongLines(tokenizer, lines, hashes)).toEqual([]);
  });

  it.each(families)('$name places special tokens around pairs', (one) => {
    const tokenizer = new PreTrainedTokenizer(jsonOf(one));
    const text_pair = 'two <mask> [MASK] eng_Latn the';
    const found = tokenizer('the one', { text_pair, return_tensor: false, return_token_type_ids: true });
    expect(found).toMatchObject({ input_ids: one.pair?.ids, token_type_ids: one.pair?.type_ids });
  });

  it.each(cases.filter(({ every }) => every === 1))('$name gives the same ids without spans', (one) => {
    const tokenizer = new PreTrainedTokenizer(jsonOf(one));
    const lines = sample.filter((_, i) => i % 4 === 0);
    const odd = lines.filter((text) => tokenizer.encode(text).join() !== encode(tokenizer, text).ids.join());
    expect(odd).toEqual([]);
  });
});
