// Chapter 10: decoder-only, encoder-only, encoder-decoder.

import type { Book } from '../../book/book.js';
import type { Chapter, Question } from '../../book/chapter.js';
import { activation } from '../../book/shelf.js';
import './figure.js';
import { change, decoderName, encoderName, fill, guess, points, read } from './reading.js';

const sentence = 'She went to school.';
/** After the blank in "She … to school." */
const otherRight = 'going to school.';

const textOf = (book: Book): string => {
  const text = book.address.get('t') ?? sentence;
  return text.trim() === '' ? sentence : text;
};

/** How many cells of its map the decoder may fill: the unmasked ones. */
const cells: Question = {
  id: 'cells',
  kind: 'number',
  async check(book, answer) {
    const { pass, sentence: tokens } = await read(book, decoderName, textOf(book), 'blocks.0.attn.hook_attn_scores');
    const { data } = activation(pass, 'blocks.0.attn.hook_attn_scores').slice(0, 0);
    const open = data.filter((score) => score > -1e30).length;
    const n = tokens.ids.length;
    return { right: Number(answer) === open, values: { open: String(open), n: String(n), all: String(n * n) } };
  },
};

/** Whose probabilities for the blank depend on the right context, computed for both models. */
const right: Question = {
  id: 'right',
  kind: 'choice',
  options: async () => [decoderName, encoderName],
  async check(book, answer) {
    const ends = ['to school.', otherRight];
    const [one, other] = await Promise.all(ends.map((after) => fill(book, { left: 'She', end: '', after })));
    const changes: Record<string, number> = {
      [encoderName]: one && other ? change(one, other) : 0,
      [decoderName]: change(await guess(book, 'She', 'to school.'), await guess(book, 'She', otherRight)),
    };
    return {
      right: (changes[answer] ?? 0) > 0,
      values: { encoder: points(changes[encoderName] ?? 0), decoder: points(changes[decoderName] ?? 0) },
    };
  },
};

export const chapter: Chapter = {
  id: 'kinds',
  layout: 'wide',
  tag: 'figure-kinds',
  defaults: { v: 'masks', t: sentence, k: 'all', l: '0', h: '0', w: '1', alt: otherRight },
  steps: [
    { id: 'three', defaults: { v: 'masks', k: 'all' } },
    { id: 'decoder', defaults: { v: 'masks', k: 'decoder' } },
    { id: 'encoder', defaults: { v: 'masks', k: 'encoder' } },
    { id: 'both', defaults: { v: 'masks', k: 'both', l: '2', h: '3' } },
    { id: 'fill', defaults: { v: 'fill', w: '1' }, predict: true },
    { id: 'right', defaults: { v: 'fill', w: '1' } },
    { id: 'uses', defaults: { v: 'uses' } },
  ],
  questions: [cells, right],
  spine: 'figure',
};
