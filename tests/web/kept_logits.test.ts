// logits_to_keep: logits of some positions have the bits of all of them; copies of a key/value cache.

import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  copyCache,
  DynamicCache,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [
  [1, 403, 407, 261, 378],
  [1, 261, 403, 378, 407],
];

/** Logits [batch, pos, d_vocab] at these positions. */
const at = ({ data, dims: [batch = 0, length = 0, words = 0] }: Tensor<'float32'>, places: number[]) =>
  Array.from({ length: batch }, (_, row) => places.map((place) => row * length + place))
    .flat()
    .flatMap((line) => [...data.slice(line * words, (line + 1) * words)]);

describe.each(variants)('%s', (variant) => {
  it.each([
    [1, [4]],
    [2, [3, 4]],
    [99, [0, 1, 2, 3, 4]],
    [0, [0, 1, 2, 3, 4]],
    [
      [-1, 2, 2],
      [4, 2, 2],
    ],
  ] as [number | number[], number[]][])('logits_to_keep: %j', async (logits_to_keep, places) => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, optionsFor(variant));
    const all = (await model({ input_ids })).logits;
    const { logits } = await model({ input_ids }, { logits_to_keep });
    expect(logits.dims).toEqual([2, places.length, 512]);
    expect([...logits.data]).toEqual(at(all, places));
    const edits = [{ hook: 'blocks.2.attn.hook_z', op: 'zero' }] as const;
    const edited = await model.run_with_hooks({ input_ids }, { edits });
    const kept = await model.run_with_hooks({ input_ids }, { edits, logits_to_keep });
    expect([...kept.data]).toEqual(at(edited, places));
    expect((await model.run_with_cache({ input_ids }, { logits_to_keep }))[0]).toEqual(logits);
    await model.dispose();
  });

  it('of the decoder', async () => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even'), optionsFor(variant));
    const inputs = { input_ids: [[5, 6, 7]], decoder_input_ids: [[0, 8, 9]] };
    const { logits } = await model(inputs);
    expect([...((await model(inputs, { logits_to_keep: 2 })).logits?.data ?? [])]).toEqual(at(logits, [1, 2]));
    await model.dispose();
  });

  it('a copied cache goes on by itself', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, optionsFor(variant));
    const whole = (await model({ input_ids })).logits;
    const past = new DynamicCache();
    await model({ input_ids, past_key_values: past });
    const copy = await copyCache(past, { rows: [1, 1], length: 2 });
    expect(await copy.info()).toMatchObject({ batch: 2, length: 2 });
    const rest = [407, 378];
    const next = await model({
      input_ids: [
        [403, 378, 407],
        [403, ...rest],
      ],
      past_key_values: copy,
    });
    expect([...next.logits.data.slice(0, 3 * 512)]).toEqual(at(whole, [2, 3, 4]).slice(3 * 512));
    expect((await past.info()).length).toBe(5);
    expect((await copy.info()).length).toBe(5);
    await past.dispose();
    const again = await copyCache(copy);
    expect(await again.info()).toMatchObject({ batch: 2, length: 5 });
    for (const part of [{ rows: [2] }, { rows: [] }, { rows: [0.5] }, { rows: [-1] }, { length: 6 }]) {
      expect(await failureOf(() => copyCache(copy, part))).toMatchObject({ code: 'invalid_argument' });
    }
    await model.dispose();
  });

  it('a cache that a call fills is filled before what is asked of it meanwhile', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, optionsFor(variant));
    const filled = async (use: (cache: DynamicCache) => Promise<unknown>): Promise<unknown> => {
      const cache = new DynamicCache();
      const [, used] = await Promise.all([model({ input_ids, past_key_values: cache }), use(cache)]);
      return [await cache.get_seq_length(), used];
    };
    expect(await filled((cache) => cache.get_seq_length())).toEqual([5, 5]);
    expect(await filled((cache) => cache.crop(2))).toEqual([2, undefined]);
    expect(await filled(async (cache) => (await copyCache(cache)).get_seq_length())).toEqual([5, 5]);
    const longer = { input_ids: input_ids.map((row) => [...row, 5]) };
    const options = { max_new_tokens: 3, do_sample: false };
    const written = await model.generate(longer, options);
    const write = (past_key_values: DynamicCache) => model.generate({ ...longer, past_key_values }, options);
    expect(await filled(write)).toEqual([8, written]);
    await model.dispose();
  });
});

describe('positions without logits', () => {
  const refused = async (model: { dispose(): Promise<void> }, call: () => Promise<unknown>, code: string) => {
    const { code: found, message } = await failureOf(call);
    expect(found, message).toBe(code);
    expect(message).toContain('logits_to_keep');
    await model.dispose();
  };

  it.each([5, -6])('%d of 5', async (position) => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    await refused(model, () => model({ input_ids }, { logits_to_keep: [position] }), 'invalid_argument');
  });

  it.each([-1, 1.5, [], [0.5], '1', null])('%j', async (given) => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    const options = { logits_to_keep: given as number };
    await refused(model, () => model({ input_ids }, options), 'invalid_argument');
  });

  it('a pass that computes none', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    const options = { stop_at_layer: 1, logits_to_keep: 1 };
    await refused(model, () => model.run_with_hooks({ input_ids }, options), 'invalid_argument');
    const encoder = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even'));
    await refused(encoder, () => encoder({ input_ids: [[5]] }, { logits_to_keep: 1 }), 'invalid_argument');
    const bert = await AutoModel.from_pretrained(fixturePath('models/bert/even_base'));
    await refused(bert, () => bert({ input_ids: [[5]] }, { logits_to_keep: 1 }), 'unsupported');
  });
});
