// New models: the tensors that transformers would save, filled from its distributions
// (tests/references/initial_weights.py), with the same bits for the same seed.

import { readFileSync } from 'node:fs';
import {
  AdamW,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  AutoModelForTokenClassification,
  BertForMaskedLM,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { normalQuantile } from '../../web/src/models/fresh/random_numbers.js';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { casesOf, fixturePath } from './support/references.js';

type Distribution = [kind: string, ...parameters: number[]];
interface Initial {
  distributions: Distribution[];
  tensors: Record<string, [dims: number[], distribution: number, zeroRow?: number]>;
}

const configOf = (name: string) => JSON.parse(readFileSync(fixturePath(`models/${name}/config.json`), 'utf8'));
/** What this library does not compute, and so leaves out of a new model. */
const unused = /mask_token$|^vision_model\.head\./;

/** The standard deviation of a distribution's numbers, and the largest they can be. */
function spreadOf([kind, a = 0, b = 0, c = 0]: Distribution): [std: number, largest: number] {
  if (kind === 'normal') return [b, Number.POSITIVE_INFINITY];
  if (kind === 'uniform') return [a / Math.sqrt(3), a];
  const limit = c / a; // of a truncated normal in units of its own
  if (limit > 8) return [a, c];
  const density = Math.exp(-(limit ** 2) / 2) / Math.sqrt(2 * Math.PI);
  let inside = 0; // Simpson's rule
  for (let i = 0; i <= 200; i++) {
    const x = -limit + (i * limit) / 100;
    inside +=
      ((i % 200 === 0 ? 1 : i % 2 === 0 ? 2 : 4) * Math.exp(-(x ** 2) / 2) * limit) / 300 / Math.sqrt(2 * Math.PI);
  }
  return [a * Math.sqrt(1 - (2 * limit * density) / inside), c];
}

function expectDrawn(name: string, data: Float32Array, dims: number[], distribution: Distribution, zeroRow?: number) {
  if (distribution[0] === 'constant') {
    expect(
      data.every((value) => value === Math.fround(distribution[1] as number)),
      name,
    ).toBe(true);
    return;
  }
  if (distribution[0] === 'logarithm') {
    const limit = distribution[1] as number;
    return expectDrawn(
      name,
      data.map((value) => (2 * Math.exp(value)) / limit - 1),
      dims,
      ['uniform', 1],
    );
  }
  const width = dims.at(-1) as number;
  const zeros = zeroRow === undefined ? new Float32Array() : data.subarray(zeroRow * width, (zeroRow + 1) * width);
  expect(
    zeros.every((value) => value === 0),
    name,
  ).toBe(true);
  const drawn = data.filter((_, at) => zeroRow === undefined || Math.floor(at / width) !== zeroRow);
  expect(drawn.filter((value) => value === 0).length, name).toBe(0);
  const [std, largest] = spreadOf(distribution);
  expect(
    drawn.every((value) => Math.abs(value) <= Math.fround(largest)),
    name,
  ).toBe(true);
  // The mean and the mean square of n numbers are normal, of deviations s / √n and at most s² √(2 / n): 5.5 of them.
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const square = drawn.reduce((sum, value) => sum + value ** 2, 0) / drawn.length;
  expect(Math.abs(mean), name).toBeLessThan((5.5 * std) / Math.sqrt(drawn.length));
  expect(Math.abs(square / std ** 2 - 1), name).toBeLessThan(5.5 * Math.sqrt(2 / drawn.length));
}

/** Whisper's encoder's and Pegasus's positions: sines, then cosines, of frequencies from 1 to (almost) 1e-4. */
function sinusoid(index: number, width: number, steps: number): number {
  const [position, at, half] = [Math.floor(index / width), index % width, width / 2];
  return (at < half ? Math.sin : Math.cos)(position * 10000 ** (-(at % half) / steps));
}

describe('from_config', () => {
  it.each(casesOf('initial_weights'))('$name is a new model of transformers', async (one) => {
    const { distributions, tensors } = one as unknown as Initial;
    const base = classOf(one.options.task ?? 'base', one.name);
    const model = await base.from_config(configOf(one.name), { deterministic: true });
    const found = new Map((await model.named_parameters()).map(({ name, dims }) => [name, dims]));
    const expected = Object.keys(tensors).filter((name) => found.has(name) || !unused.test(name));
    expect([...found.keys()].sort()).toEqual(expected.sort());
    for (const name of expected) {
      const [dims, index, zeroRow] = tensors[name] as Initial['tensors'][string];
      expect(found.get(name), name).toEqual(dims);
      const distribution = distributions[index] as Distribution;
      const { data } = await model.parameter(name);
      if (distribution[0] === 'copied') {
        const [, width = 0] = dims;
        const steps = width / 2 - Number(one.name.startsWith('whisper'));
        const wrong = data.findIndex((value, i) => Math.abs(value - sinusoid(i, width, steps)) > 1e-6);
        expect(wrong, name).toBe(-1);
      } else expectDrawn(name, data, dims, distribution, zeroRow);
    }
    await model.dispose();
  });

  it.each([
    't5/even',
    'mt5/even',
    'mt5/odd_encoder',
    'dinov2/even_base',
    'dinov2/odd_base',
    'dinov2_with_registers/even_base',
    'deberta_v2/even_masked_lm',
    'deberta_v2/odd_masked_lm',
    'falcon/even',
    'falcon/odd',
  ])('names the tensors of %s as transformers does', async (folder) => {
    const [architecture = '', checkpoint] = folder.split('/');
    const one = casesOf(`models/${architecture}`).find(({ options }) => options.checkpoint === checkpoint);
    const base = classOf(one?.options.task, architecture);
    const file = readFileSync(fixturePath(`models/${folder}/model.safetensors`));
    const header = JSON.parse(file.toString('utf8', 8, 8 + Number(file.readBigUInt64LE(0)))) as object;
    const model = await base.from_config(configOf(folder));
    const listed = (await model.named_parameters()).map(({ name, dims }) => [name, dims]);
    const known = Object.entries(header).map(([name, { shape }]) => [name, shape]);
    for (const entry of listed) expect(known).toContainEqual(entry);
    const names = new Set(listed.map(([name]) => name));
    const missing = known.map(([name]) => name).filter((name) => !names.has(name) && name !== '__metadata__');
    expect(missing.filter((name) => !unused.test(name) && !/lm_head\.weight$/.test(name))).toEqual([]); // tied
    await model.dispose();
  });

  it('has the numbers of the seed, in every dtype and engine, and is trained, saved and loaded like any model', async () => {
    const config = configOf('gpt2/odd');
    const first = await AutoModelForCausalLM.from_config(config, { seed: 7, deterministic: true });
    const again = await AutoModelForCausalLM.from_config(config, { seed: 7, worker: true });
    const other = await AutoModelForCausalLM.from_config(config, { seed: 8 });
    const name = 'transformer.h.0.attn.c_attn.weight';
    const { data } = await first.parameter(name);
    expect([...data.subarray(0, 3)]).toEqual([0.00707267364487052, 0.03163238242268562, 0.0096269641071558]);
    expect((await again.parameter(name)).data).toEqual(data);
    expect((await other.parameter(name)).data).not.toEqual(data);
    const numbers = new Set<string>([]);
    for (const seed of [0, 1, 2 ** 32, 2 ** 32 + 1]) {
      await using one = await AutoModelForCausalLM.from_config(config, { seed });
      numbers.add((await one.parameter(name)).data.subarray(0, 8).join());
    }
    expect(numbers.size).toBe(4);
    const small = await AutoModelForCausalLM.from_config(config, { seed: 7, dtype: 'q8', deterministic: true });
    expect(small.info().dtype).toBe('q8');
    const ids = { input_ids: [[5, 6, 7, 5, 6, 7]], labels: [[5, 6, 7, 5, 6, 7]] };
    const optimizer = new AdamW(first, { lr: 1e-2 });
    const before = await optimizer.backward(ids);
    for (let step = 0; step < 5; step++) {
      await optimizer.backward(ids);
      await optimizer.step();
    }
    const after = await optimizer.backward(ids);
    expect(after).toBeLessThan(before - 0.5);
    const files = await first.save_pretrained();
    const loaded = await AutoModelForCausalLM.from_pretrained(files, { deterministic: true });
    expect((await loaded({ input_ids: ids.input_ids })).logits.data).toEqual(
      (await first({ input_ids: ids.input_ids })).logits.data,
    );
    expect(JSON.parse(new TextDecoder().decode(files['config.json']))).toMatchObject({
      architectures: ['GPT2LMHeadModel'],
    });
    for (const model of [first, again, other, small, loaded]) await model.dispose();
  });

  // In transformers the head's own bias then has no effect; tied, it is that of the output layer.
  it.each([
    ['bert/odd_masked_lm', 'cls.predictions'],
    ['roberta/odd_masked_lm', 'lm_head'],
    ['albert/even_masked_lm', 'predictions'],
    ['mpnet/even_masked_lm', 'lm_head'],
  ])('names the bias of the output layer of %s by whether it is tied', async (folder, head) => {
    for (const tie_word_embeddings of [undefined, true, false]) {
      await using model = await AutoModelForMaskedLM.from_config({ ...configOf(folder), tie_word_embeddings });
      const names = (await model.named_parameters()).map(({ name }) => name).filter((name) => name.startsWith(head));
      const expected = tie_word_embeddings === false ? ['decoder.weight', 'decoder.bias'] : ['bias'];
      const found = names.filter((name) => /\.(decoder\.\w+|bias)$/.test(name) && !/dense|norm/i.test(name));
      expect(found.sort()).toEqual(expected.map((name) => `${head}.${name}`).sort());
    }
  });

  it('writes the class of the task, and floats as floats', async () => {
    const config = { ...configOf('bert/odd_base'), hidden_dropout_prob: 0 };
    const model = await AutoModelForTokenClassification.from_config({
      ...config,
      num_labels: 4,
      pad_token_id: 0n,
    });
    const text = new TextDecoder().decode((await model.save_pretrained())['config.json']);
    expect(text).toContain('"BertForTokenClassification"');
    expect(text).toContain('"pad_token_id": 0,');
    expect(text).toMatch(/"hidden_dropout_prob": 0\.0\b/);
    await model.dispose();
    const mpt = configOf('mpt/odd');
    const attn_config = { ...(mpt.attn_config as object), clip_qkv: 8 };
    await using other = await AutoModelForCausalLM.from_config({ ...mpt, embedding_fraction: 1, attn_config });
    const written = new TextDecoder().decode((await other.save_pretrained())['config.json']);
    for (const held of ['"embedding_fraction": 1.0,', '"clip_qkv": 8.0,']) expect(written).toContain(held);
  });

  it('refuses what it cannot make', async () => {
    const config = configOf('bert/odd_base');
    const refused: [() => Promise<unknown>, string][] = [
      [() => AutoModel.from_config({ ...config, model_type: 'unknown' }), 'unsupported'],
      [() => AutoModelForCausalLM.from_config(config), 'unsupported'],
      [() => AutoModel.from_config({ ...config, hidden_size: -1 }), 'malformed_config'],
      [() => AutoModel.from_config(null as never), 'invalid_argument'],
      [() => AutoModel.from_config(config, { seed: 0.5 }), 'invalid_argument'],
      [() => AutoModel.from_config(config, { revision: 'main' } as object), 'unsupported'],
      ...['gemma3', 'qwen3_5', 'wav2vec2', 'hubert'].map((model_type): [() => Promise<unknown>, string] => [
        () => AutoModel.from_config({ ...config, model_type }),
        'unsupported',
      ]),
      [() => BertForMaskedLM.from_config(configOf('gpt2/odd')), 'unsupported'],
    ];
    for (const [failing, code] of refused) expect(await failureOf(failing)).toMatchObject({ code });
  });

  it('takes a constant below 0, as torch does', async () => {
    const model = await AutoModel.from_config({ ...configOf('dinov2/odd_base'), layerscale_value: -0.5 });
    const { data } = await model.parameter('encoder.layer.0.layer_scale1.lambda1');
    expect(new Set(data)).toEqual(new Set([-0.5]));
    await model.dispose();
  });

  it('refuses a deviation that is none', async () => {
    for (const initializer_range of ['0.02', {}, { toString: 1, valueOf: 1 }, [0.02], true, -0.02]) {
      const failure = await failureOf(() => AutoModel.from_config({ ...configOf('bert/odd_base'), initializer_range }));
      expect(failure).toMatchObject({
        code: 'malformed_config',
        message: expect.stringContaining('initializer_range'),
      });
    }
  });
});

it('inverts the normal distribution function', () => {
  // scipy.stats.norm.ppf
  const known = [
    [0.5, 0],
    [0.975, 1.959963984540054],
    [0.01, -2.3263478740408408],
    [1e-9, -5.9978070150076865],
    [1e-20, -9.26234008979841],
  ] as const;
  for (const [p, x] of known) expect(normalQuantile(p)).toBeCloseTo(x, 12);
});
