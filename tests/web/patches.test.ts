// Patches and prepended tokens, position tables for other image sizes, whole images, and the complexity of layers.

import {
  AutoModel,
  complexity,
  configure,
  interpolate_positions,
  patch_embedding,
  prepend_tokens,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const float = (data: Float32Array, dims: readonly number[]): Float => new Tensor('float32', data, dims);

/** A patch is a sum of channels · height · width products and the bias. */
function patchBound(images: Tensor, weight: Tensor, bias?: Tensor): Bound {
  const terms = weight.dims.slice(1).reduce((all, extent) => all * extent, 1);
  return { absolute: gamma(terms + 1) * (terms * largest(images) * largest(weight) + (bias ? largest(bias) : 0)) };
}

/** Weights of cubic convolution are computed and summed in double; the result is rounded once. */
const interpolationBound = (table: Tensor): Bound => ({ absolute: gamma(2) * largest(table) });

/** [1, d, h, w] -> [h · w, d]. */
function channelsLast(image: Tensor): Float {
  const [, d = 0, h = 0, w = 0] = image.dims;
  return float(
    Float32Array.from({ length: image.size }, (_, i) => Number(image.data[(i % d) * h * w + Math.floor(i / d)])),
    [h * w, d],
  );
}

async function vitEmbeddings(example: Example): Promise<void> {
  const state = example.stateDict();
  const images = example.tensor('pixel_values');
  const { image_size, patch_size } = example.options as { image_size: number; patch_size: number };
  const [weight, bias] = [state['patch_embeddings.projection.weight'], state['patch_embeddings.projection.bias']] as [
    Tensor,
    Tensor,
  ];
  const side = image_size / patch_size;
  const grid = images.dims.slice(2).map((pixels) => Math.floor(pixels / patch_size)) as [number, number];
  const table = state.position_embeddings as Tensor;
  const positions = await interpolate_positions(table, [side, side], grid);
  expectWithin(
    `vit ${example.name} positions`,
    positions,
    example.tensor('position_embeddings'),
    interpolationBound(table),
  );
  const patches = await patch_embedding(images, weight, { bias, drop_remainder: true });
  const sequence = await prepend_tokens(state.cls_token as Tensor, patches);
  const sum = float(
    sequence.data.map((value, i) => value + (positions.data[i] as number)),
    sequence.dims,
  );
  const { absolute } = patchBound(images, weight, bias) as { absolute: number };
  const bound = { absolute: absolute + gamma(3) * (largest(table) + largest(sequence)) };
  expectWithin(`vit ${example.name}`, sum, example.tensor('output'), bound);
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(examplesOf('patch_embedding', 'patch_embedding'))('$name', async (example) => {
    const { weight, bias } = example.stateDict() as { weight: Tensor; bias?: Tensor };
    const found = await patch_embedding(example.tensor('X'), weight, { bias, drop_remainder: true });
    const bound = patchBound(example.tensor('X'), weight, bias);
    expectWithin(`patch_embedding ${example.name}`, found, example.tensor('output'), bound);
  });

  it.each(examplesOf('patch_embedding', 'vit_embeddings'))('$name', vitEmbeddings);

  it.each(examplesOf('patch_embedding', 'interpolate_positions'))('$name', async (example) => {
    const { grid, new_grid } = example.options as Record<string, [number, number]>;
    const table = example.tensor('table');
    const found = await interpolate_positions(table, grid as [number, number], new_grid as [number, number]);
    expectWithin(`interpolate_positions ${example.name}`, found, example.tensor('output'), interpolationBound(table));
  });

  it.each(examplesOf('patch_embedding', 'interpolate_bicubic'))('$name', async (example) => {
    const input = example.tensor('input');
    const grid = input.dims.slice(2) as [number, number];
    const found = await interpolate_positions(channelsLast(input), grid, example.options.new_grid as [number, number]);
    expectWithin(
      `interpolate_positions ${example.name}`,
      found,
      channelsLast(example.tensor('output')),
      interpolationBound(input),
    );
  });
});

it('part of an image is left out only where that was said', async () => {
  const [image, weight] = [[[[[1, 2, 3]]]], [[[[1, 1]]]]] as const;
  expect((await patch_embedding(image, weight, { drop_remainder: true })).tolist()).toEqual([[[3]]]);
  const failure = await failureOf(() => patch_embedding(image, weight));
  expect(failure).toMatchObject({ code: 'shape_mismatch' });
  expect(failure.message).toContain('whole patches');
  for (const call of [
    () => interpolate_positions([[1], [2]], [1, 2], [0, 2]),
    () => interpolate_positions([[1], [2]], [2, 2], [2, 2]),
    () => interpolate_positions([[1], [2]], null as never, [2, 2]),
    () => prepend_tokens([[1, 2]], [[[1]]]),
    () => patch_embedding([[1]], weight),
  ]) {
    expect(['invalid_argument', 'shape_mismatch']).toContain((await failureOf(call)).code);
  }
  expect((await failureOf(() => prepend_tokens([[1, 2]], [[[1]]]))).message).toMatch(/^prepend_tokens: tokens/);
});

describe('the cost of layers', () => {
  const size = { sequence_length: 100, d_model: 8 };

  it('is that of the paper, and exact', async () => {
    expect(await complexity('self_attention', size)).toEqual({
      multiply_adds: 2 * 100 ** 2 * 8,
      projection_multiply_adds: 4 * 100 * 8 ** 2,
      sequential_operations: 1,
      maximum_path_length: 1,
      work: 'O(n²·d)',
      sequential: 'O(1)',
      path_length: 'O(1)',
    });
    const recurrent = await complexity('recurrent', size);
    expect(recurrent).toMatchObject({
      multiply_adds: 2 * 100 * 64,
      sequential_operations: 100,
      maximum_path_length: 100,
    });
    const convolutional = await complexity('convolutional', { ...size, kernel_size: 3 });
    expect(convolutional).toMatchObject({
      multiply_adds: 3 * 100 * 64,
      sequential_operations: 1,
      maximum_path_length: 34,
    });
    const dilated = await complexity('dilated_convolutional', { ...size, kernel_size: 3 });
    expect(dilated).toMatchObject({ maximum_path_length: 5, path_length: 'O(log_k n)' });
    const restricted = await complexity('restricted_self_attention', { ...size, neighbourhood: 10 });
    expect(restricted).toMatchObject({ multiply_adds: 2 * 10 * 100 * 8, maximum_path_length: 10 });
  });

  it('needs sizes', async () => {
    for (const call of [
      () => complexity('attention' as never, size),
      () => complexity('recurrent', { ...size, d_model: 0 }),
      () => complexity('convolutional', size),
      () => complexity('recurrent', { ...size, heads: 2 } as never),
    ]) {
      expect(['invalid_argument', 'unsupported']).toContain((await failureOf(call)).code);
    }
  });
});

// torch.nn.Conv2d leaves the pixels out that fill no patch.
it.each(['vit', 'deit', 'dinov2', 'dinov3_vit'])('%s reads whole patches', async (model_type) => {
  const sizes = {
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 20,
    patch_size: 4,
  };
  const model = (image_size: number) =>
    AutoModel.from_config({ model_type, ...sizes, image_size }, { worker: false, seed: 3 });
  const image = new Tensor(
    'float32',
    Float32Array.from({ length: 300 }, (_, i) => Math.sin(i)),
    [1, 3, 10, 10],
  );
  const whole = image.slice(null, null, [0, 8], [0, 8]);
  const [odd, even] = [await model(10), await model(8)];
  const { last_hidden_state: found } = await odd({ pixel_values: image });
  const { last_hidden_state: expected } = await even({ pixel_values: whole });
  expect((found as Tensor).tolist()).toEqual((expected as Tensor).tolist());
  await Promise.all([odd.dispose(), even.dispose()]);
});

it('embeddings of texts and of images that have different widths are not compared', async () => {
  const sizes = { hidden_size: 16, intermediate_size: 24, num_hidden_layers: 1, num_attention_heads: 2 };
  const model = await AutoModel.from_config(
    {
      model_type: 'siglip',
      text_config: { ...sizes, vocab_size: 40, max_position_embeddings: 12, projection_size: 64 },
      vision_config: { ...sizes, image_size: 8, patch_size: 4 },
    },
    { worker: false },
  );
  const pixel_values = new Tensor('float32', new Float32Array(192).fill(0.5), [1, 3, 8, 8]);
  const failure = await failureOf(() => model({ input_ids: [[5, 6, 7]], pixel_values }));
  expect(failure).toMatchObject({ code: 'shape_mismatch' });
  expect(failure.message).toMatch(/texts have 64 numbers.*images 16/);
  expect((await model({ pixel_values })).image_embeds?.dims).toEqual([1, 16]);
  await model.dispose();
});
