// The chapters of the page, in order.

import type { Chapter } from './chapter.js';
import { digit } from './digit.js';
import { own } from './own.js';
import { sort } from './sort.js';
import { story } from './story.js';
import { translate } from './translate.js';

export const chapters: readonly [Chapter, ...Chapter[]] = [story, sort, translate, digit, own];
