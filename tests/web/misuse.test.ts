// Ten thousand random calls, some with invalid arguments: each ends in a typed error or in the right result.

import { ClearformerError, type Tensor } from 'clearformer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Draw } from './support/misuse.js';
import { functionCalls } from './support/misuse_calls.js';
import { moduleCalls } from './support/misuse_modules.js';
import { positionCalls } from './support/misuse_positions.js';
import { Invalid, type Numbers } from './support/naive.js';

/** Compares results: rounding is far below 1e-4 of the largest, a wrong result far above. */
function expectAnswer(found: unknown, answer: () => Numbers[]): void {
  const tensors = (Array.isArray(found) ? found : [found]) as Tensor[];
  const wanted = answer();
  expect(tensors.map(({ dims }) => [...dims])).toEqual(wanted.map(({ dims }) => [...dims]));
  wanted.forEach(({ data }, i) => {
    const bound = 1e-4 * data.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
    data.forEach((value, at) => {
      const got = Number(tensors[i]?.data[at]);
      if (!(Math.abs(got - value) <= bound || Object.is(got, value)))
        expect.fail(`element ${at} is ${got}, not ${value}`);
    });
  });
}

const kinds = [...functionCalls, ...moduleCalls, ...positionCalls];

it('ends in a typed error or the right answer', async () => {
  const counts = { right: 0, refused: 0 };
  const property = fc.asyncProperty(fc.gen(), async (g) => {
    const draw = new Draw(g);
    const { call, answer } = draw.of(...kinds)(draw);
    try {
      const found = await call();
      expectAnswer(found, answer);
      counts.right++;
    } catch (thrown) {
      if (thrown instanceof Invalid) throw new Error(`a result, where none is right: ${thrown.message}`);
      if (!(thrown instanceof ClearformerError)) throw thrown;
      expect([
        'invalid_argument',
        'shape_mismatch',
        'dtype_mismatch',
        'unsupported',
        'missing_tensor',
        'malformed_file',
        'out_of_memory',
      ]).toContain(thrown.code);
      expect(thrown.message.length).toBeGreaterThan(10);
      counts.refused++;
    }
  });
  await fc.assert(property, { seed: 20260101, numRuns: 10_000 });
  expect(counts.right).toBeGreaterThan(4000);
  expect(counts.refused).toBeGreaterThan(4000);
});
