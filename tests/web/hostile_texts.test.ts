// Texts for which an engine's functions take a time that is quadratic in their length, and texts, images and sounds that
// are too large: tokenizers get through or refuse them by name.

import { RawImage, resample_audio, WhisperFeatureExtractor } from 'clearformer';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { jsonOf, sampleCases } from './support/sample.js';

const cases = sampleCases();
const size = 10_000;

const texts = {
  'ideographs without a space': '\u4e2d\u6587\u5b57\u7b26'.repeat(size / 4),
  'one Latin word': 'abcdefgh'.repeat(size / 8),
  'one letter': 'a'.repeat(size),
  spaces: ' '.repeat(size),
  'lines and tabs': '\n\t'.repeat(size / 2),
  punctuation: '.,'.repeat(size / 2),
  digits: '1234567890'.repeat(size / 10),
  emoji: '\u{1f468}\u200d\u{1f469}'.repeat(size / 5),
  flags: '\u{1f1e9}'.repeat(size / 2),
  'parts of Hangul syllables': '\u1112\u1161\u11ab'.repeat(size / 3),
  'halves of surrogate pairs': '\ud800'.repeat(size),
  'a mark on each letter': 'e\u0301'.repeat(size / 2),
};

const tokenizerOf = (name: string) => {
  const one = cases.find((each) => each.name === name);
  if (one === undefined) throw new Error(`no case ${name}`);
  return new PreTrainedTokenizer(jsonOf(one));
};

describe.each(cases)('$name', (one) => {
  const tokenizer = new PreTrainedTokenizer(jsonOf(one));

  it.each(Object.entries(texts))('%s', (_, text) => {
    const { length } = tokenizer.encode(text, { add_special_tokens: false });
    expect(length).toBeLessThanOrEqual(4 * text.length);
  });
});

// With the engine's functions alone each of these would take many minutes; here it is a second or two on an idle machine.
describe('times grow as the text does', () => {
  const bound = 60_000;

  it('ideographs, whose graphemes are looked for', () => {
    const start = performance.now();
    const { length } = tokenizerOf('unigram_precompiled').encode('\u4e2d\u6587\u5b57\u7b26'.repeat(100_000));
    expect(length).toBeGreaterThan(0);
    expect(performance.now() - start).toBeLessThan(bound);
  }, 120_000);

  // Engines sort marks that follow one another.
  it.each(['unigram_nfkc', 'unigram_never', 'char_delimiter', 'wordpiece_uncased'])(
    '%s: marks in a row',
    async (name) => {
      const tokenizer = tokenizerOf(name);
      const start = performance.now();
      const failure = await failureOf(() => tokenizer.encode(`a${'\u0301\u0316'.repeat(200_000)}`));
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'text' } });
      expect(tokenizer.encode(`a${'\u0301\u0316'.repeat(1000)} b`.repeat(100)).length).toBeGreaterThan(0);
      expect(performance.now() - start).toBeLessThan(bound);
    },
    120_000,
  );
});

it('a text of more than four million code units is refused', async () => {
  const tokenizer = new PreTrainedTokenizer(jsonOf(cases[0] as (typeof cases)[number]));
  const failure = await failureOf(() => tokenizer('a'.repeat(2 ** 22 + 1)));
  expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('4194305') });
  for (const options of [{ max_length: 1e9 }, { max_length: 10, pad_to_multiple_of: 1e9 }, { max_length: 2 ** 40 }]) {
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0);
    const padded = await failureOf(() => tokenizer('a', { padding: 'max_length', ...options }));
    expect(padded).toMatchObject({ code: 'invalid_argument', details: { option: 'max_length' } });
  }
});

describe('normalizers that multiply a text are refused', () => {
  const many = (content: string, count: number, pattern: object = { String: 'a' }) =>
    Array(count).fill({ type: 'Replace', pattern, content });
  it.each([
    ['again and again', many('a'.repeat(64), 60)],
    ['by thousands', many('a'.repeat(2000), 3)],
    ['by a pattern', many('a'.repeat(64), 60, { Regex: '[ab]' })],
    ['at its start', Array(60).fill({ type: 'Prepend', prepend: 'a'.repeat(2 ** 23) })],
  ])('%s', async (_, normalizers) => {
    const model = { type: 'BPE', vocab: { a: 0 }, merges: [] };
    const tokenizer = new PreTrainedTokenizer({ normalizer: { type: 'Sequence', normalizers }, model });
    for (const return_offsets_mapping of [false, true]) {
      const failure = await failureOf(() => tokenizer('aé', { return_tensor: false, return_offsets_mapping }));
      expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('16777216') });
    }
  });
});

it('vocabularies whose tokens are longer than any word are refused where words are searched for them', () => {
  const long = 'a'.repeat(300);
  const pieces = { model: { type: 'WordPiece', vocab: { '[UNK]': 0, [long]: 1 } } };
  const unigram = { model: { type: 'Unigram', vocab: [[long, -1]] } };
  for (const json of [pieces, unigram]) {
    expect(() => new PreTrainedTokenizer(json)).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('300 characters') }),
    );
  }
});

describe('images that are too large', () => {
  const image = () => new RawImage(new Uint8ClampedArray(12), 2, 2, 3);
  it.each([
    ['resize', () => image().resize(1e6, 1e6)],
    ['resize with the ratio kept', () => new RawImage(new Uint8ClampedArray(3000), 1, 1000, 3).resize(1e6, null)],
    ['center_crop', () => image().center_crop(2 ** 31, 2)],
    ['crop', () => image().pad([1e9, 1e9, 1e9, 1e9])],
  ])('%s', async (_, work) => {
    const failure = await failureOf(work);
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(/more than 134217728/) });
  });
});

it('sounds that take minutes to be brought to another rate are refused', async () => {
  const failure = await failureOf(() => resample_audio(new Float32Array(4e7), 4_000_000, 16_001));
  expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('cut it') });
});

it('frames whose transform takes long are refused', async () => {
  const config = { feature_extractor_type: 'WhisperFeatureExtractor', n_fft: 65_521 }; // a prime
  expect(() => new WhisperFeatureExtractor(config)).toThrow(
    expect.objectContaining({ code: 'malformed_config', details: expect.objectContaining({ option: 'n_fft' }) }),
  );
});

describe('decoders whose steps multiply a text', () => {
  const model = { type: 'WordLevel', vocab: { a: 0 }, unk_token: 'a' };
  const longer = { type: 'Replace', pattern: { String: 'a' }, content: 'a'.repeat(2000) };
  const doubled = { type: 'BPEDecoder', suffix: '' };
  it.each([
    ['replacements', [longer, longer, longer]],
    ['spaces between characters', [longer, longer, ...Array(20).fill(doubled)]],
  ])('%s', async (_, decoders) => {
    const tokenizer = new PreTrainedTokenizer({ model, decoder: { type: 'Sequence', decoders } });
    const failure = await failureOf(() => tokenizer.decode([0, 0]));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('code units')]);
  });
});
