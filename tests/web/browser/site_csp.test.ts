// The page as hosted by others: under a subpath, under a strict content security policy, with and without the headers
// for cross-origin isolation. Every chapter computes, and nothing is blocked.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolation, strictPolicy } from './page_server.js';
import { Site } from './site.js';

/** The chapters listed in the contents, by their links. */
const chaptersOf = async (page: Page): Promise<string[]> => {
  await page.getByRole('navigation', { name: 'Chapters' }).getByRole('button').click();
  const links = page.locator('nav.where .pop a');
  await links.first().waitFor();
  const hrefs = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
  return hrefs.map((href) => (/^#\/(\w+)/.exec(href)?.[1] ?? '') as string);
};

describe.each([
  ['with isolation', isolation],
  ['without isolation', {}],
])('a strict policy, %s', (_, headers) => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.start({ ...headers, ...strictPolicy });
  });
  afterAll(() => site.stop());

  it('refuses nothing in any chapter, and every figure is drawn', async () => {
    const { page, complaints } = await site.open();
    await page.evaluate(() => {
      const refused: string[] = [];
      Object.assign(window, { refused });
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        refused.push(`${violatedDirective}: ${blockedURI}`),
      );
    });
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(headers === isolation);
    const chapters = await chaptersOf(page);
    expect(chapters[0]).toBe('next');
    for (const chapter of chapters) {
      await site.go(page, chapter);
      expect(await page.locator('main .failed').count(), chapter).toBe(0);
      const failed = await page.locator('main .figure > *').evaluate(({ shadowRoot }) => {
        return shadowRoot?.querySelector('.failed')?.textContent ?? '';
      });
      expect(failed, chapter).toBe('');
    }
    expect(await page.evaluate(() => (window as unknown as { refused: string[] }).refused)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('makes pictures of a figure, with its fonts', async () => {
    const { page, complaints } = await site.open({ acceptDownloads: true });
    await page.getByRole('button', { name: 'Figure', exact: true }).click();
    for (const kind of ['SVG', 'PNG']) {
      const waiting = page.waitForEvent('download');
      await page.locator('figure-menu').getByRole('button', { name: kind }).click();
      expect((await waiting).suggestedFilename()).toBe(`next.${kind.toLowerCase()}`);
    }
    expect(complaints).toEqual([]);
  });
});
