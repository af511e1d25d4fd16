// Chapter 11: an image as a sequence of patches.

import { two } from 'clearformer/elements';
import type { Book } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import { isOwn, mostHidden, type Seen, see } from './reading.js';
import './figure.js';

/** A five; without the two patches of its bar it is classified as another digit. */
const picture = 's5';
const withoutBar = '11.12';
/** An order of patches in which this five is classified as another digit. */
const mixed = 'QebpGVoHBuEkLsSmXajgKqWRCUIcOlhdvMZiwJrADnFYTPNtf';

const plain = (book: Book, chosen: { hidden?: string; picture?: string } = {}): Promise<Seen> =>
  see(book, {
    picture: chosen.picture ?? book.address.get('d') ?? picture,
    order: '',
    hidden: chosen.hidden ?? '',
    positions: 'stay',
  });

const blind: Question = {
  id: 'blind',
  kind: 'state',
  async check(book) {
    const { address } = book;
    const shown = valueAt(chapter, address, 'hide');
    const isUsual = address.get('hide') === undefined && shown !== 'none';
    const hidden = isUsual && isOwn(address) ? 'middle' : shown;
    const seen = await plain(book, { hidden });
    const { classes, best, before, shape } = seen;
    const count = seen.hidden.length;
    return {
      right: count >= 1 && count <= mostHidden(book.address, shape) && best !== before.best,
      values: { count: String(count), was: classes[before.best] ?? '', now: classes[best] ?? '' },
    };
  },
};

const nearest: Question = {
  id: 'nearest',
  kind: 'number',
  async check(book, answer) {
    const { likeness, shape } = await plain(book);
    const middle = Math.floor(shape.places / 2);
    const row = Array.from(likeness.slice(middle).data, (value, place) => (place === middle ? -2 : value));
    const best = Math.max(...row);
    const given = row[Number(answer) - 1];
    const values = { best: String(row.indexOf(best) + 1), cosine: two(best) };
    return {
      right: given === best,
      values: { ...values, ...(given === undefined ? { isNone: '' } : { given: two(given) }) },
    };
  },
};

const sharpest: Question = {
  id: 'sharpest',
  kind: 'choice',
  options: async (book) => (await plain(book)).patterns.map((_, block) => String(block + 1)),
  async check(book, answer) {
    const { patterns, special } = await plain(book);
    const most = patterns.map(({ dims: [heads = 0] }, block) =>
      Math.max(
        ...Array.from({ length: heads }, (_, head) =>
          Math.max(...(patterns[block]?.slice(head, 0, [special, null]).data ?? [])),
        ),
      ),
    );
    const best = most.indexOf(Math.max(...most));
    const percent = (block: number): string => `${((most[block] ?? 0) * 100).toFixed(0)} %`;
    return {
      right: Number(answer) === best + 1,
      values: { block: String(best + 1), share: percent(best), given: percent(Number(answer) - 1) },
    };
  },
};

export const chapter: Chapter = {
  id: 'seeing',
  layout: 'beside',
  tag: 'figure-seeing',
  defaults: {
    v: 'picture',
    d: picture,
    p: '17',
    k: '11',
    l: '3',
    h: '1',
    who: 'cls',
    pos: 'stay',
    order: 'none',
    hide: 'none',
  },
  steps: [
    { id: 'picture' },
    { id: 'patches', defaults: { v: 'patches', p: '17' } },
    { id: 'kernels', defaults: { v: 'kernels', p: '17', k: '11' } },
    { id: 'positions', defaults: { v: 'positions', p: '17' } },
    { id: 'similar', defaults: { v: 'similar', p: '24' } },
    { id: 'heads', defaults: { v: 'heads', l: '3', h: '1', who: 'cls' } },
    { id: 'rollout', defaults: { v: 'rollout' } },
    { id: 'hide', defaults: { v: 'hide', hide: withoutBar }, predict: true },
    { id: 'shuffle', defaults: { v: 'order', order: mixed, pos: 'stay' }, predict: true },
    { id: 'along', defaults: { v: 'order', order: mixed, pos: 'along' }, predict: true },
  ],
  questions: [blind, sharpest, nearest],
  variant: (address) => (isOwn(address) ? 'own' : undefined),
  spine: 'figure',
  textless: true,
};
