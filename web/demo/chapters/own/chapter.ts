// Chapter 14: the reader's own model, from this device or from the Hub.

import type { Chapter } from '../../book/chapter.js';
import './figure.js';

export const chapter: Chapter = {
  id: 'own',
  layout: 'beside',
  tag: 'figure-own',
  spine: 'figure',
  textless: true,
  defaults: {},
  steps: [{ id: 'choose' }, { id: 'look' }, { id: 'load' }, { id: 'read' }],
  questions: [],
};
