// All that is measured, by part.
import { modelItems, scalingItems } from './models.mjs';
import { operationItems } from './operations.mjs';
import { seeThroughItems } from './see_through.mjs';
import { startupItems } from './startup.mjs';

export const items = [...operationItems, ...modelItems, ...scalingItems, ...seeThroughItems, ...startupItems];

/** Parts that select items; "native", "scaling" and "roofline" choose engines or threads, too (see plan.mjs). */
export const itemParts = [...new Set(items.map(({ part }) => part))];
