// Folders with vocab.txt, or vocab.json and merges.txt, instead of tokenizer.json load as with transformers'
// AutoTokenizer.

import { readFileSync } from 'node:fs';
import { AutoTokenizer, type PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath } from './support/references.js';

interface FolderCase {
  name: string;
  lines: { line: number; ids: number[]; offsets: [number, number][]; decoded: string }[];
  special_ids: Record<string, number | null>;
  pair: number[];
  input_names: string[];
  model_max_length: number;
}
const cases = casesOf<FolderCase>('tokenizer_folders');
const sample: string[] = readFileSync(fixturePath('tokenizer_sample/sample.jsonl'), 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => JSON.parse(line));
const specialNames = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map((role) => `${role}_token` as 'mask_token');
const folderOf = (name: string) => fixturePath(`tokenizer_folders/${name}`);
const bytes = (text: string) => new TextEncoder().encode(text);

describe('folders without tokenizer.json', () => {
  it.each(cases)('$name', async (one) => {
    const tokenizer: PreTrainedTokenizer = await AutoTokenizer.from_pretrained(folderOf(one.name));
    for (const { line, ids, offsets, decoded } of one.lines) {
      const text = sample[line] ?? '';
      const found = tokenizer(text, { return_tensor: false, return_offsets_mapping: true });
      expect({ text, ids: found.input_ids, offsets: found.offset_mapping }).toEqual({ text, ids, offsets });
      expect(tokenizer.decode(ids, { skip_special_tokens: true })).toBe(decoded);
    }
    expect(tokenizer.encode('one two', { text_pair: 'three' })).toEqual(one.pair);
    expect(tokenizer.model_max_length).toBe(
      one.model_max_length > 1e9 ? Number.POSITIVE_INFINITY : one.model_max_length,
    );
    expect(Object.keys(tokenizer('one two', { text_pair: 'three' })).sort()).toEqual(one.input_names);
    const special = Object.keys(one.special_ids).map((name) => [name, tokenizer[name as 'mask_token_id']]);
    expect(Object.fromEntries(special)).toEqual(one.special_ids);
  });

  it.each([
    ['GPTNeoX', ['<|endoftext|>', '<|endoftext|>', '<|endoftext|>', null, '<|padding|>', null, null]],
    ['Gemma', ['<bos>', '<eos>', '<unk>', null, '<pad>', null, '<mask>']],
    ['Cohere', ['<BOS_TOKEN>', '<|END_OF_TURN_TOKEN|>', '<UNK>', '<SEP>', '<PAD>', '<CLS>', '<MASK_TOKEN>']],
    ['MPNet', ['<s>', '</s>', '[UNK]', '</s>', '<pad>', '<s>', '<mask>']],
    ['DebertaV2', ['[CLS]', '[SEP]', '[UNK]', '[SEP]', '[PAD]', '[CLS]', '[MASK]']],
    ['Albert', ['[CLS]', '[SEP]', '<unk>', '[SEP]', '<pad>', '[CLS]', '[MASK]']],
  ])('the tokens of the class %s, if the vocabulary has them', async (kind, tokens) => {
    const kinds = { GPTNeoX: 'stablelm', Gemma: 'gemma2', Cohere: 'cohere2', DebertaV2: 'deberta-v2' };
    const json = (words: readonly (string | null)[]) =>
      bytes(
        JSON.stringify({ model: { type: 'BPE', merges: [], vocab: Object.fromEntries(words.map((w, i) => [w, i])) } }),
      );
    const [config, model] = [
      { tokenizer_class: `${kind}TokenizerFast` },
      { model_type: kinds[kind as 'Gemma'] ?? kind },
    ];
    const vocab = [...new Set(tokens.filter((token) => token !== null))];
    for (const files of [{ 'tokenizer_config.json': config }, { 'config.json': model }]) {
      const given = Object.fromEntries(
        Object.entries(files).map(([name, file]) => [name, bytes(JSON.stringify(file))]),
      );
      const whole = await AutoTokenizer.from_pretrained({ 'tokenizer.json': json(vocab), ...given });
      expect(specialNames.map((name) => whole[name])).toEqual(tokens);
      const bare = await AutoTokenizer.from_pretrained({ 'tokenizer.json': json(['a']), ...given });
      expect(bare.all_special_ids).toEqual([]);
    }
  });

  it('DistilBERT reads no segments, but the class of such models without another makes them', async () => {
    const files = {
      'vocab.txt': bytes('[PAD]\n[UNK]\n[CLS]\n[SEP]\na'),
      'config.json': bytes('{"model_type": "distilbert"}'),
    };
    const usual = await AutoTokenizer.from_pretrained(files);
    expect(usual.model_input_names).toContain('token_type_ids');
    const named = bytes('{"tokenizer_class": "DistilBertTokenizer"}');
    const own = await AutoTokenizer.from_pretrained({ ...files, 'tokenizer_config.json': named });
    expect(own.model_input_names).not.toContain('token_type_ids');
  });

  it('ends the lines of vocab.txt as Rust does', async () => {
    const vocab = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'a', '\ufeff', 'd\ufeff \u0085', ' x'].join('\n');
    const tokenizer = await AutoTokenizer.from_pretrained({
      'vocab.txt': bytes(`${vocab} \r\n`),
      'config.json': bytes('{"model_type": "bert"}'),
    });
    expect(tokenizer.convert_tokens_to_ids(['a', '\ufeff', 'd\ufeff', ' x'])).toEqual([4, 5, 6, 7]);
    expect(tokenizer.vocab_size).toBe(8);
  });

  it.each([
    ['language', 'klingon', 'klingon is none of en'],
    ['task', 'sing', 'sing is none of transcribe, translate'],
  ])('refuses a %s that Whisper does not have', async (option, value, why) => {
    const names = ['vocab.json', 'merges.txt', 'added_tokens.json'];
    const files = Object.fromEntries(names.map((name) => [name, readFileSync(`${folderOf('whisper')}/${name}`)]));
    const config = bytes(JSON.stringify({ tokenizer_class: 'WhisperTokenizer', [option]: value }));
    const refused = await failureOf(() => AutoTokenizer.from_pretrained({ ...files, 'tokenizer_config.json': config }));
    expect(refused).toMatchObject({ code: 'malformed_config', details: { file: 'tokenizer_config.json', option } });
    expect(refused.message).toContain(why);
  });

  it('refuses what only SentencePiece can read, and what is no tokenizer', async () => {
    const marian = {
      'source.spm': bytes('…'),
      'vocab.json': bytes('{"a": 0}'),
      'config.json': bytes('{"model_type": "marian"}'),
    };
    const refused = await failureOf(() => AutoTokenizer.from_pretrained(marian));
    expect(refused).toMatchObject({ code: 'unsupported', details: { file: 'source.spm' } });
    expect(refused.message).toContain('SentencePiece');
    const names = [
      'spm.model',
      'tokenizer.model',
      'tekken.json',
      'tiktoken.model',
      'qwen.tiktoken',
      'o200k_base.tiktoken',
    ];
    for (const file of names) {
      const other = { [file]: bytes('{}'), 'config.json': bytes('{"model_type": "deberta-v2"}') };
      const failure = await failureOf(() => AutoTokenizer.from_pretrained(other));
      expect(failure).toMatchObject({ code: 'unsupported', details: { file } });
      expect(failure.message).toMatch(new RegExp(`^${file}, .* is not read: .* writes tokenizer\\.json`));
    }
    const unknown = { 'vocab.json': bytes('{"a": 0}'), 'merges.txt': bytes('') };
    expect(await failureOf(() => AutoTokenizer.from_pretrained(unknown))).toMatchObject({
      code: 'file_not_found',
      details: { file: 'tokenizer.json' },
    });
    const named = { ...unknown, 'config.json': bytes('{"model_type": "qwen2"}') };
    const { message } = await failureOf(() => AutoTokenizer.from_pretrained(named));
    expect(message).toMatch(/^tokenizer\.json is not in .*, and vocab\.json is read for .*, not for qwen2: /);
    const gpt2 = { 'config.json': bytes('{"model_type": "gpt2"}') };
    for (const [file, missing] of [
      ['vocab.json', 'merges.txt'],
      ['merges.txt', 'vocab.json'],
    ] as const) {
      const half = { ...gpt2, [file]: unknown[file] };
      expect(await failureOf(() => AutoTokenizer.from_pretrained(half))).toMatchObject({ details: { file: missing } });
    }
    const broken = { 'vocab.txt': Uint8Array.of(0xff), 'config.json': bytes('{"model_type": "bert"}') };
    expect(await failureOf(() => AutoTokenizer.from_pretrained(broken))).toMatchObject({
      code: 'malformed_config',
      details: { file: 'vocab.txt' },
    });
  });
});
