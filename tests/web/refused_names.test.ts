// Refusals name the function or class that was called, not one that it is made of.

import {
  cat,
  DynamicCache,
  LogitsProcessorList,
  Optimizer,
  ones,
  PreTrainedTokenizer,
  StoppingCriteriaList,
  stack,
  zeros,
} from 'clearformer';
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
])('%s', async (name, call) => {
  for (const given of [5, null, ...(['cat', 'stack'].includes(name) ? [[]] : [])]) {
    const { code, message } = await failureOf(() => call(given));
    expect([code, message.split(/:? (?=needs|is)/)[0]]).toEqual(['invalid_argument', name]);
  }
});

it('lists of criteria and processors refuse members that are no functions', async () => {
  const nothing = () => undefined;
  expect([...new LogitsProcessorList([nothing])]).toEqual([nothing]);
  const lists = [StoppingCriteriaList, LogitsProcessorList];
  for (const Kind of lists as unknown as (new (
    given?: unknown,
  ) => LogitsProcessorList)[]) {
    const calls = [new Kind()].flatMap((all) => [
      (given: unknown) => new Kind(given),
      (given: unknown) => all.extend(given as never),
      (given: unknown) => all.push(given as never),
    ]);
    for (const [at, call] of calls.entries()) {
      for (const given of [5, null, {}, 'x', [nothing, 5]]) {
        const { code, message } = await failureOf(() => call(given));
        expect([at, given, code]).toEqual([at, given, 'invalid_argument']);
        expect(message).toMatch(/^(StoppingCriteria|LogitsProcessor)List: needs functions, got /);
      }
    }
  }
});
