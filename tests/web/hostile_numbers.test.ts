// Requests for more than memory holds: a typed error before any work, and the model continues to work.

import { AutoModelForCausalLM, alibi_bias, alibi_slopes, shift_matrix, sinusoidal_encoding, zeros } from 'clearformer';
import { expect, it } from 'vitest';
import { storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [[1, 403]];
const tooMuch = expect.objectContaining({ code: 'out_of_memory' });

it.each(variants)('%s: beams and sequences without number', async (variant) => {
  await using model = await AutoModelForCausalLM.from_pretrained(storiesPath, optionsFor(variant));
  const written = async () => (await model.generate({ input_ids }, { max_new_tokens: 8 })).tolist();
  const before = await written();
  for (const many of [1e6, 1e8, 1e9, 2 ** 31 - 1]) {
    await expect(model.generate({ input_ids }, { max_new_tokens: 3, num_beams: many })).rejects.toThrow(tooMuch);
    const sampled = { max_new_tokens: 3, do_sample: true, num_return_sequences: many };
    await expect(model.generate({ input_ids }, sampled)).rejects.toThrow(tooMuch);
    expect(await written()).toEqual(before);
  }
});

it('tables larger than the address space', async () => {
  const small = (await sinusoidal_encoding(10, 4)).tolist();
  for (const [count, width] of [
    [1e9, 1e3],
    [1e9, 1],
    [2 ** 30, 2],
    [2 ** 30 - 1, 4],
    [2 ** 31 - 1, 1],
  ] as const) {
    await expect(sinusoidal_encoding(count, width)).rejects.toThrow(tooMuch);
    expect((await sinusoidal_encoding(10, 4)).tolist()).toEqual(small);
  }
  const start = performance.now();
  for (const many of [1e6, 1e9, 2 ** 31 - 1]) {
    await expect(shift_matrix(1, many - (many % 2))).rejects.toThrow(tooMuch);
    await expect(alibi_bias(many, { queries: 1000, keys: 1000 })).rejects.toThrow(tooMuch);
    expect(() => zeros([many, many])).toThrow(tooMuch);
  }
  await expect(alibi_slopes(1e9)).rejects.toThrow(tooMuch);
  expect(performance.now() - start).toBeLessThan(2000);
});
