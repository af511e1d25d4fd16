// The deep links of all chapters.

import { subjects as block } from './block.js';
import { subjects as cost } from './cost.js';
import { subjects as head } from './head.js';
import { subjects as heads } from './heads.js';
import { subjects as kinds } from './kinds.js';
import { subjects as laboratory } from './laboratory.js';
import { subjects as masks } from './masks.js';
import { subjects as next } from './next.js';
import { subjects as saying } from './saying.js';
import { subjects as seeing } from './seeing.js';
import { subjects as set } from './set.js';
import type { Subject } from './subject.js';
import { subjects as trained } from './trained.js';
import { subjects as translate } from './translate.js';
import { subjects as vectors } from './vectors.js';
import { subjects as where } from './where.js';

export const all: readonly Subject[] = [
  ...next,
  ...vectors,
  ...set,
  ...where,
  ...head,
  ...masks,
  ...heads,
  ...block,
  ...saying,
  ...translate,
  ...kinds,
  ...seeing,
  ...cost,
  ...laboratory,
  ...trained,
];
