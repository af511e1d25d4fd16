// The page for everyone: narrow screens, dark and light, no serious fault that axe-core finds.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesOf, pipelineCase } from '../support/pipeline_cases.js';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
interface Violation {
  id: string;
  impact: string | null;
  nodes: { target: string[]; failureSummary: string }[];
}

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

async function faults({ page }: OpenPage): Promise<string[]> {
  await page.addScriptTag({ content: axe });
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] };
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === 'serious' || impact === 'critical'
      ? nodes.map(({ target, failureSummary }) => `${id}: ${target.flat().join(' ')}: ${failureSummary}`)
      : [],
  );
}

const overflow = ({ page }: OpenPage): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Chapters, and what is there once they have done their thing. */
const settledMarks: readonly [string, string][] = [
  ['sort', 'sort-chapter .result'],
  ['translate', 'attention-reader attention-map canvas'],
  ['digit', 'image-reading patch-view canvas'],
];

async function wellLooking(open: OpenPage): Promise<void> {
  expect(await overflow(open)).toBe(0);
  expect(await faults(open)).toEqual([]);
  expect(open.complaints).toEqual([]);
}

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  it.each([1280, 390])(
    'at %i pixels: nothing sticks out, axe-core finds nothing serious, no complaint',
    async (width) => {
      const open = await site.open({
        reducedMotion: 'reduce', // colours on their way to others are nobody's choice
        viewport: { width, height: 844 },
        colorScheme,
        deviceScaleFactor: 2,
      });
      const story = new StoryPage(open.page);
      await story.write('Once upon a time', 40, 'by chance');
      await story.tokens.nth(30).click();
      await wellLooking(open);
      for (const [chapter, settled] of settledMarks) {
        await open.page.locator(`nav a[href="#${chapter}"]`).click();
        await open.page.locator(settled).first().waitFor();
        await wellLooking(open);
      }
      await open.page.locator('nav a[href="#own"]').click();
      const files = Object.entries(filesOf(pipelineCase('masks')));
      await open.page.setInputFiles(
        '#files',
        files.map(([name, bytes]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(bytes) })),
      );
      await open.page.locator('#run').click();
      await open.page.locator('attention-reader').waitFor();
      await wellLooking(open);
      await open.page.setInputFiles('#files', [
        { name: 'config.json', mimeType: 'application/json', buffer: Buffer.from('{') },
      ]);
      await open.page.locator('model-bar error-note [role=alert]').waitFor();
      await wellLooking(open);
      await open.page.context().close();
    },
  );

  it('follows the system, and the button turns it over', async () => {
    const open = await site.open({ colorScheme });
    const ground = (): Promise<string> =>
      open.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const first = await ground();
    await open.page.getByRole('button', { name: /Switch to the/ }).click();
    const other = await ground();
    expect(other).not.toBe(first);
    await open.page.reload();
    expect(await ground()).toBe(other);
    await open.page.context().close();
  });
});

it('is used with the keyboard alone', async () => {
  const { page } = await site.open();
  const story = new StoryPage(page);
  await story.fullSpeed();
  await story.ended();
  await story.tokens.first().focus();
  for (let i = 0; i < 15; i++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  expect(await story.tokens.nth(15).getAttribute('aria-selected')).toBe('true');
  expect((await story.reading()).query).toBe(15);
  await page.getByRole('radio', { checked: true }).focus();
  await page.keyboard.press('ArrowDown');
  expect(await page.getByRole('radio', { checked: true }).getAttribute('aria-label')).toBe('Layer 4, head 5');
  await page.context().close();
});

it('draws its maps as finely as the screen is', async () => {
  const { page } = await site.open({ deviceScaleFactor: 2 });
  const canvas = page.locator('attention-map canvas');
  const [pixels, width] = await canvas.evaluate(
    (one) => [(one as HTMLCanvasElement).width, one.getBoundingClientRect().width] as const,
  );
  expect(Math.abs(pixels - 2 * width)).toBeLessThanOrEqual(2);
  await page.context().close();
});
