// Five readers walk through the page: a student with the lecture notes, a teacher with a projector, a researcher, a phone
// user, and a keyboard user. The student and the teacher go through one chapter here, through all with PICTURES=1, when
// there are pictures of it in build/walks; every_chapter.test.ts and class_mode.test.ts go through all chapters in
// their ways.

import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { drawn, numbersOf } from '../book/reader.js';
import { Site, settled } from '../site.js';

const ids = chapters.map(({ id }) => id);
const pictures = process.env.PICTURES === '1';
const walked = pictures ? ids.slice(1) : ['vectors'];
const folder = fileURLToPath(new URL('../../../../build/walks/', import.meta.url));

let site: Site;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  site = await Site.start();
});
afterAll(() => site.stop());

/** For people: a screenshot takes more processor time than a step of a walk. */
const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures) await page.screenshot({ path: `${folder}${name}.png` });
};
const hash = (page: Page): string => new URL(page.url()).hash;

it('a student with the notes goes on by the arrow, step by step', async () => {
  const { page, complaints } = await site.open();
  await page.getByRole('link', { name: /^Why/ }).click();
  await settled(page);
  expect(hash(page)).toMatch(/^#\/vectors/);
  for (const chapter of walked) {
    await site.go(page, chapter);
    const steps = await page.locator('.step').count();
    for (let step = 0; step < steps; step++) {
      if (step > 0) await page.keyboard.press('ArrowRight');
      await settled(page);
      expect(await page.locator('.step.on').getAttribute('data-step')).toBe(
        await page.locator('.step').nth(step).getAttribute('data-step'),
      );
    }
    await picture(page, `student-${chapter}`);
  }
  expect(complaints).toEqual([]);
  await page.context().close();
}, 600_000);

it('a teacher reads from the last row and lets the class guess first', async () => {
  const { page } = await site.open({}, 'head?class=1');
  for (const chapter of walked) {
    await site.go(page, `${chapter}?class=1`);
    const size = await page
      .locator('.caption p')
      .evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize));
    expect(size).toBeGreaterThanOrEqual(24);
    await picture(page, `teacher-${chapter}`);
    const steps = Number((await page.locator('.caption .count').textContent())?.split('/')[1]);
    for (let press = 0; press < 2 * steps; press++) {
      const ask = page.getByRole('button', { name: 'Show', exact: true });
      if ((await ask.count()) > 0) {
        const question = await page.locator('.caption p').textContent();
        await picture(page, `teacher-${chapter}-guess`);
        await page.keyboard.press('ArrowRight');
        await settled(page);
        expect(await page.locator('.caption p').textContent()).not.toBe(question);
        break;
      }
      await page.keyboard.press('ArrowRight');
      await settled(page);
      if (!hash(page).startsWith(`#/${chapter}`)) break;
    }
  }
  await page.context().close();
}, 600_000);

it('a researcher edits, shares the link, and takes the numbers along', async () => {
  const { page } = await site.open({ acceptDownloads: true }, 'laboratory?edit=blocks.0.attn.hook_z:zero');
  const [matrix] = await drawn(page);
  const link = page.url();
  const other = await site.open({}, 'next');
  await other.page.goto(link);
  await settled(other.page);
  expect(await drawn(other.page)).toEqual(await drawn(page));
  await other.page.context().close();

  await page.getByRole('button', { name: 'Figure' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /\.npy/ }).first().click(),
  ]);
  const bytes = readFileSync(await download.path());
  const start = bytes.length - 4 * (matrix?.data.length ?? 0);
  const values = Array.from({ length: matrix?.data.length ?? 0 }, (_, i) => bytes.readFloatLE(start + 4 * i));
  expect(values).toEqual(matrix?.data);
  await picture(page, 'researcher-menu');
  await page.keyboard.press('Escape');

  for (const view of ['edit', 'lens', 'attribution', 'ablation', 'patching', 'detect', 'compare', 'export']) {
    await site.go(page, `laboratory?view=${view}&edit=blocks.0.attn.hook_z:zero`);
    await picture(page, `researcher-${view}`);
  }
  await page.context().close();
});

it('a phone shows every figure in its upper part, and swipes scroll', async () => {
  const phone = {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  } as const;
  const { page, complaints } = await site.open(phone);
  for (const chapter of ids) {
    await site.go(page, chapter);
    const { wide, height } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth > innerWidth + 1,
      height: document.querySelector('main .figure')?.getBoundingClientRect().height ?? 0,
    }));
    expect(wide, `${chapter} is wider than the phone`).toBe(false);
    if (chapter !== 'next') expect(height, chapter).toBeLessThanOrEqual(844 * 0.46);
    await picture(page, `phone-${chapter}`);
  }
  expect(complaints).toEqual([]);
  await page.context().close();
});

it('a keyboard alone reaches a cell, changes it, and takes it back', async () => {
  const { page } = await site.open({ reducedMotion: 'reduce' }, 'laboratory');
  const before = await numbersOf(page, 'blocks.2.attn.hook_pattern[0, 0, :, :]');
  for (let press = 0; press < 60; press++) {
    await page.keyboard.press('Tab');
    const role = await page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element?.closest('[role="grid"]')?.getAttribute('role') ?? element?.getAttribute('role');
    });
    if (role === 'grid' || role === 'gridcell') break;
  }
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.type('0.5');
  await page.keyboard.press('Enter');
  await settled(page);
  await page.waitForFunction(() => location.hash.includes('edit='));
  await settled(page);
  const after = await numbersOf(page, 'blocks.2.attn.hook_pattern[0, 0, :, :]');
  expect(after.data).not.toEqual(before.data);
  expect(after.data[2 * 10]).toBe(0.5);
  await picture(page, 'keyboard-edited');
  await page.keyboard.press('Control+z');
  await settled(page);
  expect((await numbersOf(page, 'blocks.2.attn.hook_pattern[0, 0, :, :]')).data).toEqual(before.data);
  await page.context().close();
});
