// Chapter 1: from text to tokens, from tokens to embeddings, and token plus position embedding.

import { two } from 'clearformer/elements';
import { type Book, firstModel } from '../../book/book.js';
import type { Chapter, Question, Verdict } from '../../book/chapter.js';
import './figure.js';
import { likeness } from './reading.js';

/** The number of tokens of a word that is not in the story model's vocabulary. */
const pieces: Question = {
  id: 'pieces',
  kind: 'number',
  async check({ shelf }: Book, answer: string): Promise<Verdict> {
    const { tokenizer } = await shelf.model(firstModel);
    const ids = Array.from(tokenizer?.('butterfly', { add_special_tokens: false }).input_ids.data ?? [], Number);
    const spelled = tokenizer?.convert_ids_to_tokens(ids).join(' · ').replaceAll('▁', '␣') ?? '';
    return { right: answer !== '' && Number(answer) === ids.length, values: { n: String(ids.length), spelled } };
  },
};

/** The number of parameters in the story model's embedding table. */
const size: Question = {
  id: 'size',
  kind: 'number',
  async check({ shelf }: Book, answer: string): Promise<Verdict> {
    const { cfg } = (await shelf.model(firstModel)).model;
    const right = Number(answer.replace(/[ .,](?=\d{3}$)/, '')) === cfg.d_vocab * cfg.d_model;
    const values = { rows: String(cfg.d_vocab), d: String(cfg.d_model), n: String(cfg.d_vocab * cfg.d_model) };
    return { right: answer !== '' && right, values };
  },
};

/** Which of these embeddings is most similar to that of “big”. */
const choices = [' little', ' park', ' said', ' Tim'];
const nearest: Question = {
  id: 'nearest',
  kind: 'choice',
  options: async () => choices.map((word) => word.trim()),
  async check({ shelf }: Book, answer: string): Promise<Verdict> {
    const { tokenizer } = await shelf.model(firstModel);
    const idOf = (word: string): number =>
      Number(tokenizer?.(word.trim(), { add_special_tokens: false }).input_ids.data[0] ?? 0);
    const { data } = await likeness(firstModel, idOf('big'));
    const found = choices.map((word) => ({ word: word.trim(), cosine: data[idOf(word)] ?? 0 }));
    found.sort((a, b) => b.cosine - a.cosine);
    const own = found.find(({ word }) => word === answer);
    const values = { answer, cosine: own ? two(own.cosine) : '', best: found[0] ? two(found[0].cosine) : '' };
    return { right: own !== undefined && own === found[0], values };
  },
};

export const chapter: Chapter = {
  id: 'vectors',
  layout: 'beside',
  tag: 'figure-vectors',
  defaults: { v: 'cut', of: firstModel, letters: 'CABBAC', all: '0' },
  steps: [
    { id: 'cut', defaults: { v: 'cut', of: firstModel, all: '0' } },
    { id: 'others', defaults: { v: 'cut', of: firstModel, all: '1' } },
    { id: 'bytes', defaults: { v: 'cut', of: firstModel, all: '0', try: 'Ähm, 🦓!' } },
    { id: 'table', defaults: { v: 'table', of: firstModel } },
    { id: 'near', defaults: { v: 'near', of: firstModel }, predict: true },
    { id: 'sum', defaults: { v: 'sum', of: 'gpt-nano-sort', q: '2' } },
    { id: 'scaled', defaults: { v: 'sum', of: 'marian-tiny-en-fr' } },
    { id: 'none', defaults: { v: 'sum', of: firstModel } },
  ],
  questions: [pieces, nearest, size],
};
