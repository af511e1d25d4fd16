// Chapter 0: a sentence, the probabilities of the next token, and the whole model between them.

import type { Chapter } from '../../book/chapter.js';
import './figure.js';

export const chapter: Chapter = {
  id: 'next',
  layout: 'home',
  tag: 'figure-next',
  defaults: {},
  steps: [],
  questions: [],
};
