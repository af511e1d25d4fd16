// Sentence pooling through the bindings: every mode with padding on either side, unit length, and zero vectors.
import { describe, expect, it } from 'vitest';
import { normalized, type PoolingMode, pool, poolingModes, tensorIn } from '../../web/src/models/pooling.js';
import { sharedEngine } from '../../web/src/primitives/shared_core.js';
import { configure } from '../../web/src/support/config.js';
import { Tensor } from '../../web/src/tensor/tensor.js';

configure({ wasmUrl: new URL('../../dist/', import.meta.url) });

const hidden = new Tensor('float32', Float32Array.of(1, 2, 3, -4, 5, 7, 50, 60), [1, 4, 2]);
const pooled = async (modes: PoolingMode[], flags: number[]) => {
  const mask = new Tensor('int64', BigInt64Array.from(flags, BigInt), [1, 4]);
  return Array.from((await pool(await sharedEngine(), hidden, tensorIn(mask), modes)).data);
};

describe('pooling', () => {
  it.each([
    ['cls', [1, 1, 0, 0], [1, 2]],
    ['cls', [0, 0, 1, 1], [5, 7]],
    ['cls', [0, 0, 0, 0], [1, 2]],
    ['max', [0, 0, 0, 0], [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['max', [1, 1, 0, 0], [3, 2]],
    ['max', [0, 1, 1, 0], [5, 7]],
    ['mean', [1, 1, 0, 0], [2, -1]],
    ['mean', [0, 0, 1, 1], [27.5, 33.5]],
    ['mean_sqrt_len_tokens', [1, 1, 1, 1], [29.5, 32.5]],
    ['weightedmean', [1, 0, 0, 0], [1, 2]],
    ['weightedmean', [0, 0, 1, 1], [Math.fround(215 / 7), Math.fround(261 / 7)]], // weights count positions, not unmasked tokens
    ['last_token', [1, 1, 0, 0], [3, -4]],
    ['last_token', [0, 0, 1, 1], [50, 60]],
    ['last_token', [0, 1, 1, 0], [5, 7]],
  ] as const)('%s of tokens %j', async (mode, flags, wanted) => {
    expect(await pooled([mode], [...flags])).toEqual([...wanted]);
  });

  it('joins modes in upstream’s order', async () => {
    expect(await pooled(poolingModes(['last_token', 'max']), [1, 1, 0, 0])).toEqual([3, 2, 3, -4]);
  });

  it('none is no mode of a list', () => {
    expect(poolingModes('none')).toEqual([]);
    for (const modes of [['none'], ['mean', 'none']]) {
      expect(() => poolingModes(modes)).toThrow(/must be one of cls, .*last_token, or several of them, not none$/);
    }
    expect(() => poolingModes('middle')).toThrow('must be one of none, cls, ');
  });

  it('makes every vector one of length 1, but for zeros', async () => {
    const rows = new Tensor('float32', Float32Array.of(3, 4, 0, 0, 0, -2), [3, 2]);
    expect((await normalized(await sharedEngine(), rows)).tolist()).toEqual([
      [Math.fround(0.6), Math.fround(0.8)],
      [0, 0],
      [0, -1],
    ]);
  });
});
