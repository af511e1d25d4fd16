// Refusals name the function or class that was called, not one that it is made of.

import { cat, cos_sim, DynamicCache, Optimizer, ones, PreTrainedTokenizer, stack, zeros } from 'clearformer';
import { expect, it } from 'vitest';
import { failureOf } from './support/failures.js';

type Made = new (given: unknown) => unknown;

it.each<[string, (given: unknown) => unknown]>([
  ['new DynamicCache', (given) => new (DynamicCache as Made)(given)],
  ['Optimizer', (given) => new (Optimizer as unknown as Made)(given)],
  ['PreTrainedTokenizer', (given) => new (PreTrainedTokenizer as Made)(given)],
  ['PreTrainedTokenizer', (given) => new PreTrainedTokenizer({}, given as object)],
  ['cat', (given) => cat(given as [])],
  ['stack', (given) => stack(given as [])],
  ['ones', (given) => ones(given as [])],
  ['zeros', (given) => zeros(given as [])],
  ['cos_sim', (given) => cos_sim(given as [], [1])],
])('%s', async (name, call) => {
  for (const given of [5, null, ...(['cat', 'stack'].includes(name) ? [[]] : [])]) {
    const { code, message } = await failureOf(() => call(given));
    expect([code, message.split(/:? (?=needs|has)/)[0]]).toEqual(['invalid_argument', name]);
  }
});
