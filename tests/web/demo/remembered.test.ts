// Results that the page keeps: each is computed once, and one that fails is computed again.

import { expect, it } from 'vitest';
import { once, remembered } from '../../../web/demo/book/remembered.js';

/** Fails the first time, then counts its calls. */
function flaky(): () => Promise<number> {
  let calls = 0;
  return async () => {
    if (++calls === 1) throw new Error('out of reach');
    return calls;
  };
}

it('computes a result once for each key, and again after a failure', async () => {
  const memory = new Map<string, Promise<number>>();
  const make = flaky();
  const [first, same] = [remembered(memory, 'a', make), remembered(memory, 'a', make)];
  expect(same).toBe(first);
  await expect(first).rejects.toThrow('out of reach');
  expect(await remembered(memory, 'a', make)).toBe(2);
  expect(await remembered(memory, 'a', make)).toBe(2);
  expect(await remembered(memory, 'b', make)).toBe(3);
});

it('calls a function once, and again after a failure', async () => {
  const call = once(flaky());
  await expect(call()).rejects.toThrow('out of reach');
  expect([await call(), await call()]).toEqual([2, 2]);
});
