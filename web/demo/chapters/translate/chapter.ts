// Chapter 9: encoder-decoder: an encoder reads the source, a decoder generates the target.

import type { Book } from '../../book/book.js';
import { type Chapter, type Question, valueAt } from '../../book/chapter.js';
import './figure.js';
import { type Chosen, modelName, type Told, tell, weightsOf } from './reading.js';

const sentence = 'The cat is sleeping under the table.';
/** A sentence where greedy search and beam search give different translations. */
const astray = 'My brother is reading a book in the kitchen.';
const strange = 'Lily went to the park.';
/** "La", where greedy search would begin with "Le". */
const feminine = '507';

async function told(book: Book, chosen: Partial<Chosen> = {}): Promise<Told> {
  const given = { text: book.address.get('t') ?? sentence, forced: 'none', beams: 1, step: 0, ...chosen };
  const found = await tell(book, given);
  if (found.kind === 'told') return found;
  return told(book, { ...chosen, text: sentence });
}

/** The head of the question's map, last block, last head, and the target's second token. */
const asked = { layer: 2, head: 3, step: 1 };

const source: Question = {
  id: 'source',
  kind: 'choice',
  options: async (book) => (await told(book)).source.map(({ label }, i) => `${i + 1} ${label}`),
  async check(book, answer) {
    const one = await told(book);
    const { data } = weightsOf(one.pass, `decoder.${asked.layer}.cross_attn.hook_pattern`, asked.head).slice(
      asked.step,
    );
    const best = data.indexOf(Math.max(...data));
    const given = Number.parseInt(answer, 10) - 1;
    const percent = (at: number): string => `${Math.round((data[at] ?? 0) * 100)} %`;
    return {
      right: given === best,
      values: {
        written: one.target[asked.step]?.label ?? '',
        best: one.source[best]?.label ?? '',
        bestShare: percent(best),
        given: one.source[given]?.label ?? '',
        givenShare: percent(given),
      },
    };
  },
};

/** How many times the encoder runs during a generation, counted by its hooks. */
const once: Question = {
  id: 'once',
  kind: 'number',
  async check(book, answer) {
    const { writer } = await book.shelf.model(modelName);
    if (!writer) throw new TypeError(`${modelName} writes`);
    const { inputs } = await told(book);
    const { cache } = await writer.generate(
      { input_ids: inputs.inputs.input_ids },
      { do_sample: false, num_beams: 1, return_dict_in_generate: true, names_filter: '*.0.hook_resid_pre' },
    );
    const steps = (cache ?? []).map((step) => Object.keys(step));
    const runs = (stack: string): number => steps.filter((names) => names.includes(`${stack}.0.hook_resid_pre`)).length;
    return {
      right: Number(answer) === runs('encoder'),
      values: { encoder: String(runs('encoder')), decoder: String(runs('decoder')) },
    };
  },
};

const forced: Question = {
  id: 'forced',
  kind: 'state',
  async check(book) {
    const [text, given] = [valueAt(chapter, book.address, 't'), valueAt(chapter, book.address, 'f')];
    const [free, now] = [await told(book, { text }), await told(book, { text, forced: given })];
    const after = (one: Told): string => one.ids.slice(2).join();
    return {
      right:
        now.forced.length > 0 &&
        now.forced.length < now.target.length - 1 &&
        after(free) !== after(now) &&
        free.sentence !== now.sentence,
      values: { free: free.sentence, now: now.sentence },
    };
  },
};

export const chapter: Chapter = {
  id: 'translate',
  layout: 'wide',
  tag: 'figure-translate',
  defaults: { v: 'faces', t: sentence, f: 'none', b: '1', s: '1', l: '2', h: '3' },
  steps: [
    { id: 'faces', defaults: { v: 'faces' } },
    { id: 'read', defaults: { v: 'read', l: '2', h: '0' } },
    { id: 'write', defaults: { v: 'write', s: '2', l: '2', h: '0' }, predict: true },
    { id: 'cross', defaults: { v: 'cross', s: '1', l: '2', h: '3' } },
    { id: 'map', defaults: { v: 'map', s: '6', l: '2', h: '3' } },
    { id: 'force', defaults: { v: 'write', f: feminine, s: '1', l: '2', h: '3' }, predict: true },
    { id: 'beams', defaults: { v: 'beams', t: astray, s: '7' } },
    { id: 'limits', defaults: { v: 'faces', t: strange, s: '0' } },
  ],
  questions: [source, once, forced],
  spine: 'figure',
};
