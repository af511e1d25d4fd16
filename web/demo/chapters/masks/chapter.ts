// Chapter 5: masks, painted on one head of the running model.

import { Mask, scaled_dot_product_attention } from 'clearformer';
import { decimals } from 'clearformer/elements';
import type { Book } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import './figure.js';
import { allowedOf, flags, type MaskData, maskData, presets } from './mask_numbers.js';

const chosen = ({ address }: Book, key: string): string => valueAt(chapter, address, key);

/** The mask of the address, applied to the head of the address. */
function shown(book: Book, mask = chosen(book, 'mask')): Promise<MaskData> {
  const preset = presets.find((one) => one === mask) ?? 'causal';
  const number = (key: string): number => Number(chosen(book, key));
  return maskData(
    book,
    { layer: number('l'), head: number('h'), where: 'head' },
    { preset, length: number('len'), prefix: number('pre'), without: number('key'), rows: chosen(book, 'rows') },
  );
}

/** How many cells a causal mask hides, by counting them. */
const hidden: Question = {
  id: 'hidden',
  kind: 'number',
  async check(book, answer) {
    const { allowed } = await shown(book, 'causal');
    const count = allowed.flat().filter((sees) => !sees).length;
    return { right: Number(answer) === count, values: { count: String(count), n: String(allowed.length) } };
  },
};

const alone: Question = {
  id: 'alone',
  kind: 'state',
  async check(book) {
    const { weights, sentence } = await shown(book);
    const { focus } = sentence;
    const share = weights.slice(focus).data[focus] ?? 0;
    return { right: share > 0.9999, values: { share: decimals(share, 4) } };
  },
};

const libraries: Readonly<Record<string, typeof Mask.allow>> = {
  'torch scaled_dot_product_attention': Mask.allow,
  'torch nn.MultiheadAttention': Mask.ignore,
  'Hugging Face attention_mask': Mask.allow,
};

/** Whether 1 means hidden: a mask with a single 1 is passed to each, and the weight of its key is read. */
const polarity: Question = {
  id: 'polarity',
  kind: 'choice',
  options: async () => Object.keys(libraries),
  async check(book, answer) {
    const { q, k, v, request, allowed } = await shown(book, 'none');
    const n = allowed.length;
    const first = allowedOf({ ...request, preset: 'padding', length: 1 }, n);
    const maker = libraries[answer] ?? Mask.allow;
    const [, weights] = await scaled_dot_product_attention(q, k, v, {
      mask: maker(flags(first, true)),
      need_weights: true,
    });
    const share = weights.slice(0).data[0] ?? 0;
    return { right: share === 0, values: { library: answer, share: decimals(share, 2) } };
  },
};

export const chapter: Chapter = {
  id: 'masks',
  layout: 'beside',
  tag: 'figure-masks',
  defaults: { l: '2', h: '4', q: '7', view: 'paint', mask: 'causal', len: '7', pre: '5', key: '1', where: 'head' },
  steps: [
    { id: 'causal', defaults: { mask: 'causal' } },
    { id: 'without', defaults: { mask: 'without', where: 'all' } },
    { id: 'padding', defaults: { mask: 'padding' } },
    { id: 'both', defaults: { mask: 'both' } },
    { id: 'prefix', defaults: { mask: 'prefix' } },
    { id: 'empty', defaults: { mask: 'empty', view: 'empty' }, predict: true },
    { id: 'mistake', defaults: { mask: 'causal', view: 'mistake' }, predict: true },
    { id: 'polarity', defaults: { mask: 'padding', view: 'libraries' } },
  ],
  questions: [hidden, alone, polarity],
};
