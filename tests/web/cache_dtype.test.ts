// Keys and values kept in fp16 or eight bits: the option, its memory, and bits that do not depend on how a text is
// divided into calls, batches or threads.

import { fileURLToPath } from 'node:url';
import { AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM, type CacheType, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { storiesPath } from './support/references.js';

const models = fileURLToPath(new URL('../../web/demo/public/models/', import.meta.url));
const rounded = ['fp16', 'q8'] as const;
const text = [1, 403, 407, 261, 378, 417, 277, 313, 291, 263, 356, 302, 420, 304, 293, 268, 310, 289, 388, 426];

const load = (cache_dtype?: CacheType, options = {}) =>
  AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, cache_dtype, ...options });

describe.each(rounded)('a cache in %s', (cache_dtype) => {
  it('has the size that inspect states, and is named in info()', async () => {
    await using model = await load(cache_dtype);
    expect(model.info().cache_dtype).toBe(cache_dtype);
    const { past_key_values } = await model({ input_ids: [text] }, { use_cache: true });
    const { capacity = 0, bytes = 0 } = (await past_key_values?.info()) ?? {};
    const { cache } = await inspect(storiesPath);
    expect(bytes).toBe(capacity * (cache?.[cache_dtype].per_position ?? 0)); // heads of 8 fill the panels
    expect(bytes).toBeLessThan((cache?.fp32.per_position ?? 0) * capacity * 0.7);
    expect(model.info().memory.cache).toBe(bytes);
  });

  it('gives the same bits for a text in pieces, after a crop, and in a batch', async () => {
    await using model = await load(cache_dtype);
    const last = async (pieces: number[][], past?: Awaited<ReturnType<typeof model>>['past_key_values']) => {
      let past_key_values = past;
      let logits: Float32Array = new Float32Array();
      for (const piece of pieces) {
        const out = await model({ input_ids: [piece], past_key_values }, { use_cache: true });
        past_key_values = out.past_key_values;
        logits = (await out.logits.slice([0, 1], [-1, null])).data;
      }
      return { logits, past_key_values };
    };
    const whole = await last([text]);
    expect((await last([text.slice(0, 7), text.slice(7, 19), text.slice(19)])).logits).toEqual(whole.logits);
    await whole.past_key_values?.crop(9);
    expect((await last([text.slice(9)], whole.past_key_values)).logits).toEqual(whole.logits);
    const both = await model({ input_ids: [text, [...text].reverse()] }, { use_cache: true });
    expect((await both.logits.slice([0, 1], [-1, null])).data).toEqual(whole.logits);
    const { logits } = await model({ input_ids: [text] });
    const exact = (await logits.slice([0, 1], [-1, null])).data;
    expect(whole.logits).not.toEqual(exact);
    for (const [i, value] of exact.entries()) expect(whole.logits[i]).toBeCloseTo(value, 0);
  });

  it('serves samples and beams, with the same bits on two threads', async () => {
    const written: unknown[] = [];
    for (const numThreads of [1, 2]) {
      await using model = await load(cache_dtype, { numThreads });
      const options = { max_new_tokens: 24, num_beams: 3, return_dict_in_generate: true, output_scores: true } as const;
      const { sequences, sequences_scores } = await model.generate({ input_ids: [text.slice(0, 5)] }, options);
      written.push([sequences.data, sequences_scores?.data]);
    }
    expect(written[1]).toEqual(written[0]);
  });
});

describe('cache_dtype', () => {
  it('concerns an encoder-decoder, too', async () => {
    const written: string[] = [];
    for (const cache_dtype of ['fp32', 'fp16', 'q8'] as const) {
      await using model = await AutoModelForSeq2SeqLM.from_pretrained(`${models}marian-tiny-en-fr`, { cache_dtype });
      const ids = await model.generate({ input_ids: [[10, 20, 30, 0]] }, { num_beams: 2, max_new_tokens: 8 });
      written.push(ids.data.join());
    }
    expect(new Set(written).size).toBe(1);
  });

  it('is rejected by name where it is unknown or has no use', async () => {
    for (const cache_dtype of ['q4', 'float16', 8]) {
      await expect(load(cache_dtype as CacheType)).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining("'fp32', 'fp16', 'q8'"),
        details: { option: 'cache_dtype' },
      });
    }
    const encoder = AutoModel.from_pretrained(`${models}bert-tiny-fill`, { cache_dtype: 'q8' });
    await expect(encoder).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/keeps no keys/),
    });
    await using without = await AutoModel.from_pretrained(`${models}bert-tiny-fill`);
    expect(without.info().cache_dtype).toBe('fp32');
  });
});
