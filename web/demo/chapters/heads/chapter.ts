// Chapter 6: multiple heads, their outputs concatenated and projected into the stream.

import { type Book, firstModel } from '../../book/book.js';
import { type Chapter, type Defaults, type Question, type Verdict, valueAt } from '../../book/chapter.js';
import { specsOf } from '../../book/edits.js';
import { largest } from '../../book/largest.js';
import { leaders, oddsOf } from '../../book/odds.js';
import { habits, need } from './habits.js';
import { subjectOf } from './reading.js';
import './figure.js';
import { percent, two } from 'clearformer/elements';

const name = (layer: number, head: number): string => `${layer + 1}·${head + 1}`;

/** Which head attends most to the previous token. */
const previous: Question = {
  id: 'previous',
  kind: 'choice',
  async options(book) {
    const { scores } = await habits(book, await subject(book));
    const { data, dims } = scores.previous_token;
    const heads = dims[1] ?? 1;
    const places = [
      largest(data, 1)[0] ?? 0,
      ...largest(
        data.map((score) => -score),
        2,
      ),
      largest(data, 6)[5] ?? 0,
    ];
    return [...new Set(places)].sort((a, b) => a - b).map((at) => name(Math.floor(at / heads), at % heads));
  },
  async check(book, answer) {
    const { scores } = await habits(book, await subject(book));
    const { data, dims } = scores.previous_token;
    const heads = dims[1] ?? 1;
    const places = Array.from(data, (_, at) => name(Math.floor(at / heads), at % heads));
    const at = places.indexOf(answer);
    const [best = 0] = largest(data, 1);
    return {
      right: at === best,
      values: { score: two(data[at] ?? 0), best: places[best] ?? '', bestScore: two(data[best] ?? 0) },
    };
  },
};

/** How many parameters of W_O belong to one head. */
const weights: Question = {
  id: 'weights',
  kind: 'number',
  async check(book, answer) {
    const { heads, width, model } = await subjectOf(book, firstModel, '');
    return {
      right: Number(answer) === width * model,
      values: { width: String(width), model: String(model), heads: String(heads), count: String(width * model) },
    };
  },
};

/** Ablate heads until the answer has lost half of its probability or its first rank. */
const half: Question = {
  id: 'half',
  kind: 'state',
  async check(book): Promise<Verdict> {
    const { given, layers, heads } = await subject(book);
    const names = ['blocks.0.hook_resid_pre'];
    const clean = await book.shelf.pass(given, { names });
    const { address } = book;
    const all = specsOf(address.get('edit'), valueAt(chapter, address, 'edit'), layers, heads);
    const specs = all.filter(({ hook }) => hook.endsWith('attn.hook_z'));
    const edits = await book.edits(given, specs);
    const now = await book.shelf.pass(given, { names, edits });
    const { before: first } = leaders(await oddsOf(await book.shelf.model(given.model), clean, now));
    const right = specs.length > 0 && first !== undefined && first.now < first.before / 2;
    return {
      right,
      values: {
        answer: first?.piece.label ?? '',
        before: percent(first?.before ?? 0),
        now: percent(first?.now ?? 0),
        n: String(specs.length),
      },
    };
  },
};

/** The head of the last block that matters most for the answer. */
const needed: Question = {
  id: 'needed',
  kind: 'choice',
  async options(book) {
    const { heads } = await subject(book);
    return Array.from({ length: heads }, (_, head) => String(head + 1));
  },
  async check(book, answer) {
    const given = await subject(book);
    const { ablation } = await need(book, given);
    const last = Array.from(ablation.changes.slice(-1).data);
    const [worst = 0] = largest(
      last.map((change) => -change),
      1,
    );
    return {
      right: Number(answer) === worst + 1,
      values: {
        head: answer,
        change: two(last[Number(answer) - 1] ?? 0),
        worst: String(worst + 1),
        worstChange: two(last[worst] ?? 0),
      },
    };
  },
};

/** The questions are about the reader's sentence. */
const subject = (book: Book): ReturnType<typeof subjectOf> => subjectOf(book, book.modelName, '');

/** A model of so many blocks, not trained yet. */
const training = (layers: string): Defaults => ({
  ...{ view: 'train', layers, lr: '0.004', seed: '1', n: '0', off: '' },
});

export const chapter: Chapter = {
  id: 'heads',
  layout: 'wide',
  tag: 'figure-heads',
  defaults: { view: 'read', l: '2', h: '4', kind: 'previous_token', letters: 'CBABBC', w: 'q', c: '0' },
  steps: [
    { id: 'several' },
    { id: 'split', defaults: { view: 'split', l: '2' }, predict: true },
    { id: 'join', defaults: { view: 'join', l: '2', c: '3' } },
    { id: 'mix', defaults: { view: 'join', l: '4', h: '2', c: '12' } },
    { id: 'silence', defaults: { view: 'read', l: '4', h: '2', edit: 'L4H2:0' }, predict: true },
    { id: 'find', defaults: { view: 'find' } },
    { id: 'train', defaults: training('2') },
    { id: 'alone', defaults: training('1'), predict: true },
    { id: 'need', defaults: { view: 'need' }, predict: true },
    { id: 'sorter', defaults: { view: 'read', who: 'gpt-nano-sort', l: '1', h: '0' } },
    { id: 'every', defaults: { view: 'all', l: '3', h: '6' } },
  ],
  questions: [needed, half, previous, weights],
};
