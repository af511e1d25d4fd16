// Every chapter, every step, at three widths, light or dark: nothing fails, nothing is clipped, every control has a
// name, axe finds nothing serious, the console is silent, and everything drawn states its source. With EVERY_CONTROL=1 also
// wide and dark, whose layout is that of light and whose colours are those of a phone.

import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { laidOut, type OpenPage, Site, settled } from '../site.js';
import { seriousFaults } from './accessibility.js';
import { brokenLooks, drawn } from './reader.js';

const ids = chapters.map(({ id }) => id);
const views = [
  { width: 390, height: 844, colorScheme: 'dark', steps: 'all' },
  { width: 768, height: 1024, colorScheme: 'light', steps: 'first' },
  ...(process.env.EVERY_CONTROL === '1'
    ? ([{ width: 1440, height: 900, colorScheme: 'dark', steps: 'first' }] as const)
    : []),
  { width: 1440, height: 900, colorScheme: 'light', steps: 'all' },
] as const;

let site: Site;
beforeAll(async () => {
  site = await Site.start();
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

/** Whether the prose of the step starts below the bar and the figure above it, and above the end of the window. */
function stepInSight(): boolean {
  const step = document.querySelector('.step.on')?.getBoundingClientRect();
  const above = innerWidth <= 900 || document.querySelector('main .wide');
  const ceiling = (
    above ? document.querySelector('main .figure') : document.querySelector('.bar')
  )?.getBoundingClientRect();
  return step !== undefined && step.top >= (ceiling?.bottom ?? 0) - 1 && step.top < innerHeight - 40;
}

describe.each(ids)('%s', (chapter) => {
  // One visit: the window is resized and the colour scheme changed, as by a reader.
  let open: OpenPage;
  let session: CDPSession;
  beforeAll(async () => {
    const { width, height, colorScheme } = views[0];
    open = await site.open({ viewport: { width, height }, colorScheme }, chapter);
    session = await open.page.context().newCDPSession(open.page);
  });
  afterAll(() => open.page.context().close());

  it.each(views)('$width px, $colorScheme', async ({ width, height, colorScheme, steps: which }) => {
    const { page, complaints } = open;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await site.go(page, chapter);
    await laidOut(page);
    const steps = which === 'all' ? Math.max(1, await page.locator('.step').count()) : 1;
    for (let step = 0; step < steps; step++) {
      if (step > 0) await site.go(page, `${chapter}?step=${step}`);
      expect(await brokenLooks(page), `step ${step}`).toEqual([]);
      if (step > 0)
        await expect.poll(() => page.evaluate(stepInSight), { message: `step ${step}`, timeout: 10_000 }).toBe(true);
      for (const { source } of await drawn(page)) expect(source.trim(), `step ${step}`).not.toBe('');
    }
    if (which === 'all') expect(await seriousFaults(page)).toEqual([]); // the same elements, in either scheme's colours
    expect(await unnamedControls(session)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
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
