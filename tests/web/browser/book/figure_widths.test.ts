// Figures at the widths of a window where their layout changes: their texts do not overlap, nothing is wider than them,
// also when the window was wider before, as a phone's that is turned.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { laidOut, Site } from '../site.js';
import { figureOverflow } from './reader.js';
import { overlapsOf, seenTexts } from './seen_texts.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

/** Of texts that are not the figure's, which may be scrolled to where the figure is. */
const around = /header|main|step|prose|nav|question|book-/;

it.each([
  [360, 'head?step=8&lang=de'],
  [1101, 'head?step=8&lang=en'],
  [901, 'set?lang=de'],
  [901, 'seeing?step=5&lang=de'],
  [1101, 'saying?step=2&lang=en'],
  [1024, 'saying?step=2&lang=de'],
  [1440, 'heads?step=3&t=%E5%85%AC%E5%9B%AD%E3%80%82'], // tokens with long names
  [1101, 'next?t=Once+upon+a+%F0%9F%99%82'],
  [1440, 'next?class=1&t=Once+upon+%E5%85%AC%E5%9B%AD'],
  [360, 'next?t=Once+upon+a+%F0%9F%99%82'],
  [901, 'head?step=8&class=1&q=8&edit=L4H6:0&t=%3Cs%3E+%D7%A9%D7%9C%D7%95%D7%9D'],
])('%i px: %s', async (width, address) => {
  const { page } = await site.visit(address);
  await page.setViewportSize({ width, height: 800 });
  await laidOut(page);
  expect(overlapsOf((await seenTexts(page)).filter(({ where }) => !around.test(where)))).toEqual([]);
  expect(await page.evaluate(figureOverflow)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1440, height: 900 });
});

it.each(['heads?lang=de', 'heads?step=9'])('a phone that is turned: %s', async (address) => {
  const { page } = await site.visit(address);
  for (const [width, height] of [
    [740, 360],
    [360, 740],
  ] as const) {
    await page.setViewportSize({ width, height });
    await laidOut(page);
    expect(await page.evaluate(figureOverflow), `${width}`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

it.each([
  [901, 'set'],
  [901, 'translate'],
  [1024, 'set'],
])('%i px: the bar has room for the whole sentence in chapter %s', async (width, chapter) => {
  const { page } = await site.visit(`${chapter}?lang=de&step=1`);
  await page.setViewportSize({ width, height: 800 });
  await laidOut(page);
  const cut = await page.evaluate(() => {
    const shown = document.querySelector('book-sentence :is(.tokens, .whole)');
    return shown && shown.scrollWidth - shown.clientWidth;
  });
  expect(cut).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });
});

it.each([901, 1101])('%i px: in class mode the title in the bar ends where the sentence begins', async (width) => {
  const { page } = await site.visit('head?class=1&q=8&t=%D7%A9%D7%9C%D7%95%D7%9D+%D7%A9%D7%9C%D7%95%D7%9D');
  await page.setViewportSize({ width, height: 900 });
  await laidOut(page);
  const [end = 0, begin = 0] = await page.evaluate(() => {
    const box = (name: string) => document.querySelector(name)?.getBoundingClientRect();
    return [box('.where .plain')?.right, box('book-sentence .tokens')?.left];
  });
  expect(begin).toBeGreaterThan(0);
  expect(end).toBeLessThanOrEqual(begin);
  await page.setViewportSize({ width: 1440, height: 900 });
});

it.each(['head?step=3', 'saying?step=4'])('beside its text in a low window: %s', async (address) => {
  const { page } = await site.visit(address);
  await page.setViewportSize({ width: 720, height: 450 });
  await laidOut(page);
  expect(await page.evaluate(figureOverflow)).toBeLessThanOrEqual(0);
  const cut = await page.evaluate(() => {
    const matrices = document.querySelector('main .figure > *')?.shadowRoot?.querySelectorAll('cf-matrix') ?? [];
    const frames = [...matrices].flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll('.frame') ?? [])]);
    return frames.map((frame) => frame.scrollWidth - frame.clientWidth).filter((beyond) => beyond > 1);
  });
  expect(cut).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
});

it('a phone has symbols of the formula that a finger hits', async () => {
  const { page } = await site.visit('head?step=1');
  await page.setViewportSize({ width: 360, height: 740 });
  await laidOut(page);
  const sizes = await page
    .locator('.formula button')
    .evaluateAll((symbols) =>
      symbols.map((one) => one.getBoundingClientRect()).map(({ width, height }) => Math.min(width, height)),
    );
  expect(sizes).toHaveLength(6);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(24);
  expect(await page.evaluate(figureOverflow)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1440, height: 900 });
});
