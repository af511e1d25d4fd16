// Attention rollout: by hand, by its definition on random maps, and on models.

import { AutoModelForCausalLM, AutoModelForSeq2SeqLM, attentionRollout, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath } from '../support/references.js';

const maps = (values: number[], heads: number, length: number) =>
  new Tensor('float32', Float32Array.from(values), [values.length / (heads * length * length), heads, length, length]);

describe('by hand', () => {
  it('mixes the mean of the heads with the identity and multiplies the layers', () => {
    const first = maps([1, 0, 1, 0, 1, 0, 0, 1], 2, 2); // mean [[1, 0], [1/2, 1/2]], mixed [[1, 0], [1/4, 3/4]]
    const second = maps([1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5], 2, 2); // mixed [[1, 0], [1/4, 3/4]]
    expect(attentionRollout([first, second]).tolist()).toEqual([
      [[[1, 0], [0.25, 0.75]]], // biome-ignore format: a matrix
      [
        [
          [1, 0],
          [0.4375, 0.5625],
        ],
      ],
    ]);
  });

  it('leaves a position that looks at nothing where it is', () => {
    expect(attentionRollout([maps([0, 0, 1, 0], 1, 2)]).tolist()).toEqual([
      [
        [
          [1, 0],
          [0.5, 0.5],
        ],
      ],
    ]);
  });
});

/** The definition for one row of the batch: (½ A + ½ I) normalised, from the last layer down to the first. */
function byDefinition(layers: number[][][][]): number[][] {
  const length = layers[0]?.[0]?.length as number;
  const at = (matrix: number[][], i: number, j: number) => matrix[i]?.[j] as number;
  const square = (value: (i: number, j: number) => number) =>
    Array.from({ length }, (_, i) => Array.from({ length }, (__, j) => value(i, j)));
  const mixed = layers.map((heads) => {
    const halves = square(
      (i, j) => heads.reduce((sum, A) => sum + at(A, i, j), 0) / heads.length / 2 + (i === j ? 0.5 : 0),
    );
    return square((i, j) => at(halves, i, j) / (halves[i] as number[]).reduce((a, b) => a + b, 0));
  });
  return mixed.reduce((below, above) =>
    square((i, j) => below.reduce((sum, _, k) => sum + at(above, i, k) * at(below, k, j), 0)),
  );
}

it('is its definition for every row of a batch of a model', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'));
  const inputs = { input_ids: [[3, 9, 4, 20, 7], [0, 0, 8, 30, 31]], attention_mask: [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]] }; // biome-ignore format: two rows
  const { attentions = [] } = await model(inputs, { output_attentions: true });
  const rolled = attentionRollout(attentions);
  expect(rolled.dims).toEqual([2, 2, 5, 5]);
  for (const layers of [1, 2]) {
    for (const row of [0, 1]) {
      const wanted = byDefinition(attentions.slice(0, layers).map((map) => map.slice(row).tolist() as number[][][]));
      const found = rolled.slice(layers - 1, row).tolist() as number[][];
      // Both accumulate in double; the difference is the rounding to float32 of numbers up to 1.
      const far = wanted.flat().map((value, at) => Math.abs((found.flat()[at] as number) - value));
      expect(Math.max(...far)).toBeLessThan(2 ** -24);
      for (const weights of found) expect(weights.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
    }
  }
  const [, cache] = await model.run_with_cache(inputs);
  expect(attentionRollout(cache)).toEqual(rolled);
  await model.dispose();
});

it('takes one stack of an encoder-decoder', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
  const inputs = { input_ids: [[5, 6, 7, 2]], decoder_input_ids: [[2, 9, 8]] };
  const output = await model(inputs, { output_attentions: true });
  const [, cache] = await model.run_with_cache(inputs);
  const encoder = Object.fromEntries(Object.entries(cache).filter(([name]) => name.startsWith('encoder.')));
  expect(attentionRollout(encoder)).toEqual(attentionRollout(output.encoder_attentions ?? []));
  expect((await failureOf(() => attentionRollout(cache))).message).toMatch(
    /several stacks of layers \(encoder\., decoder\.\)/,
  );
  expect((await failureOf(() => attentionRollout(output.cross_attentions ?? []))).code).toBe('shape_mismatch');
  await model.dispose();
});

it('says what is missing', async () => {
  const map = maps([1, 0, 0, 1], 1, 2);
  const messages: [unknown, string][] = [
    [{ 'blocks.0.attn.hook_pattern': map, 'blocks.2.attn.hook_pattern': map }, 'lacks blocks.1.attn.hook_pattern'],
    [{}, 'lacks blocks.0.attn.hook_pattern'],
    [[], 'got none'],
    [null, 'needs attention maps'],
    [[[[1]]], 'no float32 Tensor'],
    [[map, maps([1, 0, 0, 1], 1, 1)], 'layer 1 has [4, 1, 1, 1]'],
  ];
  for (const [given, message] of messages) {
    expect((await failureOf(() => attentionRollout(given as never))).message).toContain(message);
  }
});
