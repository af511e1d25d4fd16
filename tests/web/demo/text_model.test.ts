// A model behind the page's texts: what it writes up to, and after, the last position it reads.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultSettings } from '../../../web/demo/state/settings.js';
import { LoadedModel, type Step } from '../../../web/demo/state/text_model.js';

const folder = fileURLToPath(new URL('../../../web/demo/public/models/gpt-nano-sort', import.meta.url));
const settings = { ...defaultSettings, do_sample: false };
let model: LoadedModel;
beforeAll(async () => {
  model = await LoadedModel.load(folder, 'sort', {});
});
afterAll(() => model.dispose());

async function steps(text: string, max_new_tokens: number): Promise<Step[]> {
  const found: Step[] = [];
  const { signal } = new AbortController();
  for await (const step of model.stream(model.encode(text), { ...settings, max_new_tokens }, signal)) found.push(step);
  return found;
}

it('sorts six letters: the sixth is read off the last of its eleven positions', async () => {
  expect(model.context).toBe(11);
  const found = await steps('CBABAC', 6);
  expect(model.pieces(found.map((step) => step.token_id)).map(({ text }) => text)).toEqual([...'AABBCC']);
  found.forEach((step, i) => {
    expect(step.logits.length).toBe(3);
    const queries = i === 0 ? 6 : 1;
    expect(step.attentions.map(({ dims }) => dims)).toEqual(new Array(3).fill([1, 3, queries, 6 + i]));
  });
});

it('has the same last row as a pass over the whole text', async () => {
  const { signal } = new AbortController();
  const whole = await model.logits(model.encode('CBABACAABBC'), signal);
  const last = (await steps('CBABAC', 6)).at(-1);
  expect([...(last?.logits ?? [])]).toEqual([...whole.slice(-3)]);
});

it('writes one token after a text that fills all positions', async () => {
  const [only, ...more] = await steps('CBABACAABBC', 6);
  expect(more).toEqual([]);
  expect(model.piece([only?.token_id ?? -1]).text).toBe('C');
  expect(only?.attentions.map(({ dims }) => dims)).toEqual(new Array(3).fill([1, 3, 11, 11]));
});

it('writes no more than it is asked for', async () => {
  expect((await steps('CBABAC', 5)).length).toBe(5);
  expect((await steps('CBABAC', 2)).length).toBe(2);
});
