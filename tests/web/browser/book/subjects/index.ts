// The deep links of all chapters.

import { subjects as next } from './next.js';
import type { Subject } from './subject.js';

export const all: readonly Subject[] = [...next];
