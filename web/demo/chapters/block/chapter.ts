// Chapter 7: a transformer block: the residual stream, its norms and its feed-forward network.

import { percent } from 'clearformer/elements';
import { type Book, firstModel } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import { specsOf } from '../../book/edits.js';
import { leaders } from '../../book/odds.js';
import { boxesOf, missing } from './missing.js';
import { read, type Subject, subjectOf, takesOut } from './reading.js';
import './figure.js';

/** The questions are about the reader's sentence. */
const subject = (book: Book): Promise<Subject> => subjectOf(book, book.modelName, '');
const names = { hook_attn_out: 'A', hook_cross_attn_out: 'C', hook_mlp_out: 'F' } as const;
const namesOf = (given: Subject): string[] =>
  Array.from({ length: given.shape.layers }, (_, layer) =>
    boxesOf(given).map((box) => `${layer + 1}${names[box]}`),
  ).flat();

/** Which sublayer matters most for the answer. */
const needed: Question = {
  id: 'needed',
  kind: 'choice',
  async options(book) {
    return namesOf(await subject(book));
  },
  async check(book, answer) {
    const given = await subject(book);
    const { shares, share } = await missing(book, given);
    const least = Math.min(...shares.data);
    const chosen = shares.data[namesOf(given).indexOf(answer)] ?? 1;
    return {
      right: chosen === least,
      values: { whole: percent(share), chosen: percent(chosen), least: percent(least) },
    };
  },
};

/** Parameters of the feed-forward network compared with those of attention. */
const weights: Question = {
  id: 'weights',
  kind: 'number',
  async check(book, answer) {
    const { shape } = await subjectOf(book, firstModel, '');
    const count = (shape.gated ? 3 : 2) * shape.model * shape.hidden;
    const values = {
      matrices: String(shape.gated ? 3 : 2),
      model: String(shape.model),
      hidden: String(shape.hidden),
      count: String(count),
    };
    return { right: Number(answer) === count, values };
  },
};

/** Ablate sublayers until the prediction changes. */
const other: Question = {
  id: 'other',
  kind: 'state',
  async check(book) {
    const given = await subject(book);
    const { address } = book;
    const { layers } = given.shape;
    const all = specsOf(address.get('edit'), valueAt(chapter, address, 'edit'), layers, Number.POSITIVE_INFINITY);
    const specs = all.filter((spec) => takesOut(spec, spec.hook) && /_out$/.test(spec.hook));
    const { odds } = await read(book, given, 0, specs);
    const { before, now } = leaders(odds);
    const right = specs.length > 0 && before?.piece.id !== now?.piece.id;
    return {
      right,
      values: {
        answer: before?.piece.label ?? '',
        now: now?.piece.label ?? '',
        share: percent(now?.now ?? 0),
        n: String(specs.length),
      },
    };
  },
};

export const chapter: Chapter = {
  id: 'block',
  layout: 'wide',
  tag: 'figure-block',
  defaults: { view: 'tensor', l: '2', box: 'hook_attn_out', letters: 'CBABBC', c: '0', n: '0' },
  steps: [
    { id: 'moves' },
    { id: 'stream', defaults: { view: 'stream' } },
    { id: 'norm', defaults: { view: 'norm', box: 'ln1.hook_normalized' } },
    { id: 'feed', defaults: { view: 'mlp', box: 'hook_mlp_out', n: '5' }, predict: true },
    { id: 'bend', defaults: { view: 'mlp', box: 'hook_mlp_out', act: 'relu', n: '5' } },
    {
      id: 'order',
      defaults: { view: 'order', who: 'marian-tiny-en-fr.encoder', l: '0', box: 'ln1.hook_normalized' },
      predict: true,
    },
    {
      id: 'decoder',
      defaults: { view: 'tensor', who: 'marian-tiny-en-fr.decoder', l: '1', box: 'hook_cross_attn_out' },
    },
    {
      id: 'without',
      defaults: { view: 'without', l: '4', box: 'hook_attn_out', edit: 'blocks.4.hook_attn_out:zero' },
      predict: true,
    },
    { id: 'weights', defaults: { view: 'weights' } },
  ],
  questions: [needed, other, weights],
};
