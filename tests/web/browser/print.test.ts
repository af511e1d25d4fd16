// A printed chapter: all of its steps, the figure in light colours and the paper's width, the address; no bars.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { laidOut, Site, settled } from './site.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

it('prints the choices of questions that were not seen', async () => {
  const { page, complaints } = await site.open({}, 'set');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  const choices = page.locator('[data-question="next"] button');
  await expect.poll(() => choices.count()).toBe(4);
  for (const choice of await choices.all()) expect(await choice.isVisible()).toBe(true);
  expect(await page.locator('[data-question="kinds"] form').isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

it.each(['cost?step=2', 'cost?step=2&class=1'])('prints a handout of %s from a dark screen', async (address) => {
  const { page, complaints } = await site.open({ colorScheme: 'dark' }, address);
  const steps = await page.locator('.step').count();
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const url = page.url();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 676, height: 1000 });
  expect(steps).toBeGreaterThan(3);
  for (let i = 0; i < steps; i++) {
    const step = page.locator('.step').nth(i);
    expect(await step.isVisible()).toBe(true);
    expect(await step.evaluate((each) => getComputedStyle(each).opacity)).toBe('1');
  }
  for (const gone of ['header.bar', 'book-spine', '.way', 'book-questions form', '.caption']) {
    expect(await page.locator(gone).filter({ visible: true }).count(), gone).toBe(0);
  }
  expect(await page.locator('.printed-address').textContent()).toBe(url);
  const figure = await page.locator('main .figure > *').boundingBox();
  expect(figure?.width).toBeGreaterThan(300);
  expect((figure?.x ?? 0) + (figure?.width ?? 0)).toBeLessThanOrEqual(677);
  const ink = (): Promise<string> => page.locator('h1').evaluate((title) => getComputedStyle(title).color);
  expect(await ink()).toBe('rgb(28, 34, 44)');

  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  expect(await ink()).toBe('rgb(233, 230, 223)');
  expect(await page.locator('.printed-address').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('prints figures with the layout of the screen, in light colours before anything pending runs', async () => {
  const { page, complaints } = await site.open({ colorScheme: 'dark' }, 'kinds?step=1');
  const drawn = (): Promise<string> =>
    page
      .locator('figure-kinds cf-matrix svg')
      .first()
      .evaluate((picture) => picture.innerHTML);
  const kinds = page.locator('figure-kinds .kind').filter({ visible: true });
  const dark = await drawn();
  const atOnce = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint')); // after which Firefox copies the document
    const figure = document.querySelector('figure-kinds')?.shadowRoot;
    return figure?.querySelector('cf-matrix')?.shadowRoot?.querySelector('svg')?.innerHTML;
  });
  expect(atOnce).not.toBe(dark);
  expect(await drawn()).toBe(atOnce);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 676, height: 1000 });
  expect(await kinds.count()).toBe(3);
  const tops = await kinds.evaluateAll((all) => all.map((kind) => kind.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);

  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  await expect.poll(() => kinds.count()).toBe(1); // as on any screen of that width
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect.poll(drawn).toBe(dark);

  await page.emulateMedia({ media: 'screen', colorScheme: 'dark', forcedColors: 'active' });
  await expect.poll(drawn).toBe(dark);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  expect(await drawn()).toBe(atOnce); // paper has no forced colours
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark', forcedColors: 'none' }); // as the browser may for paper
  await laidOut(page);
  expect(await drawn()).toBe(atOnce);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await expect.poll(drawn).toBe(dark);

  const pages = (): Promise<unknown> =>
    page.evaluate(() => {
      dispatchEvent(new Event('beforeprint'));
      const figure = document.querySelector('main .figure');
      const { page: lying } = getComputedStyle(document.body);
      const whole = figure && getComputedStyle(figure).breakInside;
      dispatchEvent(new Event('afterprint'));
      return [lying, whole];
    });
  await page.emulateMedia({ media: 'print', forcedColors: null });
  expect(await pages()).toEqual(['wide', 'avoid']);
  await page.setViewportSize({ width: 400, height: 800 });
  await site.go(page, 'kinds'); // whose column of models begins below the title
  await settled(page);
  await expect.poll(pages).toEqual(['auto', 'auto']);
  expect(complaints).toEqual([]);
});
