// Quantised weights: the trained checkpoints' outputs are within the stated thresholds, every way of running works, and
// the stated memory is saved.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AutoModelForCausalLM, AutoTokenizer, pipeline } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { missedBars } from '../../scripts/accuracy/bars.js';
import { type Measured, measure, subjectNames } from '../../scripts/accuracy/measure.js';
import { storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const asked = { compared: ['fp16', 'q8'], weighed: ['q4'], extent: 'bars' } as const;

describe.each(variants)('%s', { timeout: 180_000 }, (variant) => {
  const wrong = variant === 'relaxed' && Number(process.versions.node.split('.')[0]) < 22;

  it.runIf(wrong)('refuses q8 and q4 where the engine computes wrong', async () => {
    for (const dtype of ['q8', 'q4'] as const) {
      const loading = AutoModelForCausalLM.from_pretrained(storiesPath, { dtype, ...optionsFor(variant) });
      await expect(loading).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('deterministic'),
      });
    }
  });

  it.skipIf(wrong).each(subjectNames)('%s keeps its accuracy', async (name) => {
    const results = await measure(project, name, asked, optionsFor(variant));
    const of = (dtype: string) => results.find((result) => result.dtype === dtype) as Measured;
    expect(of('fp32')).toMatchObject(
      of('fp32').rms === undefined ? { cosine: expect.closeTo(1, 6) } : { top: 1, rms: 0 },
    );
    expect(missedBars(results)).toEqual([]);
    expect(of('q8').cosine ?? of('q8').top).toEqual(expect.any(Number));
    expect(of('fp16').bytes).toBeLessThan(of('fp32').bytes * 0.75);
    // Models with only small matrices stay in fp16.
    const small = of('fp32').bytes < 2e6;
    expect(of('q8').bytes).toBeLessThan(of('fp16').bytes * (small ? 1.001 : 0.75));
    expect(of('q4').bytes).toBeLessThan(of('q8').bytes * (small ? 1.001 : 0.9));
  });
});

describe('a model in q8', () => {
  const load = (options = {}) =>
    AutoModelForCausalLM.from_pretrained(storiesPath, { dtype: 'q8', deterministic: true, ...options });
  const marianPath = fileURLToPath(new URL('../../web/demo/public/models/marian-tiny-en-fr', import.meta.url));
  const input_ids = [[1, 403, 407, 261, 378]];

  it('says so', async () => {
    await using model = await load();
    expect(model.dtype).toBe('q8');
    expect(model.info().dtype).toBe('q8');
    expect(model.info().dotBits).toBe(16); // plain SIMD has no product of bytes
    await using exact = await AutoModelForCausalLM.from_pretrained(storiesPath);
    expect(exact.dtype).toBe('fp32');
    expect(model.info().memory.weights).toBeLessThan(exact.info().memory.weights * 0.51);
  });

  it('can be looked into without changing its numbers', async () => {
    await using model = await load();
    const { logits } = await model({ input_ids });
    const [seen, cache] = await model.run_with_cache({ input_ids });
    expect(seen.data).toEqual(logits?.data);
    expect(Object.keys(cache)).toEqual(model.hooks().map(({ name }) => name));
    const { attentions } = await model({ input_ids }, { output_attentions: true });
    expect(attentions).toHaveLength(5);
  });

  it('gives the same numbers in a worker', async () => {
    await using here = await load();
    await using there = await load({ worker: true });
    const [a, b] = await Promise.all([here({ input_ids }), there({ input_ids })]);
    expect(b.logits?.data).toEqual(a.logits?.data);
    expect(there.info()).toMatchObject({ dtype: 'q8', memory: here.info().memory });
  });

  it('writes with and without its cache alike', async () => {
    await using model = await load();
    const options = { max_new_tokens: 30 };
    const cached = await model.generate({ input_ids }, options);
    const anew = await model.generate({ input_ids }, { ...options, use_cache: true });
    expect(anew.data).toEqual(cached.data);
  });

  it('serves pipelines', async () => {
    const translate = await pipeline('translation', marianPath, { dtype: 'q8', deterministic: true });
    expect(translate.model.dtype).toBe('q8');
    expect(await translate('Where is the station?')).toEqual([{ translation_text: 'Où est la gare ?' }]);
    await translate.dispose();
  });

  it('is made of a sharded or a spoiled checkpoint like one in fp32', async () => {
    const config = new Uint8Array(readFileSync(`${storiesPath}/config.json`));
    const weights = new Uint8Array(readFileSync(`${storiesPath}/model.safetensors`));
    const loading = AutoModelForCausalLM.from_pretrained(
      { 'config.json': config, 'model.safetensors': weights.subarray(0, weights.length - 100) },
      { dtype: 'q8', deterministic: true },
    );
    await expect(loading).rejects.toMatchObject({ code: 'malformed_file' });
  });
});

describe('memory', () => {
  it('is weights, keys and values, and a bounded workspace', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
    const inputs = tokenizer('Once upon a time');
    const { workspace, ...start } = model.info().memory; // finding the hook points used some
    expect(start).toEqual({ weights: 4 * 260_032, cache: 0, peak: 4 * 260_032 + workspace });
    const { past_key_values } = await model(inputs, { use_cache: true });
    const { memory } = model.info();
    expect(memory.cache).toBe((await past_key_values?.info())?.bytes);
    expect(memory.workspace).toBeGreaterThan(0);
    expect(memory.peak).toBe(memory.weights + memory.cache + memory.workspace);
    await past_key_values?.dispose();
    expect(model.info().memory).toEqual({ ...memory, cache: 0 });
    await model(inputs);
    expect(model.info().memory).toEqual({ ...memory, cache: 0 });
    expect(model.info().heapBytes).toBeGreaterThan(memory.peak);
    await model.dispose();
    expect(model.info().memory).toEqual({ weights: 0, cache: 0, workspace: 0, peak: 0 });
  });
});
