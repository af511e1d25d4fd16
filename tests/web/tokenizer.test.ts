// Tokenizers against transformers: ids, tokens, decoding, streaming; padding, truncation, pairs.

import { readFileSync } from 'node:fs';
import { Tensor as TensorOfAnotherCopy } from 'clearformer/inline';
import { AutoTokenizer, IncrementalDecoder, PreTrainedTokenizer, TextStreamer } from 'clearformer/tokenizer';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath, storiesPath } from './support/references.js';

let tokenizer: PreTrainedTokenizer;
const load = () => AutoTokenizer.from_pretrained(storiesPath);
beforeAll(async () => {
  tokenizer = await load();
});

interface TextCase {
  name: string;
  op: string;
  text: string;
  text_pair: string;
  ids: number[];
  tokens: string[];
  decoded: string;
  decoded_skip_special_tokens: string;
  step_text: string[];
  decoded_prefixes: string[];
}
const cases = casesOf<TextCase>('tokenizer');
const of = (op: string) => cases.filter((one) => one.op === op);

describe('stories260K equals transformers', () => {
  it.each(of('tokenize'))('$name', (one) => {
    expect(tokenizer.encode(one.text)).toEqual(one.ids);
    expect(tokenizer.convert_ids_to_tokens(one.ids)).toEqual(one.tokens);
    expect(tokenizer.decode(one.ids)).toBe(one.decoded);
    expect(tokenizer.decode(one.ids, { skip_special_tokens: true })).toBe(one.decoded_skip_special_tokens);
  });

  it.each(of('decode'))('$name', (one) => {
    expect(tokenizer.decode(one.ids)).toBe(one.decoded);
    expect(tokenizer.decode(one.ids, { skip_special_tokens: true })).toBe(one.decoded_skip_special_tokens);
  });

  it.each(of('tokenize_pair'))('$name', (one) => {
    expect(tokenizer.encode(one.text, { text_pair: one.text_pair })).toEqual(one.ids);
    expect(tokenizer(one.text, { text_pair: one.text_pair }).input_ids.data).toEqual(
      BigInt64Array.from(one.ids, BigInt),
    );
  });

  it.each(of('decode_stream'))('$name', (one) => {
    const decoder = new IncrementalDecoder(tokenizer);
    expect(one.ids.map((id) => decoder.push(id))).toEqual(one.step_text);
    expect(decoder.end()).toBe('');
    one.decoded_prefixes.forEach((prefix, i) => {
      expect(tokenizer.decode(one.ids.slice(0, i + 1), { skip_special_tokens: true })).toBe(prefix);
    });
  });
});

describe('text that streams', () => {
  it('joins to the text of the whole, without half characters', () => {
    for (const { text, ids } of of('tokenize')) {
      const decoder = new IncrementalDecoder(tokenizer);
      const pieces = ids.map((id) => decoder.push(id));
      expect(pieces.join('') + decoder.end()).toBe(tokenizer.decode(ids, { skip_special_tokens: true }));
      if (!text.includes('\uFFFD')) expect(pieces.join('')).not.toContain('\uFFFD');
    }
  });

  it.each([
    ['bpe_metaspace', 'Strip'],
    ['unigram_nfkc', 'Metaspace'],
    ['wordpiece_cased', 'WordPiece'],
    ['byte_level_gpt2', 'ByteLevel'],
  ])('joins to the text of the whole for any ids, also beyond the vocabulary: %s', async (name, kind) => {
    const json = JSON.parse(readFileSync(fixturePath(`tokenizer_sample/${name}.json`), 'utf8'));
    expect(JSON.stringify(json.decoder)).toContain(kind);
    const own = new PreTrainedTokenizer(json);
    const isByte = (id: number) => id <= own.largest_id && /^<0x/.test(own.convert_ids_to_tokens(id)); // a later one can make a run invalid
    const id = fc.oneof(
      { weight: 9, arbitrary: fc.nat(own.largest_id) },
      { weight: 2, arbitrary: fc.nat(2 * own.largest_id) },
    );
    const ids = fc.array(
      id.filter((one) => !isByte(one)),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(ids, fc.boolean(), (all, skip_special_tokens) => {
        const decoder = new IncrementalDecoder(own, { skip_special_tokens });
        const pieces = all.map((one) => decoder.push(one)).join('') + decoder.end();
        expect(pieces).toBe(own.decode(all, { skip_special_tokens, clean_up_tokenization_spaces: false }));
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it('continues its context: the first word keeps its space', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    decoder.begin(tokenizer.encode('Once upon'));
    expect(decoder.push(261)).toBe(' a');
    decoder.begin([]);
    expect(decoder.push(261)).toBe('a');
  });

  it('gives a character whole that its context had begun', () => {
    const ids = tokenizer.encode('Lily 🐶 and 👍 ok');
    const whole = tokenizer.decode(ids, { skip_special_tokens: true });
    for (let length = 1; length < ids.length; length++) {
      const decoder = new IncrementalDecoder(tokenizer);
      decoder.begin(ids.slice(0, length));
      const text = ids.slice(length).map((id) => decoder.push(id));
      const before = tokenizer.decode(ids.slice(0, length), { skip_special_tokens: true }).replace(/\uFFFD+$/, '');
      expect(before + text.join('') + decoder.end()).toBe(whole);
    }
  });

  it('tells the text before an unfinished character', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    const [first = 0, second = 0, third = 0, last = 0] = tokenizer.encode('🐶').slice(-4);
    const after = (...ids: number[]) => [ids.map((id) => decoder.push(id)).join(''), decoder.pending];
    expect(after()).toEqual(['', '']);
    expect(after(317)).toEqual(['Lily', '']);
    expect(after(first, second)).toEqual(['', '']);
    expect(after(317)).toEqual(['\uFFFD\uFFFD Lily', '']);
    expect(after(first, second, third, last)).toEqual(['🐶', '']);
  });

  it('gives an unfinished character at the end as U+FFFD', () => {
    const decoder = new IncrementalDecoder(tokenizer);
    const [first = 0, second = 0] = tokenizer.encode('🐶').slice(-4);
    expect([decoder.push(317), decoder.push(first), decoder.push(second), decoder.end()]).toEqual([
      'Lily',
      '',
      '',
      '\uFFFD\uFFFD',
    ]);
  });

  it('keeps special tokens when asked to', () => {
    const decoder = new IncrementalDecoder(tokenizer, { skip_special_tokens: false });
    expect([1, 403, 2].map((id) => decoder.push(id)).join('')).toBe('<s> Once</s>');
  });

  it('tells callbacks, one sequence at a time', async () => {
    const seen: unknown[] = [];
    const streamer = new TextStreamer(tokenizer, {
      callback_function: (text) => seen.push(text),
      token_callback_function: (ids) => seen.push(ids),
    });
    streamer.put([[1n, 403n]]);
    streamer.put([[407n]]);
    streamer.end();
    expect(seen).toEqual([[1n, 403n], 'Once', [407n], ' upon']);
    expect((await failureOf(() => streamer.put([[1n], [2n]]))).code).toBe('unsupported');
    expect((await failureOf(() => new TextStreamer(tokenizer, { skip: true } as never))).code).toBe('unsupported');
  });
});

describe('a call', () => {
  it('gives int64 tensors [batch, position]', () => {
    const { input_ids, attention_mask, ...rest } = tokenizer('Once upon a time');
    expect(rest).toEqual({});
    expect(input_ids).toMatchObject({
      type: 'int64',
      dims: [1, 5],
      data: BigInt64Array.of(1n, 403n, 407n, 261n, 378n),
    });
    expect(attention_mask).toMatchObject({ type: 'int64', dims: [1, 5], data: BigInt64Array.of(1n, 1n, 1n, 1n, 1n) });
    expect(tokenizer(['Once', 'upon']).input_ids.dims).toEqual([2, 2]);
    expect(tokenizer('Once', { return_token_type_ids: true }).token_type_ids?.data).toEqual(BigInt64Array.of(0n, 0n));
  });

  it('gives plain arrays with return_tensor: false', () => {
    expect(tokenizer('Once upon', { return_tensor: false })).toEqual({
      input_ids: [1, 403, 407],
      attention_mask: [1, 1, 1],
    });
    expect(tokenizer(['Once', 'a time'], { return_tensor: false }).input_ids).toEqual([
      [1, 403],
      [1, 261, 378],
    ]);
    expect(tokenizer('Once', { return_tensor: false, add_special_tokens: false }).input_ids).toEqual([403]);
  });

  it('pads on the side it is told to', async () => {
    const own = await load();
    const texts = ['Once', 'Once upon a time'];
    expect((await failureOf(() => own(texts))).code).toBe('shape_mismatch');
    expect((await failureOf(() => own(texts, { padding: true }))).message).toContain('pad_token');
    own.pad_token = '<unk>';
    expect(own(texts, { padding: true, return_tensor: false })).toEqual({
      input_ids: [
        [1, 403, 0, 0, 0],
        [1, 403, 407, 261, 378],
      ],
      attention_mask: [
        [1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1],
      ],
    });
    own.padding_side = 'left';
    expect(own(texts, { padding: 'longest' }).input_ids.tolist()).toEqual([
      [0n, 0n, 0n, 1n, 403n],
      [1n, 403n, 407n, 261n, 378n],
    ]);
    expect(own('Once', { padding: 'max_length', max_length: 4, return_tensor: false }).attention_mask).toEqual([
      0, 0, 1, 1,
    ]);
    expect(own('Once', { padding: 'max_length' }).input_ids.dims).toEqual([1, 512]);
  });

  it('truncates the text and keeps the special tokens', async () => {
    expect(tokenizer('Once upon a time', { truncation: true, max_length: 3 }).input_ids.tolist()).toEqual([
      [1n, 403n, 407n],
    ]);
    expect(tokenizer('Once upon a time', { truncation: true }).input_ids.dims).toEqual([1, 5]);
    const json = JSON.parse(await (await import('node:fs/promises')).readFile(`${storiesPath}/tokenizer.json`, 'utf8'));
    const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
    json.post_processor.single = [special('<s>'), { Sequence: { id: 'A', type_id: 0 } }, special('</s>')];
    json.post_processor.special_tokens['</s>'] = { id: '</s>', ids: [2], tokens: ['</s>'] };
    const ending = new PreTrainedTokenizer(json);
    expect(ending.encode('Once upon')).toEqual([1, 403, 407, 2]);
    expect(ending('Once upon a time', { truncation: true, max_length: 4, return_tensor: false }).input_ids).toEqual([
      1, 403, 407, 2,
    ]);
    expect((await failureOf(() => ending('Once upon', { truncation: true, max_length: 1 }))).message).toContain(
      '2 special tokens',
    );
    expect((await failureOf(() => ending('Once upon', { truncation: true }))).message).toContain('max_length');
  });

  it.each([
    [['a', 3], {}, 'invalid_argument', 'array of texts'],
    [3, {}, 'invalid_argument', 'text'],
    ['a', { max_length: 3 }, 'invalid_argument', 'max_length'],
    ['a', { padding: 'always' }, 'invalid_argument', 'always'],
    ['a', { return_tensors: 'pt' }, 'unsupported', 'return_tensors'],
    ['a', { text_pair: ['b', 'c'] }, 'shape_mismatch', '2 pairs'],
    ['Once upon a time', { text_pair: 'b', truncation: true, max_length: 1 }, 'invalid_argument', '2 special tokens'],
  ])('refuses %j with %j', async (text, options, code, word) => {
    const failure = await failureOf(() => tokenizer(text as never, options as never));
    expect(failure.message).toContain(word);
    expect(failure.code).toBe(code);
  });

  it('refuses unknown options and ids', async () => {
    expect((await failureOf(() => tokenizer.decode([1], { skip: true } as never))).code).toBe('unsupported');
    expect((await failureOf(() => tokenizer.encode('a', { padding: true } as never))).code).toBe('unsupported');
    expect((await failureOf(() => tokenizer.decode([-1]))).message).toContain('-1');
    expect((await failureOf(() => tokenizer.convert_ids_to_tokens([512]))).message).toContain('512');
    expect(tokenizer.decode([403, 512, 407])).toBe('Once upon'); // beyond the vocabulary: no text
    expect(tokenizer.decode([])).toBe('');
  });

  it('knows its tokens', () => {
    const { bos_token_id, eos_token_id, unk_token_id, pad_token_id, vocab_size, model_max_length } = tokenizer;
    expect([bos_token_id, eos_token_id, unk_token_id, pad_token_id]).toEqual([1, 2, 0, null]);
    expect([vocab_size, model_max_length]).toEqual([512, 512]);
    expect(tokenizer.all_special_ids.sort()).toEqual([0, 1, 2]);
    expect(tokenizer.all_special_tokens.sort()).toEqual(['</s>', '<s>', '<unk>']);
    expect(tokenizer.tokenize('Once upon')).toEqual(['▁Once', '▁upon']);
    expect(tokenizer.convert_tokens_to_ids(['▁Once', 'nothing'])).toEqual([403, 0]);
    expect(tokenizer.batch_decode(tokenizer(['Once', 'upon']).input_ids, { skip_special_tokens: true })).toEqual([
      'Once',
      'upon',
    ]);
    expect(tokenizer.batch_decode([[1, 403], [407n]])).toEqual(['<s> Once', 'upon']);
    const ids = new TensorOfAnotherCopy('int64', BigInt64Array.of(1n, 403n, 407n, 2n), [2, 2]);
    expect(tokenizer.batch_decode(ids as never, { skip_special_tokens: true })).toEqual(['Once', 'upon']);
    expect(tokenizer).toBeInstanceOf(PreTrainedTokenizer);
  });
});

describe('loading', () => {
  it('reports progress and refuses what is no tokenizer', async () => {
    const events: string[] = [];
    await AutoTokenizer.from_pretrained(storiesPath, {
      progress_callback: (event) => events.push(`${event.status} ${event.file}`),
    });
    expect(events[0]).toBe('initiate tokenizer.json');
    expect(events.at(-1)).toBe('ready undefined');
    const from = (text: string) => () =>
      AutoTokenizer.from_pretrained({ 'tokenizer.json': new TextEncoder().encode(text) });
    expect(await failureOf(from('{'))).toMatchObject({ code: 'malformed_config', details: { file: 'tokenizer.json' } });
    expect(await failureOf(from('{}'))).toMatchObject({
      code: 'malformed_config',
      details: { file: 'tokenizer.json' },
    });
    expect(await failureOf(from('<!doctype html>'))).toMatchObject({ code: 'malformed_config' });
    expect(await failureOf(() => AutoTokenizer.from_pretrained({}))).toMatchObject({
      code: 'file_not_found',
      details: { file: 'tokenizer.json' },
    });
    expect(await failureOf(() => AutoTokenizer.from_pretrained('./nowhere'))).toMatchObject({ code: 'file_not_found' });
    expect((await failureOf(() => AutoTokenizer.from_pretrained(storiesPath, { dtype: 'fp32' } as never))).code).toBe(
      'unsupported',
    );
  });
});
