// Chapter 12: the cost of a layer, counted and measured on the reader's device.

import { two } from 'clearformer/elements';
import type { Address } from '../../book/address.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import { grouped } from '../../book/grouped.js';
import { type Sizes, sizesOf, works } from './counting.js';
import './figure.js';

/** The sizes in the figure. */
const shown = (address: Address): Sizes => sizesOf((key) => valueAt(chapter, address, key));

/** The length at which self-attention needs as many multiplications as a recurrent layer: n² d = n d², so n = d. */
const crossing: Question = {
  id: 'crossing',
  kind: 'number',
  async check({ address }, answer) {
    const { d } = shown(address);
    const n = Number(answer);
    if (!Number.isInteger(n) || n < 1) return { right: false, values: { isNone: '' } };
    const [attention, recurrent] = await works(n, d, 3);
    const [one, other] = [attention?.multiply_adds ?? 0, recurrent?.multiply_adds ?? 0];
    const ratio = one / other;
    const values = { n: String(n), attention: grouped(one), recurrent: grouped(other) };
    return { right: ratio > 0.95 && ratio < 1.05, values };
  },
};

const doubling: Question = {
  id: 'doubling',
  kind: 'number',
  async check({ address }, answer) {
    const { n, d } = shown(address);
    const [[once], [twice]] = [await works(n, d, 3), await works(2 * n, d, 3)];
    const ratio = (twice?.multiply_adds ?? 0) / (once?.multiply_adds ?? 1);
    return { right: Math.abs(Number(answer) - ratio) < 0.05, values: { ratio: two(ratio) } };
  },
};

export const chapter: Chapter = {
  id: 'cost',
  layout: 'beside',
  tag: 'figure-cost',
  defaults: { view: 'work', n: '128', d: '64', k: '3' },
  steps: [
    { id: 'pairs', defaults: { view: 'work', n: '128' } },
    { id: 'measured', defaults: { view: 'time' }, predict: true },
    { id: 'short', defaults: { view: 'work', n: '16' } },
    { id: 'path', defaults: { view: 'path', n: '128' } },
    { id: 'cache', defaults: { view: 'cache' } },
    { id: 'dtypes', defaults: { view: 'dtypes' } },
    { id: 'device', defaults: { view: 'device' } },
  ],
  questions: [crossing, doubling],
};
