// Chapter 2: attention is equivariant to permutations. Tokens are permuted, and their outputs are permuted with them.

import { softmax } from 'clearformer';
import { decimals } from 'clearformer/elements';
import { type Book, firstModel } from '../../book/book.js';
import { type Chapter, type Question, type Verdict, valueAt } from '../../book/chapter.js';
import { largest } from '../../book/largest.js';
import './figure.js';
import { distinctRows, fittingLetters, lettersMoved } from './reading.js';

const letters = 'CABBAC';

/** How many distinct outputs six letters of three kinds have. */
const kinds: Question = {
  id: 'kinds',
  kind: 'number',
  async check(_book: Book, answer: string): Promise<Verdict> {
    const { now } = await lettersMoved({ letters, order: '', positions: false, causal: false });
    const { now: placed } = await lettersMoved({ letters, order: '', positions: true, causal: false });
    const [n, withPlaces] = [distinctRows(now), distinctRows(placed)];
    return { right: Number(answer) === n && answer !== '', values: { n: String(n), withPlaces: String(withPlaces) } };
  },
};

/** Find where the causal mask matters: an order that changes the outputs although no positions are added. */
const masked: Question = {
  id: 'masked',
  kind: 'state',
  async check({ address }: Book): Promise<Verdict> {
    const value = (key: string): string => valueAt(chapter, address, key);
    const causal = value('mask') === '1';
    const asked = { letters: fittingLetters(value('letters')) || letters, order: value('o') };
    const { difference } = await lettersMoved({ ...asked, positions: false, causal });
    return {
      right: causal && difference > 1e-3 && value('pos') !== '1',
      values: { difference: decimals(difference, 3) },
    };
  },
};

/** The story model's prediction for the reversed sentence. */
async function turnedRound(book: Book): Promise<{ best: string; options: string[] }> {
  const { ids } = await book.sentence(firstModel, 13);
  const { model, texts } = await book.shelf.model(firstModel);
  const [first = 0, ...others] = ids;
  const { logits } = await book.shelf.pass(
    { model: firstModel, key: `turned ${ids.join()}`, inputs: { input_ids: [[first, ...others.toReversed()]] } },
    { names: [`blocks.${model.cfg.n_layers - 1}.hook_resid_post`] },
  );
  const odds = await softmax(logits.slice(0, -1));
  const likely = largest(odds.data, 4).map((id) => texts?.alone(id).label ?? '');
  return { best: likely[0] ?? '', options: likely.toSorted() };
}

const next: Question = {
  id: 'next',
  kind: 'choice',
  options: async (book) => (await turnedRound(book)).options,
  async check(book: Book, answer: string): Promise<Verdict> {
    const { best } = await turnedRound(book);
    return { right: answer === best, values: { answer } };
  },
};

const still = { v: 'letters', pos: '0', mask: '0', letters };

export const chapter: Chapter = {
  id: 'set',
  layout: 'beside',
  tag: 'figure-set',
  defaults: { ...still, o: '' },
  steps: [
    { id: 'layer', defaults: { ...still, o: '' } },
    { id: 'move', defaults: { ...still, o: '3.0.5.1.4.2' }, predict: true },
    { id: 'why', defaults: { ...still, o: '3.0.5.1.4.2' } },
    { id: 'twins', defaults: { ...still, o: '1.4.2.3.0.5' } },
    { id: 'places', defaults: { ...still, pos: '1', o: '3.0.5.1.4.2' }, predict: true },
    { id: 'mask', defaults: { ...still, mask: '1', o: '3.0.5.1.4.2' } },
    { id: 'story', defaults: { v: 'story', o: '5.6.7.3.4.8.0.1.2' } },
  ],
  questions: [kinds, masked, next],
};
