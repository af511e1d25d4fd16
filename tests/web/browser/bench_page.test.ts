// The benchmark page under a strict policy: it measures the items of tests/bench on models made in the page, compares their
// outputs, and stops when asked. No test depends on the times.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onnxruntimeFiles, onnxruntimeInstalled } from '../../../scripts/build/onnxruntime.js';
import { launchChromium } from './chromium.js';
import { isolation, type PageServer, servePage, strictPolicy } from './page_server.js';

const onnxruntime = onnxruntimeInstalled();
let browser: Browser;
let server: PageServer;
const complaints: string[] = [];

async function open(query: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) complaints.push(`request to elsewhere: ${url}`);
  });
  await page.goto(`${server.url}bench.html?${query}`);
  await page.locator('bench-page h1').waitFor();
  return page;
}

/** The cells of the table's rows. */
const rowsOf = (page: Page): Promise<string[][]> =>
  page
    .locator('bench-page tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')));

beforeAll(async () => {
  browser = await launchChromium();
  server = await servePage({ headers: { ...isolation, ...strictPolicy } });
  if (onnxruntime) for (const [path, content] of onnxruntimeFiles()) server.replaced.set(path, content);
});
afterAll(async () => {
  await browser.close();
  server.close();
});

describe('the benchmark page', () => {
  it('measures every dtype, and compares it with fp32 of the same weights', async () => {
    const page = await open('model=small&rounds=1&lang=en');
    if (onnxruntime) await page.getByRole('checkbox', { name: /onnxruntime-web/ }).check();
    await page.getByRole('button', { name: 'Measure' }).click();
    const each = onnxruntime ? 3 : 2;
    await page
      .locator('bench-page tbody tr')
      .nth(3 * each - 2)
      .waitFor();
    await page.getByRole('button', { name: 'Measure' }).waitFor();
    const rows = await rowsOf(page);
    const whole = ['fp32', 'q8', 'q4'].map((dtype) => rows.filter(([work]) => work === `128 tokens read, ${dtype}`));
    expect(whole.map(({ length }) => length)).toEqual([each - 1, each, each]);
    for (const [, who, time] of rows) {
      expect(Number(time), `${who}: ${time}`).toBeGreaterThan(0);
    }
    const cosineOf = (dtype: string): number =>
      Number(rows.find(([work, who]) => work?.endsWith(dtype) && who === `clearformer ${dtype}`)?.at(-1));
    expect(cosineOf('q8')).toBeGreaterThan(0.99);
    expect(cosineOf('q8')).toBeLessThanOrEqual(1);
    expect(cosineOf('q4')).toBeGreaterThan(0.95);
    expect(cosineOf('q4')).toBeLessThan(cosineOf('q8'));
    expect(await page.locator('bench-page .failed').count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('stops, and speaks German', async () => {
    const page = await open('model=small&rounds=1&lang=de');
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.getByRole('button', { name: 'Messen' }).click();
    await page.getByRole('button', { name: 'Anhalten' }).click();
    await page.getByRole('button', { name: 'Messen' }).waitFor();
    expect(await page.locator('bench-page .failed').count()).toBe(0);
    expect((await rowsOf(page)).length).toBeLessThan(4);
    await page.getByRole('link', { name: 'Zurück zum Kapitel' }).click();
    await page.waitForURL(/#\/cost\?view=device/);
    const opening = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Ganze Modelle auf diesem Gerät messen' }).click();
    await (await opening).locator('bench-page h1').waitFor();
    expect(complaints.filter((text) => !text.startsWith('Service Worker'))).toEqual([]);
    await page.close();
  });
});
