// Chapter 3: a position as the hands of clocks, a shift as a rotation, and other ways to encode positions.

import { shift_matrix } from 'clearformer';
import { decimals, four, two } from 'clearformer/elements';
import type { Book } from '../../book/book.js';
import { bundled, isBundled } from '../../book/bundled.js';
import { type Chapter, type Question, type Verdict, valueAt } from '../../book/chapter.js';
import './figure.js';
import { askedOf } from './places.js';

/** The number of tokens for a full rotation of the hand of pair 1 of 16 columns. */
const oneTurn: Question = {
  id: 'turn',
  kind: 'number',
  async check(_book: Book, answer: string): Promise<Verdict> {
    const step = await shift_matrix(1, 16);
    const omega = Math.atan2(Number(step.slice(2, 3).item()), Number(step.slice(2, 2).item()));
    const turn = (2 * Math.PI) / omega;
    const right = answer !== '' && Math.abs(Number(answer) - turn) <= 0.5;
    return { right, values: { omega: four(omega), turn: decimals(turn, 1) } };
  },
};

/** A δ whose rotation of the first pair is within 0.05 of the identity, elementwise. */
const comeBack: Question = {
  id: 'back',
  kind: 'state',
  async check({ address }: Book): Promise<Verdict> {
    const { delta } = askedOf((key) => valueAt(chapter, address, key));
    const step = await shift_matrix(delta, 2);
    const off = Math.max(...step.data.map((value, at) => Math.abs(value - (at % 3 === 0 ? 1 : 0))));
    return {
      right: delta !== 0 && off <= 0.05,
      values: { delta: String(delta), sin: two(step.data[1] ?? 0), cos: two(step.data[0] ?? 0) },
    };
  },
};

/** Which bundled model adds no position embeddings to its vectors. */
const addsNone: Question = {
  id: 'none',
  kind: 'choice',
  options: async () => Object.keys(bundled),
  async check({ shelf }: Book, answer: string): Promise<Verdict> {
    if (!isBundled(answer)) return { right: false, values: { model: answer, kind: '–' } };
    const { model } = await shelf.model(answer);
    const kind = String(model.cfg.positional_embedding_type);
    return { right: kind === 'rotary', values: { model: answer, kind } };
  },
};

const sinusoids = { v: 'sinusoids', d: '16', pair: '1', sines: '0', misprint: '0', layout: 'interleaved' };

export const chapter: Chapter = {
  id: 'where',
  layout: 'beside',
  tag: 'figure-where',
  defaults: { ...sinusoids, i: '3', delta: '5', table: 'gpt-nano-sort', l: '1', h: '3', ko: '8', bh: '1' },
  steps: [
    { id: 'row', defaults: { ...sinusoids } },
    { id: 'clocks', defaults: { ...sinusoids, i: '3', delta: '5' } },
    { id: 'step', defaults: { ...sinusoids, i: '3', delta: '5' }, predict: true },
    { id: 'sines', defaults: { ...sinusoids, sines: '1' } },
    { id: 'few', defaults: { ...sinusoids, d: '2', pair: '0', i: '1', delta: '5', count: '1' } },
    { id: 'misprint', defaults: { ...sinusoids, misprint: '1', i: '3', delta: '2' } },
    { id: 'halves', defaults: { ...sinusoids, layout: 'halves', i: '3', delta: '5' } },
    { id: 'learned', defaults: { v: 'tables', table: 'vit-mnist' } },
    { id: 'rotary', defaults: { v: 'rotary' }, predict: true },
    { id: 'bias', defaults: { v: 'bias', bh: '1' } },
  ],
  questions: [oneTurn, comeBack, addsNone],
};
