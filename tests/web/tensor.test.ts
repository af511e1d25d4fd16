// Tensor: contents, slices, and errors.

import { Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';

const counting = new Tensor(
  'float32',
  Float32Array.from({ length: 24 }, (_, i) => i),
  [2, 3, 4],
);

it('is called a Tensor in messages', () => {
  const one = new Tensor('float32', Float32Array.of(1), [1]);
  expect(String(one)).toBe('[object Tensor]');
  expect(() => one.map(one as never)).toThrow('Tensor.map: needs a function, got an object of type Tensor');
});

describe('Tensor', () => {
  it('has a shape and nests', () => {
    expect(counting.shape).toEqual([2, 3, 4]);
    expect(counting.size).toBe(24);
    expect(counting.tolist()).toEqual([
      [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
      ],
      [
        [12, 13, 14, 15],
        [16, 17, 18, 19],
        [20, 21, 22, 23],
      ],
    ]);
    expect(new Tensor('int64', BigInt64Array.of(7n), []).tolist()).toBe(7n);
    expect(new Tensor('uint8', new Uint8Array(0), [2, 0]).tolist()).toEqual([[], []]);
  });

  it('gives its only element', async () => {
    expect(new Tensor('float32', Float32Array.of(2.5), [1, 1]).item()).toBe(2.5);
    expect((await failureOf(() => counting.item())).code).toBe('shape_mismatch');
    expect((await failureOf(() => new Tensor('int32', new Int32Array(0), [0]).item())).code).toBe('shape_mismatch');
  });

  it.each([
    [[1], [3, 4], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]],
    [[-1, -1, -1], [], [23]],
    [
      [null, 1],
      [2, 4],
      [4, 5, 6, 7, 16, 17, 18, 19],
    ],
    [
      [null, [1, null], [1, -1]],
      [2, 2, 2],
      [5, 6, 9, 10, 17, 18, 21, 22],
    ],
    [
      [[null, 1], [null, null], 2],
      [1, 3],
      [2, 6, 10],
    ],
    [
      [[0, 1], null, 2],
      [1, 3],
      [2, 6, 10],
    ],
    [[[1, 1]], [0, 3, 4], []],
    [[[0, 0]], [0, 3, 4], []], // 0 is an end, not "to the end"
    [[], [2, 3, 4], Array.from({ length: 24 }, (_, i) => i)],
  ])('slices %j', (parts, dims, data) => {
    const part = counting.slice(...(parts as Parameters<Tensor['slice']>));
    expect(part.dims).toEqual(dims);
    expect(Array.from(part.data)).toEqual(data);
    expect(part.data.buffer).not.toBe(counting.data.buffer);
  });

  it.each([[[2]], [[-3]], [[[0, 4]]], [[[2, 1]]], [[[1, 0]]], [[0, 0, 0, 0]], [[0.5]], [[Number.NaN]]])(
    'does not slice %j',
    async (parts) => {
      const failure = await failureOf(() => counting.slice(...(parts as Parameters<Tensor['slice']>)));
      expect(failure.code).toBe('invalid_argument');
    },
  );

  it('refuses what does not fit together', async () => {
    expect((await failureOf(() => new Tensor('float32', new Float32Array(5), [2, 3]))).code).toBe('shape_mismatch');
    expect((await failureOf(() => new Tensor('float32', new Int32Array(6) as never, [2, 3]))).code).toBe(
      'dtype_mismatch',
    );
    expect((await failureOf(() => new Tensor('float33' as 'float32', new Float32Array(6), [2, 3]))).code).toBe(
      'dtype_mismatch',
    );
    expect((await failureOf(() => new Tensor('float32', new Float32Array(6), [2, -3]))).code).toBe('invalid_argument');
    expect((await failureOf(() => new Tensor('float32', new Float32Array(6), [2, 2.5]))).code).toBe('invalid_argument');
  });
});

describe('data of an array', () => {
  it('is that of the type', () => {
    const { NEGATIVE_INFINITY, NaN: none } = Number;
    expect(new Tensor('float32', [0.1, 2n, NEGATIVE_INFINITY, none], [2, 2]).data).toEqual(
      Float32Array.of(0.1, 2, NEGATIVE_INFINITY, none),
    );
    expect(new Tensor('int64', [1, -(2n ** 63n)], [2]).data).toEqual(BigInt64Array.of(1n, -(2n ** 63n)));
    expect(new Tensor('int8', [-128, 127n], [2]).data).toEqual(Int8Array.of(-128, 127));
  });

  it.each([
    ['float32', ['1'], 'Float32Array'],
    ['float32', [[1]], 'Float32Array'],
    ['int64', [0.5], 'BigInt64Array'],
    ['int64', [Number.NaN], 'BigInt64Array'],
    ['int32', [1.5], 'Int32Array'],
    ['int32', [undefined], 'Int32Array'],
    ['int8', [Number.POSITIVE_INFINITY], 'Int8Array'],
  ] as const)('is no %s: %o', async (type, values, needed) => {
    const failure = await failureOf(() => new Tensor(type, values as never, [1]));
    expect([failure.code, failure.message]).toEqual([
      'dtype_mismatch',
      `Tensor: ${type} needs a ${needed} for its data`,
    ]);
  });

  it.each([Number.NaN, Number.NEGATIVE_INFINITY])('%d is no integer', async (value) => {
    for (const type of ['int64', 'int32', 'int8', 'uint8'] as const) {
      const failure = await failureOf(() => new Tensor('float32', [value], [1]).to(type));
      expect([failure.code, failure.message]).toEqual(['dtype_mismatch', expect.stringContaining('no whole number')]);
    }
  });

  it('needs as many numbers as the dims', async () => {
    expect((await failureOf(() => new Tensor('float32', [1, 2], [3]))).code).toBe('shape_mismatch');
    const holes = new Array<number>(1);
    expect((await failureOf(() => new Tensor('float32', holes, [1]))).code).toBe('dtype_mismatch');
  });
});
