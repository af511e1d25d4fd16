// Softmax, products, norms and activations as functions, against PyTorch in float64, including adversarial rows.

import {
  additive_attention,
  alibi_bias,
  attention_pooling,
  bmm,
  complexity,
  configure,
  d2l,
  gelu,
  layer_norm,
  Mask,
  masked_softmax,
  matmul,
  nn,
  patch_embedding,
  relative_position_bias,
  relu,
  rms_norm,
  rotary,
  rotary_embedding,
  scaled_dot_product_attention,
  silu,
  sinusoidal_encoding,
  softmax,
  Tensor,
  type TensorInput,
  tanh,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

/**
 * softmax rounds d = x - max (which changes exp(d) by the fraction |d| u), exp within 4 u, n - 1 sums, the quotient; |d|
 * counts up to 88, where float32's range ends: |error| <= γ(2 (|d| + 4) + n + 2) y.
 */
function softmaxBound(input: Tensor, dim: number): Bound {
  const spread = Math.min(88, 2 * largest(input));
  return { relative: gamma(2 * (spread + 4) + (input.dims.at(dim) as number) + 2) };
}

/** The errors of n products and their sum: γ(n) Σ|a b|, estimated from the largest of each. */
function productBound(a: Tensor, b: Tensor): Bound {
  const n = a.dims[a.dims.length - 1] as number;
  return { absolute: gamma(n + 1) * n * largest(a) * largest(b) };
}

const activations: Record<string, (input: TensorInput) => Promise<Tensor<'float32'>>> = {
  relu,
  gelu,
  gelu_tanh: (input) => gelu(input, { approximate: 'tanh' }),
  silu,
  tanh,
};
/** Functions that only the core has, for its own use. */
const internal = ['exp', 'erf', 'sigmoid'];

/**
 * exp, tanh and erf have an error of a few units in the last place of 1, and x times that remains where 1 + erf or 1 +
 * tanh cancel: γ(8) |y| + γ(3) |x|.
 */
async function expectActivation(example: Example): Promise<void> {
  const input = example.tensor('input') as Tensor<'float32'>;
  const found = await (activations[example.options.activation as string] as typeof relu)(input);
  const absolute = (index: number) => {
    const x = Math.abs(input.data[index] as number);
    return Number.isFinite(x) ? gamma(3) * x : 0;
  };
  expectWithin(`activation ${example.name}`, found, example.tensor('output'), { absolute, relative: gamma(8) });
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each([...examplesOf('scoring', 'softmax'), ...examplesOf('adversarial', 'softmax')])('$name', async (example) => {
    const input = example.tensor('input');
    const dim = example.options.dim as number;
    expectWithin(
      `softmax ${example.name}`,
      await softmax(input, dim),
      example.tensor('output'),
      softmaxBound(input, dim),
    );
  });

  it.each(examplesOf('adversarial', 'masked_row'))('$name', async (example) => {
    // A row of -inf gives 0, as for attention weights; upstream's softmax by itself gives NaN.
    expect((await softmax(example.tensor('input'))).data).toEqual(example.tensor('output').data);
  });

  it.each(examplesOf('scoring', 'masked_softmax'))('$name', async (example) => {
    const mask = example.has('valid_lens') ? Mask.valid_lens(example.tensor('valid_lens')) : null;
    const input = example.tensor('X');
    const found = await masked_softmax(input, mask, { empty_row: 'uniform' });
    expectWithin(`softmax ${example.name}`, found, example.tensor('output'), softmaxBound(input, -1));
  });

  it('masked_softmax leaves zeros where nothing is left, and takes masks of heads', async () => {
    const x = [[[1, 2, 3]], [[1, 1, 1]]];
    expect((await masked_softmax(x, Mask.valid_lens([0, 2]))).tolist()).toEqual([[[0, 0, 0]], [[0.5, 0.5, 0]]]);
    const heads = await masked_softmax([x], Mask.allow([[[true, false, false]], [[false, true, true]]]));
    expect(heads.tolist()).toEqual([[[[1, 0, 0]], [[0, 0.5, 0.5]]]]);
  });

  it.each(examplesOf('scoring', 'bmm'))('$name', async (example) => {
    const [input, mat2] = [example.tensor('input'), example.tensor('mat2')];
    expectWithin(
      `product ${example.name}`,
      await bmm(input, mat2),
      example.tensor('output'),
      productBound(input, mat2),
    );
  });

  it.each(examplesOf('adversarial', 'matmul'))('$name', async (example) => {
    const [input, mat2] = [example.tensor('input'), example.tensor('mat2')];
    const sums = example.tensor('sum_of_absolute');
    const bound = { absolute: gamma((input.dims[1] as number) + 1) * largest(sums) };
    expectWithin(`product ${example.name}`, await matmul(input, mat2), example.tensor('output'), bound);
    const [cube] = [new Tensor('float32', input.data as Float32Array, [1, ...input.dims])];
    expect((await matmul(cube, mat2)).data).toEqual((await matmul(input, mat2)).data);
  });

  it.each(examplesOf('adversarial', 'LayerNorm'))('$name', async (example) => {
    const shape = example.options.normalized_shape as number[];
    const eps = example.options.eps as number;
    const [input, weight, bias] = [example.tensor('input'), example.tensor('weight'), example.tensor('bias')];
    const normalized = await layer_norm(input, shape, { eps });
    expectWithin(`layer_norm ${example.name} normalized`, normalized, example.tensor('normalized'), { absolute: 5e-7 });
    const found = await layer_norm(input, shape, { weight, bias, eps });
    // The product and the sum round once each.
    const sizes = largest(example.tensor('normalized')) * largest(weight) + largest(bias);
    const absolute = 5e-7 * largest(weight) + gamma(2) * sizes;
    expectWithin(`layer_norm ${example.name}`, found, example.tensor('output'), { absolute });
  });

  it.each(examplesOf('adversarial', 'RMSNorm'))('$name', async (example) => {
    const shape = example.options.normalized_shape as number[];
    const options = { weight: example.tensor('weight'), eps: example.options.eps as number };
    const found = await rms_norm(example.tensor('input'), shape, options);
    // The squares are summed in double; scale, quotient and product round.
    expectWithin(`rms_norm ${example.name}`, found, example.tensor('output'), { relative: gamma(4) });
  });

  const known = [...examplesOf('modules', 'activation'), ...examplesOf('adversarial', 'activation')].filter(
    ({ options }) => !internal.includes(options.activation as string),
  );
  it.each(known)('$name', expectActivation);
  it('there are activations to test', () => expect(known).toHaveLength(8));
});

describe('arguments', () => {
  it('may be nested arrays, Tensors, or typed arrays with dims', async () => {
    const rows = [
      [1, 2],
      [3, 4],
    ];
    const data = Float32Array.of(1, 2, 3, 4);
    const wanted = (await softmax(rows)).data;
    expect((await softmax(new Tensor('float32', data, [2, 2]))).data).toEqual(wanted);
    expect((await softmax({ data, dims: [2, 2] })).data).toEqual(wanted);
    expect((await softmax([])).dims).toEqual([0]);
  });

  it('that are options are objects, and have no unknown ones', async () => {
    const x = [[1, 2]];
    const calls: ((options: never) => unknown)[] = [
      (options) => masked_softmax(x, null, options),
      (options) => layer_norm(x, 2, options),
      (options) => rms_norm(x, 2, options),
      (options) => gelu(x, options),
      (options) => scaled_dot_product_attention(x, x, x, options),
      (options) => additive_attention(x, x, x, options),
      (options) => attention_pooling(x, x, x, options),
      (options) => sinusoidal_encoding(2, 2, options),
      (options) => alibi_bias(2, options),
      (options) => relative_position_bias(x, options),
      (options) => rotary([[x]], [0], options),
      (options) => rotary_embedding([[x]], [x], [x], options),
      (options) => patch_embedding([[x]], [[x]], options),
      (options) => complexity('recurrent', options),
      (options) => new nn.LayerNorm(2, options),
      (options) => new nn.Transformer(options),
      (options) => new d2l.TransformerEncoderBlock(2, 2, 1, options),
      (options) => new d2l.DotProductAttention(options),
    ];
    for (const call of calls) {
      for (const options of [null, 3, [], 'none']) {
        expect(await failureOf(() => call(options as never))).toMatchObject({ code: 'invalid_argument' });
      }
      expect(await failureOf(() => call({ unheard: 1 } as never))).toMatchObject({ code: 'unsupported' });
    }
  });

  it('are read before a call returns', async () => {
    const data = Float32Array.of(1, 2, 3);
    const fresh = { wasmUrl: new URL('../../dist/', import.meta.url) }; // another setting: a core that is not started yet
    configure(fresh);
    for (const _ of ['starting', 'started']) {
      const result = softmax({ data, dims: [3] });
      data.fill(0);
      expect((await result).data).toEqual((await softmax([1, 2, 3])).data);
      data.set([1, 2, 3]);
    }
    configure({ wasmUrl: undefined });
  });
});
