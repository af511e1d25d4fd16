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
const cases = casesOf('tokenizer_folders') as unknown as FolderCase[];
const sample: string[] = readFileSync(fixturePath('tokenizer_sample/sample.jsonl'), 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => JSON.parse(line));
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

  it('ends the lines of vocab.txt as Rust does', async () => {
    const vocab = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'a', '\ufeff', 'd\ufeff \u0085', ' x'].join('\n');
    const tokenizer = await AutoTokenizer.from_pretrained({
      'vocab.txt': bytes(`${vocab} \r\n`),
      'config.json': bytes('{"model_type": "bert"}'),
    });
    expect(tokenizer.convert_tokens_to_ids(['a', '\ufeff', 'd\ufeff', ' x'])).toEqual([4, 5, 6, 7]);
    expect(tokenizer.vocab_size).toBe(8);
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
    const unknown = { 'vocab.json': bytes('{"a": 0}'), 'merges.txt': bytes('') };
    expect(await failureOf(() => AutoTokenizer.from_pretrained(unknown))).toMatchObject({
      code: 'file_not_found',
      details: { file: 'tokenizer.json' },
    });
    const broken = { 'vocab.txt': Uint8Array.of(0xff), 'config.json': bytes('{"model_type": "bert"}') };
    expect(await failureOf(() => AutoTokenizer.from_pretrained(broken))).toMatchObject({
      code: 'malformed_config',
      details: { file: 'vocab.txt' },
    });
  });
});
