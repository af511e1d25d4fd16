// The model shown at a chapter's edge is the one the figure uses: no other is downloaded first.

import { afterEach, expect, it } from 'vitest';
import { Site } from '../site.js';

let site: Site | undefined;
afterEach(() => site?.stop());

it.each([
  ['translate', 'marian-tiny-en-fr'],
  ['seeing', 'vit-mnist'],
  ['own', undefined],
])('%s', async (chapter, model) => {
  site = await Site.start();
  const { page, complaints } = await site.open({}, chapter);
  if (model) await page.locator('book-spine canvas').first().waitFor();
  const fetched = site.requests.flatMap((path) => /^models\/([^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(fetched)]).toEqual(model ? [model] : []);
  expect(complaints).toEqual([]);
});
