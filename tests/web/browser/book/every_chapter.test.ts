// Every chapter, every step, at three widths, light or dark: nothing fails, nothing is clipped, every control has a
// name, axe finds nothing serious, the console is silent, everything drawn states its source, and no value is computed for
// the prose that it does not have. A student with the lecture notes goes on by the arrow in the wide window, in the others
// each step is a link, and the controls that only they have are used there. With EVERY_CONTROL=1 also wide and dark, whose
// layout is that of light and whose colours are those of a phone.

import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { laidOut, type OpenPage, Site, settled } from '../site.js';
import { seriousFaults } from './accessibility.js';
import { brokenLooks, drawn, figureOverflow } from './reader.js';
import { handScript, inStep, isExpected } from './use_controls.js';

const views = [
  { width: 1440, height: 900, colorScheme: 'light', by: 'arrow' },
  ...(process.env.EVERY_CONTROL === '1'
    ? ([{ width: 1440, height: 900, colorScheme: 'dark', by: 'arrow' }] as const)
    : []),
  { width: 768, height: 1024, colorScheme: 'light', by: 'link' },
  { width: 390, height: 844, colorScheme: 'dark', by: 'link' },
] as const;

/** Turned on its side, where prose and figure are side by side and each is narrowest. */
const tablet = { width: 1024, height: 768 };

let site: Site;
/** One visit: the window is resized and the colour scheme changed, as by a reader. */
let open: OpenPage;
let session: CDPSession;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open();
  session = await open.page.context().newCDPSession(open.page);
});
afterAll(() => site.stop());

const controls = new Set([
  'button',
  'link',
  'textbox',
  'slider',
  'checkbox',
  'combobox',
  'listbox',
  'option',
  'grid',
  'gridcell',
  'switch',
  'spinbutton',
  'tab',
]);

/** Controls without accessible name, from the browser's own accessibility tree. */
async function unnamedControls(session: CDPSession): Promise<string[]> {
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes
    .filter(
      ({ ignored, role, name }) =>
        !ignored && controls.has(String(role?.value)) && String(name?.value ?? '').trim() === '',
    )
    .map(({ role, properties }) => `${role?.value} ${JSON.stringify(properties?.slice(0, 2))}`);
}

/** Whether figure and step start below the bar, the step also below a figure above it and above the end of the window. */
function stepInSight(): boolean {
  const step = document.querySelector('.step.on')?.getBoundingClientRect();
  const figure = document.querySelector('main .figure')?.getBoundingClientRect();
  const bar = document.querySelector('.bar')?.getBoundingClientRect();
  const ceiling = innerWidth <= 900 || document.querySelector('main .wide') ? figure : bar;
  if (!step || !figure || !bar || !ceiling || figure.top < bar.bottom - 1) return false;
  return step.top >= ceiling.bottom - 1 && step.top < innerHeight - 40;
}

/** What is seen of the open step, in one message to the browser, each of which takes processor time. */
const seenNow = (page: Page) =>
  page.evaluate(
    ({ listing }) => {
      const figure = document.querySelector('main .figure > *') as Element & {
        values: Readonly<Record<string, string>>;
        drawn(): { source: string }[];
      };
      return {
        on: [...document.querySelectorAll('.step')].findIndex((step) => step.matches('.on')),
        faults: window.hand.brokenLooks(),
        sources: figure.drawn().map(({ source }) => source.trim()),
        /** The names of the values that the figure computes for the prose. */
        valueNames: Object.keys(figure.values),
        controls: window.hand.controlsNow(listing).map(({ key }) => key),
      };
    },
    { listing: inStep },
  );

/** Uses the controls of a step that are not among the `known`. */
async function useOthers(
  { page, complaints }: OpenPage,
  address: string,
  controls: readonly string[],
  known: Set<string>,
): Promise<void> {
  const others = controls.filter((key) => !known.has(key));
  if (others.length === 0) return;

  expect(complaints.splice(0)).toEqual([]);
  const use = { address, known: [...known], listing: inStep };
  const { used, faults } = await page.evaluate((use) => window.hand.useAll([use.address], use.known, use.listing), use);
  expect(faults).toEqual([]);
  expect(complaints.splice(0).filter((one) => !isExpected(one))).toEqual([]);
  for (const key of [...others, ...used]) known.add(key);
  await site.go(page, address);
}

describe.each(chapters)('$id', ({ id: chapter, words }) => {
  /** The controls of the wide window, which controls.test.ts uses, and those used in the others. */
  const known = new Set<string>();

  it.each(views)('$width px, $colorScheme', async ({ width, height, colorScheme, by }) => {
    const { page, complaints } = open;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await site.go(page, chapter);
    await page.evaluate(handScript);
    await laidOut(page);
    const said = JSON.stringify((await words.en()).words);
    const steps = Math.max(1, await page.locator('.step').count());
    for (let step = 0; step < steps; step++) {
      const address = `${chapter}?step=${step}`;
      if (by === 'link') await site.go(page, address);
      else if (step > 0) {
        await page.keyboard.press('ArrowRight');
        await settled(page);
      }
      const { on, faults, sources, valueNames, controls } = await seenNow(page);
      if (chapter !== 'next') expect(on).toBe(step);
      expect(faults, `step ${step}`).toEqual([]);
      if (step > 0)
        await expect.poll(() => page.evaluate(stepInSight), { message: `step ${step}`, timeout: 10_000 }).toBe(true);
      expect(sources, `step ${step}`).not.toContain('');
      const unsaid = valueNames.filter((name) => !said.includes(`{${name}}`));
      expect(unsaid, `step ${step}: values that no sentence has`).toEqual([]);
      if (width === 1440) for (const key of controls) known.add(key);
      else await useOthers(open, address, controls, known);
      if (width === 768) {
        await page.setViewportSize(tablet);
        await laidOut(page);
        expect(await page.evaluate(figureOverflow), `step ${step} on a tablet's side`).toBeLessThanOrEqual(0);
        await page.setViewportSize({ width, height });
      }
    }
    if (width !== 768) expect(await seriousFaults(page)).toEqual([]); // the same elements, in either scheme's colours
    expect(await unnamedControls(session)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('scrolls nowhere sideways on the smallest phone', async () => {
    const { page } = open;
    await page.setViewportSize({ width: 360, height: 740 });
    await site.go(page, chapter);
    const steps = Math.max(1, await page.locator('.step').count());
    for (let step = 0; step < steps; step++) {
      await site.go(page, `${chapter}?step=${step}`);
      await laidOut(page);
      expect(await page.evaluate(figureOverflow), `step ${step}`).toBeLessThanOrEqual(0);
    }
  });

  it('is the same after a reload, and Back leads back', async () => {
    const { page, complaints } = open;
    await site.go(page, `${chapter}?step=1`);
    const before = chapter === 'cost' ? [] : await drawn(page);
    await page.reload();
    await settled(page);
    if (chapter !== 'cost') expect(await drawn(page)).toEqual(before);
    expect(await brokenLooks(page)).toEqual([]);
    await site.go(page, 'next');
    await page.goBack();
    await settled(page);
    expect(new URL(page.url()).hash).toBe(`#/${chapter}?step=1`);
    expect(complaints.splice(0)).toEqual([]);
  });
});

it('what has the focus is never under the bar', async () => {
  const { page } = open;
  await page.setViewportSize({ width: 1280, height: 800 });
  await site.go(page, 'masks');
  await page.locator('.way a').last().focus();
  let inFigure = 0;
  while (inFigure < 3) {
    await page.keyboard.press('Shift+Tab');
    const { top, host } = await page.evaluate(() => {
      let focused = document.activeElement;
      while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
      return { top: focused?.getBoundingClientRect().top, host: document.activeElement?.localName };
    });
    expect(top).toBeGreaterThan(50);
    if (host === 'figure-masks') inFigure++;
  }
});

it.each([2560, 3840])('the first screen is as wide in a window of %i px as in one of 1464', async (width) => {
  const { page } = open;
  await page.setViewportSize({ width, height: (width * 9) / 16 });
  await site.go(page, 'next');
  await laidOut(page);
  expect((await page.locator('main .figure').boundingBox())?.width).toBe(1400);
});

it.each([
  ['a page at 400 %', 320, 256],
  ["a phone's side", 740, 360],
  ['a small laptop at 125 %', 1093, 614],
])('the text of a step can be read on %s', async (_, width, height) => {
  const { page } = open;
  await page.setViewportSize({ width, height });
  for (const chapter of ['where', 'head', 'heads', 'masks', 'block']) {
    await site.go(page, `${chapter}?step=2`);
    await laidOut(page);
    const seen = await page.evaluate(() => {
      const text = document.querySelector('.step.on p');
      const { left = 0, top = 0 } = text?.getBoundingClientRect() ?? {};
      return [1, 2].every((line) => text?.contains(document.elementFromPoint(left + 20, top + 28 * line - 14)));
    });
    expect(seen, chapter).toBe(true);
  }
});

it.each([
  [740, 360, ['vectors', 'kinds']],
  [932, 430, ['head']],
] as const)('the figure stays beside the last step on the side of a phone, %i × %i', async (width, height, ids) => {
  const { page } = open;
  await page.setViewportSize({ width, height });
  for (const chapter of ids) {
    await site.go(page, `${chapter}?step=99`);
    await laidOut(page);
    const top = async (part: string): Promise<number> => (await page.locator(part).boundingBox())?.y ?? Number.NaN;
    expect(await top('.step.on'), chapter).toBeLessThan(height / 2);
    expect(await top('main .figure'), chapter).toBeGreaterThanOrEqual(0);
    expect(await top('main .figure'), chapter).toBeLessThan(height / 2);
  }
});
