// Class mode can be read from the last row: in every step no text is smaller than 24 CSS px on the screen, no texts
// overlap, and the figure fits its screen, in both languages and at the resolutions of two projectors: by turns, so
// that every step is seen in each language and at each resolution; with EVERY_CONTROL=1 in each language at the smaller
// one. The answer to a question is shown by the button and, as by a teacher, by the arrow.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { laidOut, type OpenPage, Site, settled } from '../site.js';
import { figureOverflow } from './reader.js';
import { overlapsOf, type SeenText, seenTexts } from './seen_texts.js';

const ids = chapters.map(({ id }) => id);
const least = 24;
/** The exception: subscripts and superscripts, of a line of at least 24 px. */
const leastRaised = 16;
/** A new language shows the question of a step again, so neighbours differ in it. German texts are longer. */
const screens = [
  ...(process.env.EVERY_CONTROL === '1' ? ([{ width: 1440, height: 900, lang: 'en' }] as const) : []),
  { width: 1440, height: 900, lang: 'de' },
  { width: 1920, height: 1080, lang: 'en' },
] as const;

let site: Site;
/** One visit of all chapters. */
let open: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  const { width, height } = screens[0];
  open = await site.open({ viewport: { width, height } }, 'set?class=1');
});
afterAll(() => site.stop());

/** The bottom of the figure, the top of the caption, and whether anything is wider than the window. */
const placesOf = (page: Page): Promise<{ figure: number; caption: number; wide: boolean }> =>
  page.evaluate(() => ({
    figure: document.querySelector('main .figure > *')?.getBoundingClientRect().bottom ?? 0,
    caption: document.querySelector('footer.caption')?.getBoundingClientRect().top ?? innerHeight,
    wide: document.documentElement.scrollWidth > innerWidth,
  }));

/** The figure's buttons that are narrower than their text. Serialised for the browser. */
function cutButtons(): string[] {
  const all = document.querySelector('main .figure > *')?.shadowRoot?.querySelectorAll('button') ?? [];
  return [...all].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.innerText);
}

const smallOf = (texts: readonly SeenText[]): string[] =>
  texts
    .filter(({ size, raised }) => size < (raised ? leastRaised : least) - 0.01)
    .map(({ text, size, where }) => `${size.toFixed(1)} px: “${text}” (${where})`);

/** Violations on one screen. */
async function faultsOf(page: Page, width: number): Promise<string[]> {
  await laidOut(page);
  const texts = await seenTexts(page);
  expect(texts.length).toBeGreaterThan(5);
  const outside = texts
    .filter(
      ({ where, lines }) =>
        !where.includes('a.skip') && lines.some(({ left, right }) => left < -1 || right > width + 1),
    )
    .map(({ text, where }) => `outside: “${text}” (${where})`);
  const { figure, caption, wide } = await placesOf(page);
  return [
    ...smallOf(texts),
    ...overlapsOf(texts),
    ...outside,
    ...(figure > caption + 1 ? [`the figure ends at ${figure}, the caption begins at ${caption}`] : []),
    ...(wide ? ['wider than the window'] : []),
  ];
}

it.each(ids)('%s', async (chapter) => {
  const address = `${chapter}?class=1`;
  const { page, complaints } = open;
  complaints.length = 0;
  await site.go(page, `${address}&lang=en`);
  const count = await page
    .locator('footer.caption .count')
    .textContent({ timeout: chapter === 'next' ? 1 : 30_000 })
    .catch(() => '');
  const steps = Number(count?.split('/')[1] ?? 1);
  expect(steps).toBeGreaterThanOrEqual(chapter === 'next' ? 1 : 3);
  let asked = 0;
  for (let step = 0; step < steps; step++) {
    // In turn from the first and from the last, so that steps are drawn first at either size.
    for (const { lang, ...viewport } of step % 2 === 0 ? screens : screens.toReversed()) {
      const where = `step ${step}, ${viewport.width} × ${viewport.height}, ${lang}`;
      await page.setViewportSize(viewport);
      await site.go(page, `${address}&lang=${lang}&step=${step}`);
      expect(await faultsOf(page, viewport.width), where).toEqual([]);
      const show = page.locator('footer.caption .primary');
      if ((await show.count()) === 0) continue;
      const asks = await page.locator('footer.caption p').textContent();
      if (asked++ % 2 === 0) await show.click();
      else await page.keyboard.press('ArrowRight');
      await settled(page);
      expect(await page.locator('footer.caption p').textContent(), `${where}, the answer`).not.toBe(asks);
      expect(await faultsOf(page, viewport.width), `${where}, the answer`).toEqual([]);
    }
  }
  const asking = await page.evaluate(() => {
    const app = document.querySelector('book-app') as HTMLElement & {
      open: { chapter: { steps: { predict?: true }[] } };
    };
    return app.open.chapter.steps.filter(({ predict }) => predict).length;
  });
  expect(asked, 'questions that were shown').toBe(asking * screens.length);
  expect(complaints).toEqual([]);
});

it('detects small text: scaled HTML and SVG, digits on a canvas, a page without the minimum', async () => {
  const { page } = await site.open({}, 'head?class=1');
  const before = smallOf(await seenTexts(page));
  expect(before).toEqual([]);
  await page.evaluate(() => {
    const figure = document.querySelector('main .figure > *') as HTMLElement;
    figure.style.transform = 'scale(0.9)';
  });
  const scaled = smallOf(await seenTexts(page));
  expect(scaled.some((line) => line.startsWith('21.6 px'))).toBe(true);
  expect(scaled.some((line) => line.includes('text.digits'))).toBe(true);
  const painted = await page.evaluate(async () => {
    const matrix = Object.assign(document.createElement('cf-matrix'), {
      numbers: { dims: [50, 50], data: Array.from({ length: 2500 }, (_, i) => i % 7) },
      source: 'a test',
      cellWidth: 60,
      cellHeight: 30,
    }) as HTMLElement & { updateComplete: Promise<unknown>; digitSize: number };
    document.body.append(matrix);
    await matrix.updateComplete;
    return [matrix.shadowRoot?.querySelector('canvas')?.hidden, matrix.digitSize];
  });
  expect(painted).toEqual([false, 24]);
  expect((await seenTexts(page)).some(({ where, size }) => where.includes('canvas') && size === 24)).toBe(true);
  await page.evaluate(() => document.documentElement.style.setProperty('--cf-min-font-size', '0px'));
  await laidOut(page);
  const usual = smallOf(await seenTexts(page));
  expect(usual.some((line) => line.includes('tspan.about'))).toBe(true);
  await page.context().close();
});

it.each<[address: string, height: number, width?: number]>([
  ['heads?step=2&lang=en', 800],
  ['kinds?lang=en', 800],
  ['seeing?step=1&lang=en', 800],
  ['saying?step=3&lang=de', 900],
  ['saying?step=4&lang=de', 900],
  ['head?step=1&lang=de', 720],
  ['head?step=7&lang=de&at=Q6&q=5&edit=blocks.2.attn.hook_rot_q@h4@p5@i6:set=-9.5', 720],
  ['heads?step=6&lang=en', 720],
  ['block?step=6&lang=de', 720],
  ['set?step=6&lang=en', 720],
  ['where?step=1&lang=en', 720],
  ['heads?step=5&lang=de', 720],
  ['block?step=1&lang=en', 720],
  ['head?step=3&lang=en', 768, 1024],
  ['heads?step=9&lang=de', 768, 1024],
  ['saying?step=1&lang=en', 768, 1024],
  ['next?lang=de', 720],
  ['where?step=8&lang=de', 720],
  ['heads?step=1&lang=en', 720],
  ['heads?step=4&lang=de', 720],
  ['block?step=4&lang=de', 720],
  ['saying?step=2&lang=de', 720],
  ['translate?step=5&lang=en', 720],
  ['seeing?step=3&lang=en', 720],
  ['cost?step=5&lang=de', 720],
  ['laboratory?step=6&lang=de', 720],
  ['next?lang=en', 768, 1024],
  ['head?step=9&lang=de', 768, 1024],
  ['heads?step=5&lang=en', 768, 1024],
  ['heads?step=5&lang=de', 768, 1024],
  ['heads?step=6&lang=de', 768, 1366],
  ['block?step=1&lang=de', 768, 1024],
  ['translate?step=1&lang=de', 768, 1024],
  ['seeing?step=1&lang=en', 768, 1024],
  ['laboratory?step=6&lang=en', 768, 1366],
])('%s fits a small projector, %i high', async (address, height, width = 1280) => {
  const { page } = open;
  await page.setViewportSize({ width, height });
  await site.go(page, `${address}&class=1`);
  const show = page.locator('footer.caption .primary');
  if ((await show.count()) > 0) await show.click();
  await settled(page);
  await laidOut(page);
  expect(await page.evaluate(figureOverflow)).toBeLessThanOrEqual(0);
  expect(overlapsOf(await seenTexts(page))).toEqual([]);
  expect(await page.evaluate(cutButtons)).toEqual([]);
  const { figure, caption } = await placesOf(page);
  expect(figure).toBeLessThanOrEqual(caption + 1);
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 'scrolls').toBe(0);
});

it('has no effect outside class mode', async () => {
  const { page } = await site.open({}, 'head?class=1');
  await page.keyboard.press('c');
  await settled(page);
  await laidOut(page);
  const sizes = (await seenTexts(page)).map(({ size }) => size);
  expect(Math.min(...sizes)).toBeLessThan(14);
  expect(await page.evaluate(() => document.documentElement.getAttribute('style') ?? '')).not.toContain('least');
  await page.context().close();
});
