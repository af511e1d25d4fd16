// Chapter 0: a sentence, the odds of what follows, and the whole model between them.

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
