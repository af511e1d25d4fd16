// What a step is about is in sight without scrolling its figure, on a phone and on a tablet held upright, and only the
// figure is: nothing of the text that scrolls under it.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { laidOut, Site } from '../site.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const phone = { width: 390, height: 844 };
const tablet = { width: 820, height: 1180 };

it.each([
  [tablet, 'saying?step=2&lang=de', '.chart'],
  [tablet, 'heads?step=4&lang=de', '.odds cf-bars'],
  [tablet, 'block?step=5&lang=en', '.plot'],
  [phone, 'block?step=5&lang=de', '.plot'],
  [tablet, 'translate?step=3&lang=de', 'cf-matrix[label="V"]'],
  [phone, 'masks?step=1&lang=de', '.presets [aria-pressed="true"]'],
  [phone, 'masks?step=5&lang=de', '.presets [aria-pressed="true"]'],
  [phone, 'heads?step=2&lang=de', 'select'],
])('%o %s: %s', async (window, address, selector) => {
  const { page } = await site.open({ viewport: window }, address);
  await laidOut(page);
  const hidden = await page.evaluate((wanted) => {
    const place = document.querySelector('main .figure');
    const part = place?.firstElementChild?.shadowRoot?.querySelector(wanted);
    const [around, within] = [place?.getBoundingClientRect(), part?.getBoundingClientRect()];
    const row = part?.parentElement?.getBoundingClientRect();
    if (!around || !within || !row || within.width === 0) return 'is not there';
    const right = Math.min(around.right, row.right);
    const outside = within.bottom > around.bottom || within.left < around.left - 1 || within.right > right + 1;
    if (part instanceof HTMLElement) part.style.maxWidth = 'none'; // a choice that is cut gets wider
    return outside || (part instanceof HTMLSelectElement && part.offsetWidth > within.width + 1);
  }, selector);
  expect(hidden).toBe(false);
  await page.context().close();
});

it.each([
  ['a phone on its side', 844, 390],
  ['a window at 200 %', 720, 450],
])('on %s the figure is beside the text of its step', async (_, width, height) => {
  const { page } = await site.open({ viewport: { width, height } }, 'heads?step=4');
  for (const chapter of ['heads', 'where', 'masks', 'saying']) {
    await site.go(page, `${chapter}?step=4`);
    await laidOut(page);
    const seen = await page.evaluate(() => {
      const [figure, text] = ['main .figure > *', '.step.on p'].map((name) => {
        const { left = 0, top = 0, right = 0 } = document.querySelector(name)?.getBoundingClientRect() ?? {};
        return { left, top, right };
      });
      return figure && text && { apart: figure.left >= text.right, figure: figure.top, text: text.top };
    });
    expect(seen?.apart, chapter).toBe(true);
    expect(seen?.figure, chapter).toBeLessThan(20);
    expect(seen?.text, chapter).toBeGreaterThanOrEqual(0);
    expect(seen?.text, chapter).toBeLessThan(height / 2);
  }
  await page.context().close();
});

it('what goes on beyond the right edge of a phone fades there until its end is in sight', async () => {
  const { page } = await site.visit('next');
  await page.setViewportSize(phone);
  for (const [address, row] of [
    ['masks', '.presets'],
    ['saying?step=5', '.tree-scroll'],
    ['saying?step=6', 'cf-lens .sideways'],
    ['translate?step=3', '.cross'],
  ] as const) {
    await site.go(page, address);
    await laidOut(page);
    const mask = (): Promise<string> =>
      page.locator(`main .figure ${row}`).evaluate((node) => getComputedStyle(node).maskImage);
    expect(await mask(), address).toContain('linear-gradient');
    await page.locator(`main .figure ${row}`).evaluate((node) => node.scrollTo(node.scrollWidth, 0));
    await laidOut(page);
    expect(await mask(), address).toBe('none');
  }
  await site.go(page, 'heads?step=4'); // downwards
  await laidOut(page);
  const below = (): Promise<string> =>
    page.locator('main .figure').evaluate((node) => getComputedStyle(node, '::after').opacity);
  expect(await below()).toBe('1');
  await page.locator('main .figure').evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await laidOut(page);
  expect(await below()).toBe('0');
  await site.go(page, 'translate?step=4'); // which fits
  await laidOut(page);
  const fits = page.locator('figure-translate cf-matrix .frame');
  expect(await fits.evaluate((node) => getComputedStyle(node).maskImage)).toBe('none');
});

it('the last words of a long text stand before the next token', async () => {
  const text = 'Tom saw the little dog and ran home to play. '.repeat(20);
  const { page } = await site.open({}, `next?t=${encodeURIComponent(text)}`);
  const seen = async (): Promise<boolean> =>
    page.evaluate(() => {
      const shadow = document.querySelector('main .figure > *')?.shadowRoot;
      const [text, gap] = ['.text', '.gap'].map((name) => shadow?.querySelector(name)?.getBoundingClientRect());
      return text !== undefined && gap !== undefined && gap.bottom <= text.bottom + 1 && gap.top >= text.top;
    });
  expect(await seen()).toBe(true);
  await page.locator('cf-bars [role=option]').first().click();
  await laidOut(page);
  expect(await seen()).toBe(true);
  await page.context().close();
});

it('no letters are seen beside the figure under which they scroll', async () => {
  const { page } = await site.open({ viewport: phone }, 'heads?lang=de&step=9');
  await page.evaluate(() => {
    for (const text of document.querySelectorAll<HTMLElement>('.step p')) text.style.translate = '-4px'; // as a j does
    scrollBy(0, 200);
  });
  await laidOut(page);
  const { top, height } = await page.evaluate(() => {
    const { top, height } = document.querySelector('main .figure')?.getBoundingClientRect() ?? new DOMRect();
    return { top, height };
  });
  const strip = await page.screenshot({ clip: { x: 15, y: top + 1, width: 5, height: height - 2 } });
  const colours = await page.evaluate(async (bytes) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${bytes}`)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext('2d');
    context?.drawImage(picture, 0, 0);
    const { data } = context?.getImageData(0, 0, picture.width, picture.height) ?? { data: [] };
    return new Set(new Uint32Array(Uint8ClampedArray.from(data).buffer)).size;
  }, strip.toString('base64'));
  expect(colours).toBe(1);
  await page.context().close();
});
