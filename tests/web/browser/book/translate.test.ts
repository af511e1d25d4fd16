// Chapter 9: stepping, forcing, beams, long, empty and unknown texts, with all state in the address.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

/** The decoder's output, as the page shows it. */
const written = async (page: Page): Promise<string> =>
  (await page.locator('text-faces .writes button').allTextContents()).join(' ');

describe('chapter 9', () => {
  it('draws its lines when it is opened', async () => {
    const { page } = await site.open({}, 'translate');
    expect(await page.locator('text-faces path').count()).toBeGreaterThan(5);
    await page.context().close();
  });

  it('forces a token by a bar, goes on from it, and Back and a link keep it', async () => {
    const { page, complaints } = await site.visit('translate?step=2&s=0');
    const free = await written(page);
    await page.getByRole('option', { name: /^La\b/ }).click();
    await settled(page);
    const forced = await written(page);
    expect(forced).toContain('La chat te');
    expect(free).not.toBe(forced);
    const link = page.url().split('#/')[1] ?? '';
    const fresh = await site.open({}, link);
    expect(await written(fresh.page)).toBe(forced);
    await page.goBack();
    await settled(page);
    expect(await written(page)).toBe(free);
    expect([...complaints, ...fresh.complaints]).toEqual([]);
    await fresh.page.context().close();
  });

  it('tells what it cannot read: nothing, too much, unknown characters, tokens that are none', async () => {
    const { page } = await site.visit('translate?t=');
    expect(await shownText(page)).toContain('There is nothing to translate');
    await site.go(page, `translate?t=${encodeURIComponent('The cat is sleeping under the table. '.repeat(12))}`);
    expect(await shownText(page)).toMatch(/The first 64 of \d+ tokens are read/);
    expect(await shownText(page)).toMatch(/Drawn are|writes token/);
    await site.go(page, `translate?t=${encodeURIComponent('The 猫 is sleeping.')}`);
    expect(await shownText(page)).toContain('does not know all characters of: 猫');
    await site.go(page, 'translate?f=99999');
    expect(await shownText(page)).toContain('asks for f=99999');
    await page.getByRole('link', { name: 'As in the book' }).click();
    await settled(page);
    expect(await shownText(page)).not.toContain('f=99999');
    expect(new URL(page.url()).hash).not.toContain('f=');
  });

  it('compares greedy and beams, and checks its questions by computing', async () => {
    const { page } = await site.visit('translate?step=6');
    const text = await shownText(page);
    expect(text).toContain('un kiteur');
    expect(text).toContain('dans la cuisine');
    await site.go(page, 'translate?step=5');
    const verdict = async (id: string): Promise<string> => {
      const shown = page.locator(`[data-question=${id}] .verdict`);
      await shown.waitFor();
      await page.waitForTimeout(1500);
      return (await shown.getAttribute('class')) ?? '';
    };
    const once = page.locator('[data-question=once]');
    await once.scrollIntoViewIfNeeded();
    await once.getByRole('textbox').fill('9');
    await once.getByRole('button').click();
    expect(await verdict('once')).toContain('wrong');
    await once.getByRole('textbox').fill('1');
    await once.getByRole('button').click();
    expect(await verdict('once')).toContain('right');
  });
});
