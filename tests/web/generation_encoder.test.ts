// Generation of encoder-decoders: initial tokens and caches.

import { readFileSync } from 'node:fs';
import { AutoModelForSeq2SeqLM, type GenerativeModel } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

describe('generation with an encoder', () => {
  let model: GenerativeModel;
  beforeAll(async () => {
    model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/odd'));
  });
  afterAll(() => model.dispose());
  const inputs = { input_ids: [[5, 9, 12, 40, 7, 2]] };
  const options = { max_new_tokens: 4, num_beams: 2, eos_token_id: null, forced_eos_token_id: null } as const;

  it('keeps what encoder and decoder did, under their names', async () => {
    const all = { output_attentions: true, output_hidden_states: true, return_dict_in_generate: true } as const;
    const out = await model.generate(inputs, { ...options, ...all });
    expect(out.sequences.dims).toEqual([1, 5]);
    const { n_layers, n_heads, d_model } = model.cfg;
    expect(out.encoder_attentions?.map(({ dims }) => dims)).toEqual(new Array(n_layers).fill([1, n_heads, 6, 6]));
    expect(out.encoder_hidden_states).toHaveLength(n_layers + 1);
    expect(out.decoder_attentions?.map((layers) => layers[0]?.dims)).toEqual(
      [1, 2, 3, 4].map((length) => [2, n_heads, 1, length]),
    );
    expect(out.cross_attentions?.[3]?.[0]?.dims).toEqual([2, n_heads, 1, 6]);
    expect(out.decoder_hidden_states?.[0]?.[n_layers]?.dims).toEqual([2, 1, d_model]);
    expect(out.attentions).toBe(undefined);
    await out.past_key_values?.dispose();
  });

  it('begins with decoder_input_ids, and puts the start token in front where it is missing', async () => {
    const start = Number((await model.generate(inputs, options)).data[0]);
    const greedy = { ...options, num_beams: 1 };
    const given = await model.generate({ ...inputs, decoder_input_ids: [[start, 8, 9]] }, greedy);
    const without = await model.generate({ ...inputs, decoder_input_ids: [[8, 9]] }, greedy);
    expect(without.data).toEqual(given.data);
    expect(Array.from(given.data.slice(0, 3), Number)).toEqual([start, 8, 9]);
    const puts: bigint[][][] = [];
    await model.generate(inputs, { ...greedy, streamer: { put: (value) => puts.push(value), end() {} } });
    expect(puts[0]).toEqual([[BigInt(start)]]);
    expect(puts).toHaveLength(5);
  });

  it('takes the defaults of the checkpoint', async () => {
    const out = await model.generate(inputs, { max_new_tokens: 4 });
    expect(Number(out.data.at(-1))).toBe(2); // forced_eos_token_id
  });

  it('begins with bos_token_id where decoder_start_token_id is null', async () => {
    const begun = async (given: object) => Number((await model.generate(inputs, { ...options, ...given })).data[0]);
    expect(await begun({})).toBe(2);
    expect(await begun({ decoder_start_token_id: null })).toBe(0);
  });

  it('begins with bos_token_id where a folder asks for it by an old name', async () => {
    const folder = fixturePath('models/bart/odd');
    const read = (name: string) => readFileSync(`${folder}/${name}`);
    const { forced_eos_token_id, ...config } = JSON.parse(read('config.json').toString());
    const old = JSON.stringify({ ...config, force_bos_token_to_be_generated: true });
    const files = { 'config.json': Buffer.from(old), 'model.safetensors': read('model.safetensors') };
    await using forced = await AutoModelForSeq2SeqLM.from_pretrained(files);
    const greedy = { max_new_tokens: 4 };
    const named = { ...greedy, forced_bos_token_id: 0, forced_eos_token_id: null };
    expect((await forced.generate(inputs, greedy)).data).toEqual((await model.generate(inputs, named)).data);
  });

  it('leaves the encoder out where the cache holds what it read', async () => {
    const { past_key_values } = await model({ ...inputs, decoder_input_ids: [[2, 8]] }, { use_cache: true });
    const attention_mask = [[1, 1, 1, 1, 1, 1]];
    for (const given of [inputs, { attention_mask }]) {
      const failure = await failureOf(() => model({ ...given, decoder_input_ids: [[9]], past_key_values }));
      expect([failure.code, failure.message]).toEqual([
        'unsupported',
        'forward: past_key_values hold what the encoder read: leave out its inputs',
      ]);
    }
    await past_key_values?.dispose();
  });
});
