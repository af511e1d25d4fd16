// save_pretrained: the files of an edited model are those in tests/fixtures/saved, byte for byte, which transformers opens
// and which give its logits there (tests/references/saved.py). SAVED=write writes them, before that script is run.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  type Destination,
  type GenerativeModel,
  inspect,
  type ModelInputs,
  type PreTrainedModel,
  Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath, tensorsOf } from './support/references.js';

const marianPath = fileURLToPath(new URL('../../web/demo/public/models/marian-tiny-en-fr', import.meta.url));

/** The models with their edits. */
const saved = {
  gpt2: async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    await model.edit_parameter('blocks.1.attn.W_O', { op: 'zero', at: [2] });
    await model.edit_parameter('wte.weight', { op: 'scale', at: [[0, 40]], value: 1.5 });
    return model;
  },
  bart: async () => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
    await model.edit_parameter('decoder.1.mlp.W_in', { op: 'scale', value: -1 });
    return model;
  },
} satisfies Record<string, () => Promise<PreTrainedModel>>;
const names = Object.keys(saved) as (keyof typeof saved)[];
const reopened = { gpt2: AutoModelForCausalLM, bart: AutoModelForSeq2SeqLM };

const small = { model_type: 'gpt2', vocab_size: 11, n_positions: 8, n_embd: 4, n_layer: 1, n_head: 1 };

async function logitsOf(model: PreTrainedModel, inputs: ModelInputs): Promise<Float32Array> {
  return ((await model(inputs)) as unknown as { logits: Tensor<'float32'> }).logits.data;
}

describe.each(names)('save_pretrained of %s', (name) => {
  const folder = fixturePath(`saved/${name}`);

  it('writes the files that transformers opens', async () => {
    const model = await saved[name]();
    if (process.env.SAVED === 'write') await model.save_pretrained(folder);
    const files = await model.save_pretrained();
    expect(Object.keys(files).sort()).toEqual(['config.json', 'generation_config.json', 'model.safetensors']);
    for (const [file, bytes] of Object.entries(files)) {
      expect(Buffer.from(bytes).equals(readFileSync(join(folder, file)))).toBe(true);
    }
    await model.dispose();
  });

  it('gives transformers’ logits, with the same bits once it is opened again', async () => {
    const one = casesOf('saved').find((other) => other.name === name);
    if (one === undefined) throw new Error(`tests/references/saved.py has no ${name}`);
    const given = tensorsOf('saved', one);
    const inputs = Object.fromEntries(
      Object.keys(one.inputs).map((key) => [
        key,
        new Tensor('int64', given(key).data as BigInt64Array, given(key).dims),
      ]),
    ) as unknown as ModelInputs;
    const model = await saved[name]();
    const logits = await logitsOf(model, inputs);
    const expected = given('logits').data as Float32Array;
    const worst = logits.reduce((most, value, at) => Math.max(most, Math.abs(value - Number(expected[at]))), 0);
    expect(worst).toBeLessThanOrEqual(4 * (one.float32_error as { logits: number }).logits);
    const again = await reopened[name].from_pretrained(await model.save_pretrained());
    expect(await logitsOf(again, inputs)).toEqual(logits);
    expect(again.generation_config).toEqual(model.generation_config);
    const plain = await reopened[name].from_pretrained(
      fixturePath(name === 'bart' ? 'models/bart/even' : 'models/gpt2/odd'),
    );
    expect(await logitsOf(plain, inputs)).not.toEqual(logits);
  });
});

describe('save_pretrained', () => {
  it('writes into a folder, by path and by handle', async () => {
    const model = await saved.gpt2();
    const path = mkdtempSync(join(tmpdir(), 'clearformer-saved-'));
    try {
      const files = await model.save_pretrained(join(path, 'new', 'folder'));
      for (const [file, bytes] of Object.entries(files)) {
        expect(Buffer.from(bytes).equals(readFileSync(join(path, 'new', 'folder', file)))).toBe(true);
      }
      writeFileSync(join(path, 'taken'), '');
      expect(await failureOf(() => model.save_pretrained(join(path, 'taken')))).toMatchObject({
        code: 'invalid_argument',
      });
    } finally {
      rmSync(path, { recursive: true });
    }
  });

  it('names the class of the model that is saved', async () => {
    const own = await AutoModel.from_pretrained(fixturePath('models/bert/odd_masked_lm'));
    const files = await own.save_pretrained();
    expect(JSON.parse(new TextDecoder().decode(files['config.json'])).architectures).toEqual(['BertModel']);
    const { task, problems } = await inspect(files);
    expect([task, problems.filter(({ code }) => code === 'missing_tensor')]).toEqual(['base', []]);
    await own.dispose();
  });

  it.each<[string, () => Promise<GenerativeModel>]>([
    ['a folder', () => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'))],
    ['no files', () => AutoModelForCausalLM.from_config(small)],
  ])('writes the generation_config that was changed, of a model from %s', async (_, made) => {
    await using model = await made();
    delete model.generation_config.use_cache;
    const changes = { temperature: 2, repetition_penalty: 1, top_p: 0.5, max_new_tokens: 3, top_k: 4 };
    const lists = { of_objects: [{ a: [1, { b: null }] }] }; // of no option
    Object.assign(model.generation_config, changes, lists, { eos_token_id: Int32Array.of(2, 7) });
    const files = await model.save_pretrained();
    await using again = await AutoModelForCausalLM.from_pretrained(files);
    expect(again.generation_config).toEqual({ ...model.generation_config, eos_token_id: [2, 7] });
    const text = new TextDecoder().decode(files['generation_config.json']);
    const numbers = Object.fromEntries(
      [...text.matchAll(/"(\w+)": ([\d.]+)/g)].map(([, name, digits]) => [name, digits]),
    );
    expect(numbers).toMatchObject({
      temperature: '2.0',
      repetition_penalty: '1.0',
      top_p: '0.5',
      max_new_tokens: '3',
      top_k: '4',
    });
  });

  it('refuses rounded weights unless it is told to write what they stand for', async () => {
    const options = { dtype: 'q8', deterministic: true } as const;
    const model = await AutoModelForSeq2SeqLM.from_pretrained(marianPath, options);
    expect(await failureOf(() => model.save_pretrained())).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/is in q8: load the model with dtype 'fp32'/),
    });
    const files = await model.save_pretrained(undefined, { dequantize: true });
    const again = await AutoModelForSeq2SeqLM.from_pretrained(files);
    const rounded = (await model.named_parameters()).filter(({ quantized }) => quantized);
    for (const { name } of rounded.slice(0, 3)) {
      expect((await again.parameter(name)).data).toEqual((await model.parameter(name)).data);
    }
    const wrong = [
      () => model.save_pretrained(7 as unknown as Destination, { dequantize: true }),
      () => model.save_pretrained({} as unknown as Destination, { dequantize: true }),
    ];
    for (const failing of wrong) expect(await failureOf(failing)).toMatchObject({ code: 'invalid_argument' });
  });
});
