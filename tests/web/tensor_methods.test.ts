// Tensor's methods and tensor functions against PyTorch; their errors; which results share data.

import {
  cat,
  cos_sim,
  dot,
  FactoredMatrix,
  full,
  type InterpolationMode,
  interpolate,
  interpolate_4d,
  mean,
  mean_pooling,
  ones_like,
  permute,
  RawImage,
  stack,
  std_mean,
  Tensor,
  topk,
  zeros,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Case, casesOf, tensorsOf } from './support/references.js';

const folder = 'tensor_methods';
const cases = casesOf(folder);
const methods = new Set(Object.getOwnPropertyNames(Tensor.prototype));

/** A tensor of a case, with its own dims: a scalar is one element in the file. */
function given(one: Case): (name: string) => Tensor {
  const tensor = tensorsOf(folder, one);
  const all = one.dims as Record<string, number[]>;
  return (name) => {
    const { data } = tensor(name);
    const dims = all[name] as number[];
    return data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('int64', data, dims);
  };
}

/** Sums of n numbers differ by their order: n roundings of 2⁻²⁴, four times as many for the fourth roots of `norm`. */
function expectNear(name: string, found: Tensor, wanted: Tensor): void {
  expect([name, ...found.dims]).toEqual([name, ...wanted.dims]);
  expect(found.type, name).toBe(wanted.type);
  wanted.data.forEach((value, i) => {
    const [a, b] = [Number(found.data[i]), Number(value)];
    const isEqual = Object.is(a, b) || a === b || Math.abs(a - b) <= 2e-6 * Math.max(1, Math.abs(b));
    if (!isEqual) expect.fail(`${name}[${i}] is ${a}, wanted ${b}`);
  });
}

type Method = (this: Tensor, ...given: unknown[]) => Tensor;

function called(one: Case): Tensor {
  const tensor = given(one);
  const own = tensor('input');
  const rest = 'other' in one.inputs ? [tensor('other')] : (one.options.args as unknown[]);
  return ((own as unknown as Record<string, Method>)[one.op] as Method).apply(own, rest);
}

describe('methods of Tensor', () => {
  const byMethod = new Map<string, Case[]>();
  for (const one of cases) byMethod.set(one.op, [...(byMethod.get(one.op) ?? []), one]);

  it.each([...byMethod.keys()].filter((op) => methods.has(op)))('%s as torch', (op) => {
    const own = byMethod.get(op) ?? [];
    for (const one of own) expectNear(one.name, called(one), given(one)('output'));
    expect(own.length).toBeGreaterThan(0);
  });
});

describe('functions of tensors', () => {
  const of = (op: string) => cases.filter((one) => one.op === op).map((one) => [one.name, one] as const);

  it.each([...of('cat'), ...of('stack')])('%s', (_, one) => {
    const tensor = given(one);
    const call = one.op === 'cat' ? cat : stack;
    const found = call([tensor('a'), tensor('b')], one.options.dim as number);
    expectNear(one.name, found, tensor('output'));
  });

  it.each(of('topk'))('%s', async (_, one) => {
    const tensor = given(one);
    const [values, indices] = await topk(tensor('input'), one.options.k as number);
    expectNear(one.name, values, tensor('values'));
    expectNear(one.name, indices, tensor('indices'));
  });

  it.each(of('std_mean'))('%s', (_, one) => {
    const tensor = given(one);
    const { dim, correction } = one.options as { dim: number | null; correction: number };
    const [std, middle] = std_mean(tensor('input'), dim, correction);
    expectNear(one.name, std, tensor('std'));
    expectNear(one.name, middle, tensor('mean'));
    expectNear(one.name, mean(tensor('input'), dim), tensor('mean'));
  });

  it('std_mean of numbers that are close to each other', () => {
    for (const values of [
      [16777216, 16777218],
      [1e6, 1e6 + 0.0625, 1e6 + 0.125, 1e6 + 0.25],
      [-3e4, -3e4],
    ]) {
      const middle = values.reduce((sum, value) => sum + value) / values.length;
      const wanted = Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
      const [std] = std_mean(new Tensor('float32', Float32Array.from(values), [values.length]));
      expect(std.item()).toBeCloseTo(wanted, 6);
    }
  });

  it.each(of('mean_pooling'))('%s', (_, one) => {
    const tensor = given(one);
    expectNear(one.name, mean_pooling(tensor('input'), tensor('mask')), tensor('output'));
  });

  it.each(of('interpolate_4d'))('%s', async (_, one) => {
    const tensor = given(one);
    const { size, mode } = one.options as { size: [number, number]; mode: InterpolationMode };
    const [input, wanted] = [tensor('input'), tensor('output')];
    expectNear(one.name, await interpolate_4d(input, { size, mode }), wanted);
    expectNear(one.name, await interpolate_4d(input, { size: [1, 2, ...size], mode }), wanted);
    expectNear(one.name, interpolate(input.squeeze(0), size, mode).unsqueeze(0), wanted);
  });
  it('the nearest pixel is that of a scale in float32, as in torch', () => {
    const [two, out] = [new Tensor('float32', Float32Array.of(0, 1), [1, 1, 2]), new Float32Array(82).fill(1, 42)];
    expect(interpolate(two, [1, 82], 'nearest').data).toEqual(out);
  });

  it('dot and cos_sim take vectors of one length', async () => {
    expect(dot([1, 2, 3], Float32Array.of(4, 5, 6))).toBe(32);
    expect(cos_sim([3, 4], [4, 3])).toBeCloseTo(24 / 25, 15);
    expect(dot(BigInt64Array.of(2n, 3n), [4, 5])).toBe(23);
    expect((await failureOf(() => dot([1], [1, 2]))).code).toBe('shape_mismatch');
    const message = 'cos_sim: vectors of 3 and 2 elements';
    expect(await failureOf(() => cos_sim([1, 2, 3], [1, 2]))).toMatchObject({ code: 'shape_mismatch', message });
  });

  it('makes tensors of one value', () => {
    expect(full([2], 0.5).tolist()).toEqual([0.5, 0.5]);
    expect(full([1], true).type).toBe('uint8');
    expect(zeros([2, 1]).tolist()).toEqual([[0n], [0n]]);
    expect(ones_like(full([1, 2], 3)).tolist()).toEqual([[1n, 1n]]);
    expect(permute(full([2, 3], 1), [1, 0]).dims).toEqual([3, 2]);
  });
});

const cube = new Tensor(
  'float32',
  Float32Array.from({ length: 24 }, (_, i) => i),
  [2, 3, 4],
);

it('copies of a Node Buffer, whose slice is none, are copies', () => {
  const buffer = Buffer.from([1, 2, 3]);
  const [tensor, image] = [new Tensor('uint8', buffer, [3]).clone(), new RawImage(buffer, 3, 1, 1).clone()];
  buffer.fill(0);
  expect([[...tensor.data], [...image.data]]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

describe('tensors that came with a message', () => {
  const copy = (tensor: Tensor) => structuredClone(tensor) as Tensor<'float32'>; // without methods
  const matrix = new Tensor('float32', Float32Array.of(1, 2, 3, 5), [2, 2]);

  it('are tensors for every function', async () => {
    const mask = structuredClone(full([1, 2], 1n)) as Tensor;
    expect(cat([copy(matrix), matrix])).toEqual(cat([matrix, matrix]));
    expect(stack([copy(matrix), matrix], -1)).toEqual(stack([matrix, matrix], -1));
    expect(permute(copy(matrix), [1, 0])).toEqual(matrix.transpose(0, 1));
    expect(std_mean(copy(matrix), 0)).toEqual(std_mean(matrix, 0));
    expect(mean(copy(matrix), 1)).toEqual(matrix.mean(1));
    expect(await topk(copy(matrix), 1)).toEqual(await topk(matrix, 1));
    const states = matrix.unsqueeze(0);
    expect(mean_pooling(copy(states), mask)).toEqual(mean_pooling(states, full([1, 2], 1n)));
    expect(interpolate(copy(states), [3, 3])).toEqual(interpolate(states, [3, 3]));
    const factored = new FactoredMatrix(copy(matrix), copy(matrix));
    expect(factored.T.norm()).toBeCloseTo(new FactoredMatrix(matrix, matrix).norm(), 10);
  });

  it('whose buffer was transferred are told by every method and function', async () => {
    const gone = matrix.clone();
    structuredClone(gone.data, { transfer: [gone.data.buffer] });
    const calls: (() => unknown)[] = [
      () => gone.tolist(),
      () => gone.item(),
      () => gone[0],
      () => [...gone],
      () => gone.clone(),
      () => gone.to('int32'),
      () => gone.flatten(),
      () => gone.transpose(0, 1),
      () => gone.sum(),
      () => gone.argmax(1),
      () => gone.map((value) => value),
      () => gone.add(1),
      () => matrix.add(gone),
      () => gone.clamp(0, 1),
      () => gone.slice(0),
      () => cat([gone]),
      () => topk(gone, 1),
    ];
    for (const call of calls) {
      const failure = await failureOf(async () => call());
      expect([String(call), failure.code]).toEqual([String(call), 'shape_mismatch']);
      expect(failure.message).toContain('was its buffer transferred?');
    }
  });
});

describe('rows', () => {
  it('are tensors that share the data, from either end', () => {
    const own = cube.clone();
    const row = own[1]?.[-1];
    expect([row?.dims, row?.tolist()]).toEqual([[4], [20, 21, 22, 23]]);
    row?.data.fill(7);
    expect(own.slice(1, 2).tolist()).toEqual([7, 7, 7, 7]);
    expect(row?.[2]?.item()).toBe(7);
    expect(cube.slice(1, 2).tolist()).toEqual([20, 21, 22, 23]);
  });

  it('are what iteration gives, and elements where there is one axis', () => {
    expect([...cube].map((row) => (row as Tensor).dims)).toEqual([
      [3, 4],
      [3, 4],
    ]);
    expect([...cube.slice(0, 0)]).toEqual([0, 1, 2, 3]);
    expect([...full([0, 3], 1)]).toEqual([]);
  });

  it('that are not there throw, and other names are undefined', async () => {
    expect((await failureOf(() => cube[2])).code).toBe('invalid_argument');
    expect((await failureOf(() => full([], 1)[0])).code).toBe('invalid_argument');
    expect((cube as unknown as { then: unknown }).then).toBeUndefined();
    expect(Object.keys(cube)).toEqual(['type', 'data', 'dims']);
  });
});

it('softmax of no elements has none, as in torch', async () => {
  for (const dim of [0, 1]) expect(full([3, 0], 1).softmax(dim).dims).toEqual([3, 0]);
  expect((await failureOf(() => full([3, 0], 1).softmax(2))).code).toBe('invalid_argument');
});

describe('types', () => {
  it('are converted as torch does, fractions cut off', () => {
    const parts = new Tensor('float32', Float32Array.of(-1.5, 2.9, 300), [3]);
    expect(parts.to('int64').tolist()).toEqual([-1n, 2n, 300n]);
    expect(parts.to('int32').tolist()).toEqual([-1, 2, 300]);
    expect(parts.to('int64').to('float32').tolist()).toEqual([-1, 2, 300]);
    expect(parts.to('float32')).toBe(parts);
  });

  it('of 64 bits take numbers beyond the safe integers', () => {
    const wide = full([2], 2n ** 60n);
    expect(wide.add(2n ** 60n + 1n).tolist()).toEqual([2n ** 61n + 1n, 2n ** 61n + 1n]);
    expect(
      full([1], 0n)
        .add(-(2n ** 63n))
        .tolist(),
    ).toEqual([-(2n ** 63n)]);
    expect(wide.clamp(0, (2n ** 59n) as never).tolist()).toEqual([2n ** 59n, 2n ** 59n]);
  });

  it.each<[string, () => unknown, string, string?]>([
    ['an unknown type', () => cube.to('float16' as 'float32'), 'unsupported'],
    ['NaN as int64', () => full([1], Number.NaN).to('int64'), 'dtype_mismatch'],
    ['means of whole numbers', () => full([2], 1n).mean(), 'dtype_mismatch'],
    ['softmax of whole numbers', () => full([2], 1n).softmax(), 'dtype_mismatch'],
    ['two types', () => (full([2], 1n) as Tensor).add(full([2], 1)), 'dtype_mismatch'],
    ['a fraction to whole numbers', () => full([2], 1n).mul(0.5), 'dtype_mismatch'],
    ['a text', () => full([2], 1).mul('2' as unknown as number), 'dtype_mismatch'],
    ['an axis that is not there', () => cube.sum(3), 'invalid_argument'],
    ['half an axis', () => cube.softmax(0.5), 'invalid_argument'],
    ['an axis named twice', () => cube.permute(0, 0, 1), 'invalid_argument'],
    ['an axis summed twice', () => cube.sum([0, -3]), 'invalid_argument', 'Tensor.sum: [0, 0] does not name each axis'],
    ['an int64 of 65 bits', () => full([1], 1n).add(2n ** 63n), 'dtype_mismatch'],
    ['too few axes', () => cube.permute(1, 0), 'invalid_argument'],
    ['a view of another size', () => cube.view(5, 5), 'shape_mismatch'],
    ['a view that leaves nothing whole', () => cube.view(-1, 7), 'shape_mismatch'],
    ['two open dims', () => cube.view(-1, -1), 'invalid_argument'],
    ['dims that do not broadcast', () => cube.add(full([3], 1)), 'shape_mismatch'],
    ['the largest of nothing', () => full([0], 1).max(), 'shape_mismatch'],
    ['an unknown norm', () => cube.norm('nuc' as 'fro'), 'unsupported'],
    ['cat of nothing', () => cat([]), 'invalid_argument'],
    ['cat of other dims', () => cat([cube, full([2, 3], 1)]), 'shape_mismatch'],
    ['cat of other types', () => cat<'float32' | 'int64'>([full([1], 1), full([1], 1n)]), 'dtype_mismatch'],
    ['cat along no axis', () => cat([cube], 3), 'invalid_argument'],
    ['cat along a text', () => cat([cube, cube.slice([0, 1])], '0' as never), 'invalid_argument'],
    ['stack of other dims', () => stack([full([2], 1), full([3], 1)]), 'shape_mismatch'],
    ['topk of none', () => topk(cube, 0), 'invalid_argument'],
    ['topk of more than there are', () => topk(full([2, 3], 1), 4), 'invalid_argument'],
    ['a text as divisor', () => cube.div('2' as unknown as number), 'dtype_mismatch'],
    ['nothing as divisor', () => cube.div(null as unknown as number), 'dtype_mismatch'],
    ['a limit that no int8 is', () => new Tensor('int8', Int8Array.of(1), [1]).clamp(0, 300), 'invalid_argument'],
    ['a limit that no uint8 is', () => new Tensor('uint8', Uint8Array.of(1), [1]).clamp(-1, 5), 'invalid_argument'],
    ['NaN as limit of whole numbers', () => full([1], 1n).clamp(Number.NaN, 5), 'dtype_mismatch'],
    ['the smallest of nothing', () => full([0], 1).norm(Number.NEGATIVE_INFINITY), 'shape_mismatch'],
    ['stack along no axis', () => stack([cube, cube], -5), 'invalid_argument'],
    ['stack along half an axis', () => stack([cube, cube], 0.5), 'invalid_argument'],
    ['a list of three as range', () => cube.slice([0, 1, 2] as unknown as [number, number]), 'invalid_argument'],
    ['a list of one as range', () => cube.slice([1] as unknown as [number, number]), 'invalid_argument'],
    ['flatten backwards', () => cube.flatten(-1, 0), 'invalid_argument'],
    ['interpolate in four axes', () => interpolate(full([1, 1, 2, 2], 1), [1, 1]), 'shape_mismatch'],
    ['an unknown mode', () => interpolate(full([1, 2, 2], 1), [1, 1], 'area' as 'nearest'), 'unsupported'],
    ['an image beyond all memory', () => interpolate(full([1, 2, 2], 1), [2e5, 2e5]), 'out_of_memory'],
    ['a fraction made of a whole number', () => full([2], 1n).map(() => 0.5 as never), 'dtype_mismatch'],
    ['a list full of nothing', () => full([2], null as never), 'invalid_argument'],
    ['a list full of a text', () => full([2], '3' as never), 'invalid_argument'],
    ['an axis of a scalar', () => full([], 1).sum(1), 'invalid_argument'],
    [
      'an option of torch that there is not',
      () => interpolate_4d(full([1, 1, 2, 2], 1), { size: [4, 4], align_corners: true } as { size: number[] }),
      'unsupported',
    ],
    ['no size', () => interpolate_4d(full([1, 1, 2, 2], 1), {} as { size: number[] }), 'invalid_argument'],
  ])('%s is refused', async (_, call, code, part = '') => {
    const failure = await failureOf(async () => call());
    expect([failure.name, failure.code]).toEqual(['ClearformerError', code]);
    expect(failure.message).toContain(part);
  });

  it('a scalar has an axis by number, as in torch', () => {
    const scalar = full([], 5);
    for (const axis of [0, -1]) {
      for (const name of ['sum', 'mean', 'max', 'min', 'squeeze'] as const) expect(scalar[name](axis)).toEqual(scalar);
      expect(scalar.argmax(axis)).toEqual(full([], 0n));
      expect(scalar.softmax(axis)).toEqual(full([], 1));
      expect(scalar.transpose(0, axis)).toEqual(scalar);
    }
  });

  it('numbers are made whole ones, and those numbers, where a callback mixes them', () => {
    expect(full([2], 3n).map((value) => (Number(value) + 1) as never)).toEqual(full([2], 4n));
    expect(full([2], 3).map(() => 4n as never)).toEqual(full([2], 4));
  });

  it('an empty list of axes is all of them in a reduction, as in torch', () => {
    const whole = full([2, 3], 4n);
    expect(whole.sum([])).toEqual(whole.sum());
    expect(cube.max([], true).dims).toEqual([1, 1, 1]);
    expect(std_mean(cube, [])).toEqual(std_mean(cube));
    expect(full([1, 2], 1).squeeze([]).dims).toEqual([1, 2]);
  });

  // The numbers are PyTorch 2.14's.
  it('limits in the wrong order, of NaN and of no elements, as in torch', () => {
    const row = new Tensor('float32', Float32Array.of(1, 3, 7), [3]);
    expect(row.clamp(5, 2).tolist()).toEqual([2, 2, 2]);
    expect(row.clamp(Number.NaN, 2).tolist()).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(row.clamp(2, Number.NaN).tolist()).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(full([2], 4n).clamp(5, 2).tolist()).toEqual([2n, 2n]);
    expect(new Tensor('int8', Int8Array.of(100, -5), [2]).clamp(-1, 50).tolist()).toEqual([50, -1]);
    expect(row.sub(1).norm(0).item()).toBe(2);
    expect(row.norm(Number.NEGATIVE_INFINITY).item()).toBe(1);
    expect(row.norm(-1).item()).toBeCloseTo(0.6774193, 6);
    expect(full([0], 1).norm(0).item()).toBe(0);
  });

  it('products of int32 wrap, as in torch', () => {
    const most = new Tensor('int32', Int32Array.of(2147483647, 123456789), [2]);
    expect(most.mul(2147483647).tolist()).toEqual([1, 2024026859]);
    expect(most.mul(most).tolist()).toEqual([1, -1757895751]);
  });

  it('NaN is the largest and the least, as in torch', () => {
    const holed = new Tensor('float32', Float32Array.of(1, Number.NaN, 3), [3]);
    expect([holed.max().item(), holed.min().item()]).toEqual([Number.NaN, Number.NaN]);
    expect([holed.argmax().item(), holed.argmin().item()]).toEqual([1n, 1n]);
  });

  it('whole numbers stay whole, but for quotients', () => {
    const ids = full([2, 2], 6n);
    expect(
      ids
        .add(1)
        .mul(2n)
        .sub(full([2], 4n))
        .tolist(),
    ).toEqual([
      [10n, 10n],
      [10n, 10n],
    ]);
    expect(ids.div(4).tolist()).toEqual([
      [1.5, 1.5],
      [1.5, 1.5],
    ]);
    expect(new Tensor('uint8', Uint8Array.of(200, 100), [2]).sum().item()).toBe(300n);
    expect(ids.clamp(0, 5).sum().item()).toBe(20n);
    expect(ids.clamp(Number.NEGATIVE_INFINITY, 5).sum().item()).toBe(20n);
    expect(() => ids.clamp(0.5, 5)).toThrow(expect.objectContaining({ code: 'dtype_mismatch' }));
  });
});
