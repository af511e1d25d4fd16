// ESM, language models of proteins: the tokenizer that transformers has in Python alone, pipelines with it, masked tokens in
// texts of different lengths, what the files hold besides weights, and what is refused by name.

import { readFileSync } from 'node:fs';
import {
  AutoModel,
  AutoModelForMaskedLM,
  AutoModelForQuestionAnswering,
  AutoTokenizer,
  EsmForMaskedLM,
  inspect,
  type PreTrainedTokenizer,
  pipeline,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath } from './support/references.js';

interface Text {
  text: string;
  tokens: string[];
  ids: number[];
  decoded: string;
  plain: string;
  raw: string;
}
interface Texts {
  name: string;
  texts: Text[];
  calls: { text: string; options: Record<string, unknown>; found: Record<string, number[]> }[];
  roles: Record<string, string | null>;
  input_names: string[];
}
interface Answer {
  score: number;
  token: number;
  token_str: string;
  sequence: string;
}

const [texts] = casesOf<Texts>('tokenizer_esm');
const answers = casesOf<{ name: string; texts: string[]; found: unknown }>('tokenizer_esm').slice(1);
const folder = fixturePath('tokenizer_esm/folder');
const files = (checkpoint: string, change: Record<string, unknown> = {}) => {
  const read = (path: string) => readFileSync(fixturePath(path));
  const config = { ...JSON.parse(read(`models/esm/${checkpoint}/config.json`).toString()), ...change };
  return {
    'config.json': new TextEncoder().encode(JSON.stringify(config)),
    'model.safetensors': read(`models/esm/${checkpoint}/model.safetensors`),
    'vocab.txt': read('tokenizer_esm/folder/vocab.txt'),
    'tokenizer_config.json': read('tokenizer_esm/folder/tokenizer_config.json'),
    'special_tokens_map.json': read('tokenizer_esm/folder/special_tokens_map.json'),
  };
};

describe('EsmTokenizer', () => {
  it('has the tokens, ids and texts of transformers', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const vocabulary = readFileSync(`${folder}/vocab.txt`, 'utf8').split('\n');
    expect(texts?.texts.length).toBeGreaterThan(200);
    for (const { text, tokens, ids, decoded, plain, raw } of texts?.texts ?? []) {
      expect({ text, ids: tokenizer.encode(text) }).toEqual({ text, ids });
      const known = tokens.map((token) => (vocabulary.includes(token) ? token : '<unk>'));
      expect({ text, tokens: tokenizer.tokenize(text) }).toEqual({ text, tokens: known });
      expect({ text, decoded: tokenizer.decode(ids) }).toEqual({ text, decoded });
      expect(tokenizer.decode(ids, { skip_special_tokens: true })).toBe(plain);
      expect(tokenizer.decode(ids, { clean_up_tokenization_spaces: false })).toBe(raw);
    }
    for (const { text, options, found } of texts?.calls ?? []) {
      const { input_ids, attention_mask } = tokenizer(text, { ...options, return_tensor: false });
      expect({ text, input_ids, attention_mask }).toEqual({ text, ...found });
    }
    expect(tokenizer.model_input_names).toEqual(texts?.input_names);
    const roles = Object.keys(texts?.roles ?? {}).map((name) => [name, tokenizer[name as 'mask_token']]);
    expect(Object.fromEntries(roles)).toEqual(texts?.roles);
  });

  it('says where each token stands', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const text = 'MK <mask>tvL';
    const { input_ids, offset_mapping } = tokenizer(text, { return_tensor: false, return_offsets_mapping: true });
    const parts = (offset_mapping as [number, number][]).map(([first, after]) => text.slice(first, after));
    expect(parts).toEqual(['', 'M', 'K', '<mask>', 'tv', 'L', '']);
    expect((input_ids as number[])[4]).toBe(tokenizer.unk_token_id);
  });

  it('has the tokens of its class in a folder that names none, and reads lines as Python does', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const load = (vocabulary: string): Promise<PreTrainedTokenizer> =>
      AutoTokenizer.from_pretrained({
        'vocab.txt': bytes(vocabulary),
        'config.json': bytes('{"model_type": "esm"}'),
      });
    const tokenizer = await load('<cls>\r\n<pad>\r\n <eos>\t\n<unk>\nA\nAB\n<mask>');
    expect(tokenizer.encode('AABx<mask>')).toEqual([0, 4, 5, 3, 6, 2]);
    expect([tokenizer.mask_token, tokenizer.pad_token_id]).toEqual(['<mask>', 1]);
    const failure = await failureOf(() => load('\n\n'));
    expect([failure.code, failure.message]).toEqual(['malformed_config', 'vocab.txt: it has no token']);
  });
});

describe('pipelines of ESM', () => {
  it('fill-mask', async () => {
    const one = answers.find(({ name }) => name === 'fill-mask');
    const fill = await pipeline('fill-mask', files('even_masked_lm'));
    for (const [at, text] of (one?.texts ?? []).entries()) {
      const found = (await fill(text)) as Answer[];
      const expected = (one?.found as Answer[][] | undefined)?.[at] ?? [];
      expect(found.map(({ token, token_str, sequence }) => ({ token, token_str, sequence }))).toEqual(
        expected.map(({ token, token_str, sequence }) => ({ token, token_str, sequence })),
      );
      for (const [place, { score }] of found.entries())
        expect(score).toBeCloseTo(expected[place]?.score ?? Number.NaN, 5);
    }
    await fill.dispose();
  });

  it('feature-extraction', async () => {
    const one = answers.find(({ name }) => name === 'feature-extraction');
    const extract = await pipeline('feature-extraction', files('even_base'));
    const found = await extract(one?.texts[0] ?? '');
    const expected = one?.found as number[][];
    expect(found.dims).toEqual([1, expected.length, expected[0]?.length]);
    for (const [at, value] of expected.flat().entries()) expect(found.data[at]).toBeCloseTo(value, 4);
    await extract.dispose();
  });
});

describe('masked tokens', () => {
  it('of one text do not change another, whatever stands beside it', async () => {
    await using model = await EsmForMaskedLM.from_pretrained(files('even_masked_lm'));
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const batch = tokenizer(['MKTV<mask>RQ<mask>', 'ML<mask>'], { padding: true });
    const together = (await model(batch)).logits;
    for (const [row, text] of ['MKTV<mask>RQ<mask>', 'ML<mask>'].entries()) {
      const alone = (await model(tokenizer(text))).logits;
      const first = row * (together.data.length / 2);
      expect(together.data.subarray(first, first + alone.data.length)).toEqual(alone.data);
    }
  });

  it('alone in a text are zeros, where transformers divides by zero', async () => {
    await using model = await AutoModel.from_pretrained(files('even_base'));
    const { last_hidden_state } = await model({ input_ids: [[32, 32, 32]] });
    expect(last_hidden_state?.data.every(Number.isFinite)).toBe(true);
    const [, cache] = await model.run_with_cache({ input_ids: [[32, 32, 32]] }, { names_filter: 'hook_embed' });
    expect(cache.hook_embed?.data.every((value) => value === 0)).toBe(true);
  });
});

describe('what files of ESM hold', () => {
  it('nothing of a published one is unexpected, and all is said of a folding model', async () => {
    const { problems, unexpected_tensors } = await inspect(files('old_masked_lm'));
    expect([problems, unexpected_tensors]).toEqual([[], []]);
    const folding = await failureOf(() => AutoModel.from_pretrained(files('even_base', { is_folding_model: true })));
    expect([folding.code, folding.message]).toEqual(['unsupported', expect.stringContaining('"is_folding_model"')]);
    const named = await inspect(files('even_base', { architectures: ['EsmForProteinFolding'] }));
    expect(named.problems.map(({ message }) => message).join()).toContain('names EsmForProteinFolding');
  });

  it('has no head for questions', async () => {
    const failure = await failureOf(() => AutoModelForQuestionAnswering.from_pretrained(files('even_base')));
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('question-answering') });
  });

  it('frequencies of the file count, not those of rope_theta', async () => {
    const inputs = { input_ids: [[0, 5, 6, 7, 8, 2]] };
    await using model = await AutoModelForMaskedLM.from_pretrained(files('old_masked_lm'));
    await using other = await AutoModelForMaskedLM.from_pretrained(files('old_masked_lm', { rope_theta: 50 }));
    expect((await other(inputs)).logits.data).toEqual((await model(inputs)).logits.data);
    const saved = await EsmForMaskedLM.from_pretrained(await model.save_pretrained());
    expect((await saved(inputs)).logits.data).toEqual((await model(inputs)).logits.data);
    await saved.dispose();
    const stored = files('old_masked_lm');
    const bytes = Buffer.from(stored['model.safetensors']);
    const size = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + size)) as Record<
      string,
      { data_offsets: [number, number] }
    >;
    const name = 'esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq';
    bytes.writeFloatLE(-1, 8 + size + (header[name]?.data_offsets[0] ?? 0));
    const failure = await failureOf(() => AutoModel.from_pretrained({ ...stored, 'model.safetensors': bytes }));
    expect([failure.code, failure.message]).toEqual(['malformed_file', expect.stringContaining(name)]);
  });
});
