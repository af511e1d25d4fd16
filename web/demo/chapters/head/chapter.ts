// Chapter 4: one attention head with all its values.

import { decimals, short } from 'clearformer/elements';
import type { Book } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import './figure.js';
import { at, type HeadData, headData, largestAt, rowOf } from './head_numbers.js';
import { spreadOf } from './root.js';
import { giverOf, targetOf } from './values.js';

const chosen = ({ address }: Book, key: string): string => valueAt(chapter, address, key);

/** The head shown by the figure. */
const shown = (book: Book): Promise<HeadData> =>
  headData(book, {
    layer: Number(chosen(book, 'l')),
    head: Number(chosen(book, 'h')),
    own: chosen(book, 'qkv'),
    ownBefore: chosen(book, 'was'),
    causal: chosen(book, 'causal') === '1',
    focus: chosen(book, 'q'),
  });

/** Which of the d products contributes most to the score between the token in focus and its highest-weighted key. */
const largestProduct: Question = {
  id: 'product',
  kind: 'number',
  async check(book, answer) {
    const { now, focus } = await shown(book);
    const best = largestAt(rowOf(now.A, focus));
    const key = rowOf(now.K, best);
    const products = rowOf(now.Q, focus).map((value, i) => value * (key[i] ?? 0));
    const place = largestAt(products);
    return {
      right: Number(answer) === place + 1,
      values: { n: String(place + 1), value: decimals(products[place] ?? 0, 2) },
    };
  },
};

const task: Question = {
  id: 'task',
  kind: 'state',
  async check(book) {
    const { before, now, keys, focus } = await shown(book);
    const target = targetOf(keys.length);
    const share = at(now.A, giverOf(before.masked, focus, target), target);
    return { right: share > 0.5 && book.editSpecs.length > 0, values: { share: decimals(share, 2) } };
  },
};

/** The variance of q · k at d = 256, measured on random vectors. */
const variance: Question = {
  id: 'variance',
  kind: 'number',
  async check(_, answer) {
    const { variance: measured } = await spreadOf(256);
    const ratio = Number(answer) / measured;
    return { right: ratio > 0.85 && ratio < 1.18, values: { measured: short(measured) } };
  },
};

export const chapter: Chapter = {
  id: 'head',
  layout: 'wide',
  tag: 'figure-head',
  defaults: {
    l: '2',
    h: '4',
    q: '7',
    s: 'masked',
    view: 'head',
    at: 'S',
    d: '64',
    norm: '0',
    gen: 'identity',
    causal: '1',
  },
  steps: [
    { id: 'views', defaults: { at: 'Q', s: 'raw' } },
    { id: 'meet', defaults: { at: 'S', s: 'raw' } },
    { id: 'divide', defaults: { at: 'S', s: 'scaled' } },
    { id: 'root', defaults: { view: 'root' }, predict: true },
    { id: 'ahead', defaults: { at: 'S+', s: 'masked' } },
    { id: 'spend', defaults: { at: 'A', s: 'masked' }, predict: true },
    { id: 'carry', defaults: { at: 'Z', s: 'masked' } },
    { id: 'change', defaults: { at: 'Q', s: 'masked' } },
    { id: 'scores', defaults: { view: 'scores' } },
    { id: 'batch', defaults: { view: 'batch' } },
  ],
  questions: [largestProduct, task, variance],
  variant: (address) => (address.get('qkv') ? 'own' : undefined),
};
