// inspect and validate: the description of a folder, and all its problems.
import { readFileSync } from 'node:fs';
import { type Inspection, inspect, validate } from 'clearformer';
import { describe, expect, it } from 'vitest';

import { checkpointFolder } from '../../scripts/models/checkpoints.js';
import { bundledModel, folderOf, json, numberedWords, run } from './support/command.js';
import { FileServer } from './support/server.js';

const stories = bundledModel('stories260K');
const bundled = ['stories260K', 'marian-tiny-en-fr', 'vit-mnist', 'gpt-nano-sort'];
const timeout = 120_000;

/** Sorts files by name, since the order of responses varies. */
const inOrder = (found: Inspection): Inspection => ({
  ...found,
  files: found.files.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});

describe('inspect', { timeout }, () => {
  it.each([...bundled, 'all-MiniLM-L6-v2', 'whisper-tiny'])(
    '%s: the command line says what the package says',
    async (name) => {
      const folder = bundled.includes(name) ? bundledModel(name) : checkpointFolder(name as 'whisper-tiny');
      const found = await json(['inspect', folder]);
      expect(inOrder(found)).toEqual(inOrder(JSON.parse(JSON.stringify(await inspect(folder)))));
      expect([found.valid, found.problems]).toEqual([true, []]);
      const { code, out } = await run(['inspect', folder]);
      expect(code).toBe(0);
      for (const part of [found.model_type, found.tensors[0].name, `parameters +${found.parameters}\n`]) {
        expect(out).toMatch(new RegExp(part.replaceAll('.', '\\.')));
      }
    },
  );

  it('tells a bundled model in numbers', async () => {
    const found = await json(['inspect', stories]);
    expect(found).toMatchObject({
      model_type: 'llama',
      kind: 'decoder-only',
      task: 'causal-lm',
      pipeline: 'text-generation',
      parameters: 260032,
      bytes: { F16: 2 * 260032 },
      cfg: { n_key_value_heads: 4 },
      unexpected_tensors: [],
      missing_tensors: [],
    });
    expect(found.tensors.length).toBe(47);
  });

  it('reads a folder behind a URL', async () => {
    const names = [
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ];
    const files = Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(`${stories}/${name}`))]));
    const server = await FileServer.start(files);
    expect(inOrder(await json(['inspect', server.url]))).toEqual(inOrder(await json(['inspect', stories])));
    await server.stop();
  });

  it('a model that is not supported still has its tensors listed, with exit code 0', async () => {
    const folder = folderOf(stories, {
      'config.json': '{"model_type": "mamba", "architectures": ["MambaForCausalLM"]}',
    });
    const found = await json(['inspect', folder]);
    expect([found.model_type, found.valid, found.tensors.length]).toEqual(['mamba', false, 47]);
    expect((await run(['inspect', folder])).out).toMatch(/problems \(1\)\n.*mamba/);
  });
});

describe('validate', { timeout }, () => {
  it.each(bundled)('%s is valid', async (name) => {
    const { code, out, err } = await run(['validate', bundledModel(name)]);
    expect([code, out, err]).toEqual([0, expect.stringMatching(/^valid: \w+, \d+ tensors, \d+ parameters\n$/), '']);
  });

  it('a token that no request can hold is no fault of the model', async () => {
    process.env.HF_TOKEN = 'hf_…';
    try {
      for (const command of ['inspect', 'validate']) {
        const { code, out, err } = await run([command, 'someone/model']);
        expect([code, out]).toEqual([1, '']);
        expect(err).toMatch(/^clearformer: invalid_argument: the token of HF_TOKEN .*\n$/);
      }
    } finally {
      process.env.HF_TOKEN = '';
    }
  });

  it('finds numbers that are none in every format', async () => {
    const spoiled = (name: string, ending: number[]) => {
      const weights = readFileSync(`${bundledModel(name)}/model.safetensors`);
      weights.set(ending, weights.length - ending.length);
      return folderOf(bundledModel(name), { 'model.safetensors': weights });
    };
    const nanAndInfinity = spoiled('stories260K', [0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0xff]);
    const { code, out } = await run(['validate', nanAndInfinity]);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^model.safetensors: tensor ".+" has 2 values .*NaN or infinite\n$/),
    ]);
    const half = await run(['validate', spoiled('marian-tiny-en-fr', [0, 0xfc]), '--json']); // float16's -infinity
    expect([half.code, JSON.parse(half.out)]).toMatchObject([
      1,
      { valid: false, problems: [{ code: 'malformed_file' }] },
    ]);
    expect((await validate(nanAndInfinity)).problems).toHaveLength(1);
  });

  it('has a line for every file that is wrong', async () => {
    const weights = readFileSync(`${stories}/model.safetensors`);
    const config = JSON.parse(readFileSync(`${stories}/config.json`, 'utf8'));
    const folder = folderOf(stories, {
      'config.json': JSON.stringify({ ...config, id2label: { 0: 'a', 1: [], 2: 3 } }),
      'generation_config.json': '{"temperature": -1}',
      'tokenizer.json': '{"model": {"type": "Lattice", "vocab": {"a": 0}}}',
      'modules.json': '[{"path": "", "type": "models.Dense"}]',
      'model.safetensors': weights.subarray(0, weights.length - 4),
    });
    const { code, out } = await run(['validate', folder]);
    expect(code).toBe(1);
    for (const part of ['id2label names class 1 ', 'model.safetensors', 'temperature', 'Lattice', 'models.Dense']) {
      expect(out.split('\n').filter((line) => line.includes(part))).toHaveLength(1);
    }
  });

  it('finds a token beyond the vocabulary, tensors that are missing or have another shape, a folder with nothing', async () => {
    const tokens = await run([
      'validate',
      folderOf(stories, { 'tokenizer.json': numberedWords(513), 'tokenizer_config.json': '{}' }),
    ]);
    expect([tokens.code, tokens.out]).toEqual([
      1,
      expect.stringContaining('"w512") is beyond the model\'s vocabulary of 512'),
    ]);
    const config = JSON.parse(readFileSync(`${stories}/config.json`, 'utf8'));
    const wider = await run([
      'validate',
      folderOf(stories, { 'config.json': JSON.stringify({ ...config, vocab_size: 600 }) }),
    ]);
    expect([wider.code, wider.out]).toEqual([1, expect.stringMatching(/shape \[512, 64\], expected \[600, 64\]/)]);
    const nothing = await run(['validate', folderOf(undefined)]);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('file_not_found')]);
  });
});
