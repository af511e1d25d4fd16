// Chapter 8: from the last row of the stream to a generated token.

import { percent, two } from 'clearformer/elements';
import type { Book } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import { attribution } from './inside.js';
import { type Prompt, promptOf, scoresOf, settingsOf } from './odds.js';
import './figure.js';
import { softmax } from 'clearformer';

const prompt = (book: Book): Promise<Prompt> => promptOf(book, '');

/** The most probable token's probability at half the temperature. */
const colder: Question = {
  id: 'colder',
  kind: 'number',
  async check(book, answer) {
    const odds = await softmax(await scoresOf(await prompt(book), { temperature: 0.5, top_k: 0, top_p: 1 }));
    const most = odds.data.reduce((best, share) => Math.max(best, share), 0);
    // Read from a slider: within half a percentage point.
    return { right: Math.abs(Number(answer) - most * 100) <= 0.5, values: { share: percent(most) } };
  },
};

/** Set top-k, top-p or the temperature so that three candidates remain. */
const three: Question = {
  id: 'three',
  kind: 'state',
  async check(book) {
    const value = (key: string): string => valueAt(chapter, book.address, key);
    const settings = settingsOf(value);
    const scores = await scoresOf(await promptOf(book, value('w')), settings);
    const left = scores.data.filter((score) => score > Number.NEGATIVE_INFINITY).length;
    return { right: left === 3 && settings.top_k === 0, values: { left: String(left), p: String(settings.top_p) } };
  },
};

/** Which head contributed most to the answer's logit. */
const writer: Question = {
  id: 'writer',
  kind: 'choice',
  async options(book) {
    return (await ranked(book))
      .slice(0, 4)
      .map(({ name }) => name)
      .sort();
  },
  async check(book, answer) {
    const all = await ranked(book);
    const chosen = all.find(({ name }) => name === answer);
    return {
      right: chosen === all[0],
      values: { value: two(chosen?.value ?? 0), best: all[0]?.name ?? '', most: two(all[0]?.value ?? 0) },
    };
  },
};

async function ranked(book: Book): Promise<{ name: string; value: number }[]> {
  const given = await prompt(book);
  const { logits } = await book.shelf.pass(given.given, { names: [] });
  const { heads } = await attribution(given, logits.slice(0, -1).data);
  const width = heads.dims[1] ?? 1;
  const all = Array.from(heads.data, (value, at) => ({
    name: `${Math.floor(at / width) + 1}·${(at % width) + 1}`,
    value,
  }));
  return all.sort((a, b) => b.value - a.value);
}

export const chapter: Chapter = {
  id: 'saying',
  layout: 'wide',
  tag: 'figure-saying',
  defaults: { view: 'odds', temp: '1', k: '0', p: '1', seed: '1', beams: '3', sort: 'rank' },
  steps: [
    { id: 'score' },
    { id: 'odds', defaults: { sort: 'id' } },
    { id: 'temperature', defaults: { temp: '2' }, predict: true },
    { id: 'cut', defaults: { temp: '1.5', k: '8', p: '0.8' } },
    { id: 'draw', defaults: { view: 'draws' }, predict: true },
    { id: 'beams', defaults: { view: 'beams' } },
    { id: 'lens', defaults: { view: 'lens' }, predict: true },
    { id: 'who', defaults: { view: 'who' }, predict: true },
  ],
  questions: [colder, three, writer],
};
