// Requests for more than memory holds: a typed error before any work, and the model continues to work.

import {
  AutoModelForCausalLM,
  alibi_bias,
  alibi_slopes,
  attention_pooling,
  copyCache,
  distinct_encodings,
  interpolate_positions,
  type KeyValueCache,
  relative_position_bias,
  shift_matrix,
  sinusoidal_encoding,
  Tensor,
  zeros,
} from 'clearformer';
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

// A cache of 500 positions copied into more rows than the address space holds, and operands whose packed keys wrap 32 bits.
it('copies and operands larger than the address space', async () => {
  await using model = await AutoModelForCausalLM.from_pretrained(storiesPath);
  const long = [Array.from({ length: 500 }, (_, i) => i + 1)];
  const { past_key_values } = await model({ input_ids: long }, { use_cache: true });
  const copy = copyCache(past_key_values as KeyValueCache, { rows: Array(66_600).fill(0) });
  await expect(copy).rejects.toThrow(tooMuch);
  expect((await model({ input_ids })).logits.dims).toEqual([1, 2, 512]);
  const many = new Tensor('float32', new Float32Array(2 ** 24), [2 ** 24, 1, 1, 1]);
  await expect(attention_pooling(many, many, many)).rejects.toThrow(tooMuch);
});

it('grids of more patches than the address space', async () => {
  const table = new Tensor('float32', new Float32Array(32), [4, 8]);
  const wraps = 2 ** 30 + 1; // times 4: 4
  for (const grid of [
    [wraps, 4],
    [4, wraps],
    [65_537, 65_536],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ] as [number, number][]) {
    await expect(interpolate_positions(table, grid, [2, 2])).rejects.toThrow(tooMuch);
    await expect(interpolate_positions(table, [2, 2], grid)).rejects.toThrow(tooMuch);
  }
  expect((await interpolate_positions(table, [2, 2], [1, 1])).dims).toEqual([1, 8]);
});

it('biases and encodings larger than the address space', async () => {
  const table = new Tensor('float32', new Float32Array(64), [32, 2]);
  const positions = new Tensor('int32', new Int32Array(3), [3]);
  const start = performance.now();
  for (const many of [1e9, 2 ** 31 - 1]) {
    await expect(relative_position_bias(table, { queries: many, keys: many })).rejects.toThrow(tooMuch);
    await expect(relative_position_bias(table, { queries: 2, keys: many })).rejects.toThrow(tooMuch);
    await expect(sinusoidal_encoding(positions, many)).rejects.toThrow(tooMuch);
    await expect(distinct_encodings(many, 1)).rejects.toThrow(tooMuch);
  }
  expect(performance.now() - start).toBeLessThan(2000);
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
