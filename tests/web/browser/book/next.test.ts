// Chapter 0 as a reader uses it: the model writes on, and stops where the reader turns to something else.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const written = (page: Page): string | null => new URLSearchParams(page.url().split('?')[1]).get('w');

/** Starts writing; resolves at the first token. */
async function write(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Write on' }).click();
  await page.waitForFunction(() => location.hash.includes('w='));
}

describe('chapter 0', () => {
  it.each(['saying', 'next?t=Lily', 'next?t=Once'])('stops writing when the reader opens %s', async (other) => {
    const { page, complaints } = await site.visit('next?t=Once');
    await write(page);
    await site.go(page, other);
    await page.waitForTimeout(400); // some tokens' time
    expect(written(page)).toBeNull();
    expect(complaints).toEqual([]);
  });

  it('stops at the second of two quick clicks', async () => {
    const { page } = await site.visit('next?t=Once');
    const button = page.getByRole('button', { name: 'Write on' });
    await button.evaluate((node: HTMLElement) => {
      node.click();
      node.click();
    });
    await page.waitForTimeout(400);
    expect(written(page)).toBeNull();
    expect(await button.count()).toBe(1);
  });

  it.each(['next', 'saying'])(
    'names what was written in its own language, and what a press does in the page’s: %s',
    async (id) => {
      const { page } = await site.visit(`${id}?lang=de&w=358.300`);
      const back = id === 'next' ? 'Ab hier zurücknehmen' : 'Zurücknehmen, was von hier an folgt';
      for (const button of await page.locator(`figure-${id} .new`).all()) {
        const token = await button.locator('[lang=en]').textContent();
        const parts = await button.evaluate((each) => [each.ariaLabel, each.closest('[lang]'), each.textContent]);
        expect(parts).toEqual([null, null, `${token}${back}`]);
      }
      expect(await page.locator(`figure-${id} .new`).count()).toBe(2);
    },
  );

  it('one step back takes all back that was written', async () => {
    const { page } = await site.visit('next?t=Once');
    await page.getByRole('option').first().click();
    await settled(page);
    const before = written(page);
    await write(page);
    await page.getByRole('button', { name: 'Write on' }).waitFor();
    expect(written(page)?.split('.').length).toBe(21);
    await page.goBack();
    await settled(page);
    expect(written(page)).toBe(before);
  });
});
