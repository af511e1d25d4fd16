// All items, by part.

import type { Item } from '../types.js';
import { loadingItems } from './loading.js';
import { modelItems, scalingItems } from './models.js';
import { operationItems } from './operations.js';
import { seeThroughItems } from './see_through.js';
import { startupItems } from './startup.js';

export const items: readonly Item[] = [
  ...operationItems,
  ...modelItems,
  ...scalingItems,
  ...seeThroughItems,
  ...startupItems,
  ...loadingItems,
];

/** Parts that select items; "native", "scaling" and "roofline" also select engines or threads (see plan.ts). */
export const itemParts = [...new Set(items.map(({ part }) => part))];
