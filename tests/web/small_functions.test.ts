// log_softmax, softplus, conv1d, gated units and the elementwise functions against PyTorch in float64, including
// adversarial rows.
import {
  type Conv1dOptions,
  configure,
  conv1d,
  erf,
  geglu,
  gelu,
  glu,
  log_softmax,
  nn,
  quick_gelu,
  reglu,
  relu,
  relu2,
  type SoftplusOptions,
  sigmoid,
  silu,
  softmax,
  softplus,
  swiglu,
  Tensor,
  type TensorInput,
  tanh,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Unary = (input: TensorInput) => Promise<Tensor<'float32'>>;
const elementwise: Record<string, Unary> = {
  erf,
  gelu,
  gelu_new: (input) => gelu(input, { approximate: 'tanh' }),
  quick_gelu,
  relu,
  relu2,
  sigmoid,
  silu,
  tanh,
};
const units = { glu, reglu, geglu, swiglu };

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  // x - max is rounded, exp and their sum change the logarithm by at most γ(n + 8), the result is rounded.
  it.each(examplesOf('functional', 'log_softmax'))('$name', async (example) => {
    const input = example.tensor('input');
    const found = await log_softmax(input, example.options.dim as number);
    const bound = { absolute: gamma(input.size + 8), relative: gamma(2) };
    expectWithin(`log_softmax ${example.name}`, found, example.tensor('output'), bound);
  });

  // A dozen units of the result, a few of the argument (where 1 + erf or 1 + tanh cancel); quick_gelu rounds 1.702 x.
  const known = examplesOf('functional', 'activation').filter(
    ({ options }) => (options.activation as string) in elementwise,
  );
  it.each(known)('$name', async (example) => {
    const input = example.tensor('input');
    const found = await (elementwise[example.options.activation as string] as Unary)(input);
    const inRange = (index: number) => {
      const x = Math.abs(Number(input.data[index]));
      return Number.isFinite(x) ? Math.min(x, 104) : 0;
    };
    const wide = example.options.activation === 'quick_gelu' ? 416 : 0;
    const bound = { absolute: (index: number) => gamma(8) + gamma(3) * inRange(index), relative: gamma(12 + wide) };
    expectWithin(`elementwise ${example.name}`, found, example.tensor('output'), bound);
  });
  it('has a case for each', () => expect(known).toHaveLength(Object.keys(elementwise).length));

  it.each(examplesOf('functional', 'softplus'))('$name', async (example) => {
    const found = await softplus(example.tensor('input'), example.options as SoftplusOptions);
    expectWithin(`softplus ${example.name}`, found, example.tensor('output'), {
      absolute: 2 ** -125,
      relative: gamma(12),
    });
  });

  for (const [name, unit] of Object.entries(units)) {
    it.each(examplesOf('functional', name))('$name', async (example) => {
      const input = example.tensor('input');
      const found = await unit(input, example.options.dim as number);
      const bound = { absolute: gamma(3) * largest(input) ** 2, relative: gamma(12) };
      expectWithin(`gated ${example.name}`, found, example.tensor('output'), bound);
    });
  }

  it.each(examplesOf('functional', 'conv1d'))('$name', async (example) => {
    const [input, weight] = [example.tensor('input'), example.tensor('weight')];
    const options = {
      ...(example.options as Conv1dOptions),
      bias: example.has('bias') ? example.tensor('bias') : null,
    };
    const sums = example.tensor('sum_of_absolute');
    const terms = weight.size / (weight.dims[0] as number);
    const absolute = (index: number) => gamma(terms + 2) * Number(sums.data[index]);
    expectWithin(`conv1d ${example.name}`, await conv1d(input, weight, options), example.tensor('output'), {
      absolute,
    });
  });
});

it('gives a scalar an axis, as in torch', async () => {
  const scalar = new Tensor('float32', Float32Array.of(4), []);
  for (const dim of [-1, 0]) {
    expect(await softmax(scalar, dim)).toMatchObject({ dims: [], data: Float32Array.of(1) });
    expect(await log_softmax(scalar, dim)).toMatchObject({ dims: [], data: Float32Array.of(0) });
  }
});

it('gives the same for a Float32Array as for a tensor where scores are hidden', async () => {
  const hidden = Number.NEGATIVE_INFINITY;
  for (const scores of [[hidden, hidden], [hidden, 1], []]) {
    const [data, tensor] = [
      Float32Array.from(scores),
      new Tensor('float32', Float32Array.from(scores), [scores.length]),
    ];
    expect(softmax(data)).toEqual((await softmax(tensor)).data);
    expect(log_softmax(data)).toEqual((await log_softmax(tensor)).data);
  }
});

it('takes a typed array alone for a tensor of one axis', async () => {
  const layer = await new nn.Linear(2, 1).load_state_dict({ weight: [[1, 2]], bias: Float32Array.of(3) });
  expect((await layer.forward(Float32Array.of(4, 5))).tolist()).toEqual([17]);
  const table = await new nn.Embedding(3, 1).load_state_dict({ weight: [[1], [2], [4]] });
  for (const ids of [Int32Array.of(2, 0), BigInt64Array.of(2n, 0n), Uint8Array.of(2, 0)]) {
    expect((await table.forward(ids)).tolist()).toEqual([[4], [1]]);
  }
  expect(await failureOf(() => relu(Float64Array.of(1) as never))).toMatchObject({ code: 'invalid_argument' });
  expect(await failureOf(() => table.forward(Float32Array.of(1)))).toMatchObject({ code: 'dtype_mismatch' });
});

it('erf stays within ±1', async () => {
  const x = Float32Array.from({ length: 1 << 14 }, (_, i) => 3.5 + i / (1 << 15));
  for (const sign of [1, -1]) {
    const { data } = await erf({ data: x.map((value) => sign * value), dims: [x.length] });
    expect([sign, data.filter((value) => Math.abs(value) > 1)]).toEqual([sign, Float32Array.of()]);
  }
});

it('refuses what does not fit, by name', async () => {
  const x = [[[1, 2, 3]]];
  const failing: [() => Promise<unknown>, string, string][] = [
    [() => log_softmax([1, 2], 1), 'invalid_argument', 'axis 1'],
    [() => softplus([1], { beta: Number.NaN }), 'invalid_argument', 'beta'],
    [() => softplus([1], { treshold: 3 } as SoftplusOptions), 'unsupported', 'treshold'],
    [() => glu([1, 2, 3]), 'shape_mismatch', 'halved'],
    [() => swiglu([1, 2], 3), 'invalid_argument', 'axis 3'],
    [() => geglu([1, 2], -1, { approximate: 'fast' as 'tanh' }), 'unsupported', 'geglu'],
    [() => conv1d(x, [[[1, 1]], [[2]]]), 'shape_mismatch', 'ragged'],
    [() => conv1d(x, Array(2 ** 20).fill(Array(2 ** 20).fill(1))), 'out_of_memory', '[1048576, 1048576] has more than'],
    [() => conv1d(x, [[[1], [1]]]), 'shape_mismatch', 'conv1d'],
    [() => conv1d(x, [[[1, 1, 1, 1]]]), 'shape_mismatch', '4 taps'],
    [() => conv1d(x, [[[1]]], { stride: 0 }), 'invalid_argument', 'stride'],
    [() => conv1d(x, [[[1]]], { stride: 2, padding: 'same' }), 'invalid_argument', 'stride 1'],
    [() => conv1d(x, [[[1]]], { padding: -1 }), 'invalid_argument', 'padding'],
    [() => conv1d(x, [[[1]]], { padding: 'full' as 'same' }), 'invalid_argument', 'padding'],
    [() => conv1d(x, [[[1]]], { bias: [1, 2] }), 'shape_mismatch', 'bias'],
    [() => conv1d(x, [[[1]]], { groups: 2 }), 'shape_mismatch', '2 groups'],
  ];
  for (const [call, code, part] of failing) {
    expect(await failureOf(call)).toMatchObject({ code, message: expect.stringContaining(part) });
  }
});
