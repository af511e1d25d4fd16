// The menu of a figure in a browser: standalone pictures, numbers bit for bit, link, code, embedding code.

import { readFile } from 'node:fs/promises';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from '../site.js';

interface DrawnElement extends HTMLElement {
  source: string;
  numbers: { dims: readonly number[]; data: ArrayLike<number> };
}
type FigureElement = HTMLElement & { drawn(): DrawnElement[]; code(): { cpp: string } };

let site: Site;
let open: OpenPage;
let page: Page;

beforeAll(async () => {
  site = await Site.start();
  open = await site.open({ acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
  ({ page } = open);
  await page.getByRole('button', { name: 'Figure', exact: true }).click();
  await page.locator('figure-menu button').first().waitFor();
});
afterAll(() => site.stop());

async function saved(name: string): Promise<{ file: string; bytes: Buffer }> {
  const waiting: Promise<Download> = page.waitForEvent('download');
  await page.locator('figure-menu').getByRole('button', { name }).first().click();
  const download = await waiting;
  return { file: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

describe('the menu of a figure', () => {
  it('has the focus on its first button and lists what is drawn, with shapes', async () => {
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('figure-menu');
    const listed = await page
      .locator('figure-menu .numbers li')
      .evaluateAll((lines) =>
        lines.map((line) =>
          [line.querySelector('code')?.textContent, line.querySelector('.shape')?.textContent].join(' '),
        ),
      );
    const drawn = await page
      .locator('main .figure > *')
      .evaluate((figure) =>
        (figure as FigureElement).drawn().map(({ source, numbers }) => `${source} ${numbers.dims.join('×')}`),
      );
    expect(listed.length).toBeGreaterThan(0);
    expect(new Set(listed)).toEqual(new Set(drawn));
  });

  it('saves an SVG that another page shows, with the text of the figure as text', async () => {
    const { file, bytes } = await saved('SVG');
    expect(file).toBe('next.svg');
    const text = bytes.toString('utf8');
    const other = await page.context().newPage();
    await other.setContent(`<body></body>`);
    const found = await other.evaluate(async (svg) => {
      const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
      const image = new Image();
      image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
      await image.decode();
      const outside = [...parsed.querySelectorAll('[href]')].filter(
        (each) => !/^(data:|#)/.test(each.getAttribute('href') ?? ''),
      );
      return {
        faults: parsed.querySelectorAll('parsererror').length,
        outside: outside.length,
        width: image.naturalWidth,
        texts: [...parsed.querySelectorAll('text')].map((each) => each.textContent),
      };
    }, text);
    await other.close();
    const box = await page.locator('main .figure > *').boundingBox();
    expect(found).toMatchObject({ faults: 0, outside: 0, width: Math.ceil((box?.width ?? 0) + 32) });
    expect(found.texts.join(' ')).toMatch(/\d %/);
    expect(text).not.toMatch(/url\((?!#|data:)/);
  });

  it('saves a PNG with two pixels for each px of the screen, which is not empty', async () => {
    const { file, bytes } = await saved('PNG');
    expect(file).toBe('next.png');
    const box = await page.locator('main .figure > *').boundingBox();
    expect(bytes.readUInt32BE(16)).toBe(2 * Math.ceil((box?.width ?? 0) + 32));
    expect(bytes.readUInt32BE(20)).toBe(2 * Math.ceil((box?.height ?? 0) + 32));
    expect(bytes.length).toBeGreaterThan(20_000);
  });

  it('saves every matrix as .npy, bit for bit', async () => {
    const drawn = await page
      .locator('main .figure > *')
      .evaluate((figure) =>
        (figure as FigureElement)
          .drawn()
          .map(({ source, numbers }) => ({ source, dims: [...numbers.dims], data: Array.from(numbers.data) })),
      );
    for (const { source, dims, data } of drawn) {
      const { bytes } = await saved(`.npy: save ${source} for NumPy`);
      const start = 10 + bytes.readUInt16LE(8);
      const header = bytes.toString('latin1', 10, start);
      expect(header).toContain(`'shape': (${dims.length === 1 ? `${dims[0]},` : dims.join(', ')})`);
      const values = Array.from(data, (_, i) => bytes.readFloatLE(start + 4 * i));
      expect(values).toEqual(data.map(Math.fround));
      expect(bytes.length).toBe(start + 4 * data.length);
    }
  });

  it('copies the link, the code, and lines for another page', async () => {
    const copied = async (name: string): Promise<string> => {
      await page.locator('figure-menu').getByRole('button', { name, exact: true }).click();
      await page.locator('figure-menu [role=status]', { hasText: 'Copied' }).waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('Copy link')).toBe(page.url());
    await page.locator('figure-menu').getByRole('button', { name: 'C++' }).click();
    expect(await copied('Copy code')).toBe(
      await page.locator('main .figure > *').evaluate((figure) => (figure as FigureElement).code().cpp),
    );
    await page.locator('figure-menu').getByRole('button', { name: 'Embed' }).click();
    const lines = await copied('Copy these lines');
    expect(lines).toContain(`<script type="module" src="${site.url}elements.js"></script>`);
    expect(lines).toContain(`<cf-figure address="${page.url().replaceAll('&', '&amp;')}"></cf-figure>`);
    expect((await page.request.get(`${site.url}elements.js`)).status()).toBe(200);
  });

  it('leaves the arrow keys to the code, which they scroll', async () => {
    const at = page.url();
    await page.locator('figure-menu pre').last().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('PageDown');
    expect(page.url()).toBe(at);
  });

  it('closes on Escape and gives the focus back to its button', async () => {
    await page.locator('figure-menu button').first().focus();
    await page.keyboard.press('Escape');
    await page.locator('figure-menu').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Figure');
  });

  it('closes, as the contents do, when the focus goes on', async () => {
    for (const opener of [
      page.locator('nav.where button'),
      page.getByRole('button', { name: 'Figure', exact: true }),
    ]) {
      await opener.press('Enter');
      await page.locator('.pop :is(a, button)').last().focus();
      expect(await page.locator('.pop').count()).toBe(1);
      await page.keyboard.press('Tab');
      await page.locator('.pop').waitFor({ state: 'detached' });
      expect(await page.evaluate(() => document.activeElement?.closest('.pop, body')?.localName)).toBe('body');
    }
  });

  it('makes a picture of every chapter that stands by itself and holds the words of the figure', async () => {
    const links = page.locator('nav.where .pop a');
    await page.getByRole('navigation', { name: 'Chapters' }).getByRole('button').click();
    await links.first().waitFor();
    const chapters = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href')?.slice(2) ?? ''));
    expect(chapters.length).toBeGreaterThan(1);
    for (const chapter of chapters) {
      await site.go(page, chapter);
      await page.getByRole('button', { name: 'Figure', exact: true }).click();
      const { bytes } = await saved('SVG');
      const found = await page.evaluate((svg) => {
        const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
        const texts = [...parsed.querySelectorAll('text')].map((each) => each.textContent ?? '');
        return { faults: parsed.querySelectorAll('parsererror').length, marks: texts.join(' ').split(/\s+/).length };
      }, bytes.toString('utf8'));
      expect(found.faults, chapter).toBe(0);
      expect(found.marks, chapter).toBeGreaterThan(5);
      expect(bytes.toString('utf8'), chapter).not.toMatch(/url\((?!#|data:)|href="(?!#|data:)/);
      await page.keyboard.press('Escape');
    }
  });

  it('draws the knobs of scaled switches', async () => {
    await site.go(page, 'block?step=1');
    await page.getByRole('button', { name: 'Figure', exact: true }).click();
    const { bytes } = await saved('SVG');
    const knobs = bytes
      .toString('utf8')
      .match(/<g transform="matrix\(0\.82 [^>]*><rect [^>]*width="16" height="16" rx="8"/g);
    expect(knobs).toHaveLength(await page.locator('figure-block .diagram .switch').count());
    await page.keyboard.press('Escape');
  });

  it('opens while the figure tells what is wrong with its address', async () => {
    await site.go(page, 'head?qkv=x');
    await page.getByRole('button', { name: 'Figure', exact: true }).click();
    await page.locator('figure-menu').getByText('Q, row 1').waitFor();
    await page.keyboard.press('Escape');
  });

  it('leaves nothing in the console', () => {
    expect(open.complaints).toEqual([]);
  });
});
