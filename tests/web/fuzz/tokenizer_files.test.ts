// Mutated tokenizer files: rejected with a typed error, or loaded to a tokenizer with valid results; and invariants of
// valid ones, on arbitrary text.

import { readFileSync } from 'node:fs';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedJson, fuzz } from '../support/fuzzing.js';
import { casesOf, fixturePath } from '../support/references.js';

const small = casesOf<{ json?: object }>('tokenizer_edges').flatMap(({ json }) => json ?? []);
const sample = fixturePath('tokenizer_sample/byte_level_gpt2.json');
const sequences: Readonly<Record<string, string>> = {
  normalizer: 'normalizers',
  pre_tokenizer: 'pretokenizers',
  post_processor: 'processors',
  decoder: 'decoders',
};
const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('abc', 'a b  c', 'Hello, world!')), {
  minLength: 1,
  maxLength: 3,
});

it('damaged tokenizer.json and tokenizer_config.json', async () => {
  const draws = fc.record({
    json: damagedJson(small),
    config: fc.oneof(
      fc.constant({}),
      fc.dictionary(
        fc.constantFrom(
          'model_max_length',
          'pad_token',
          'bos_token',
          'padding_side',
          'chat_template',
          'tokenizer_class',
        ),
        anything,
      ),
    ),
    texts,
  });
  const counts = await fuzz('tokenizer.json', 1200, draws, ({ json, config, texts }) => {
    const tokenizer = new PreTrainedTokenizer(json as object, config);
    for (const text of texts) {
      const { input_ids, offset_mapping } = tokenizer(text, { return_tensor: false, return_offsets_mapping: true });
      expect(input_ids.every((id) => Number.isInteger(id) && id >= 0)).toBe(true);
      for (const [start, end] of offset_mapping ?? []) {
        expect(0 <= start && start <= end && end <= text.length).toBe(true);
      }
      expect(typeof tokenizer.decode(input_ids)).toBe('string');
      expect(tokenizer.tokenize(text).every((token) => typeof token === 'string')).toBe(true);
    }
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});

it('types and templates that once were no typed errors', () => {
  const [json = {}] = small;
  for (const part of ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder']) {
    for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      for (const step of [{ type }, { type: 'Sequence', [sequences[part] ?? '']: [{ type }] }]) {
        const work = () => new PreTrainedTokenizer({ ...json, [part]: step }).decode([0]);
        expect(work).toThrow(expect.objectContaining({ name: 'ClearformerError', code: 'unsupported' }));
      }
    }
  }
  for (const chat_template of [[null], [1], [{ name: 'x' }], [{ name: 1, template: 'x' }]]) {
    const work = () => new PreTrainedTokenizer(json, { chat_template });
    expect(work).toThrow(expect.objectContaining({ name: 'ClearformerError', code: 'malformed_config' }));
  }
});

it('bytes come back as they were', async () => {
  const tokenizer = new PreTrainedTokenizer(JSON.parse(readFileSync(sample, 'utf8')), {});
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  const { refused } = await fuzz('encode and decode', 500, text, (each) => {
    const ids = tokenizer.encode(each, { add_special_tokens: false });
    expect(tokenizer.decode(ids, { clean_up_tokenization_spaces: false })).toBe(each);
    const [batch] = tokenizer([each], { return_tensor: false, add_special_tokens: false }).input_ids;
    expect(batch).toEqual(ids);
  });
  expect(refused).toBe(0);
});
