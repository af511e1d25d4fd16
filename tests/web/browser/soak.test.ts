// Memory, workers and documents of a page do not grow with the number of calls and of models, in Chromium. `npm run soak`
// has larger numbers.

import { readFileSync } from 'node:fs';
import type { GenerativeModel } from 'clearformer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { generateOften, grownBy, loadOften, soakTimes, type Usage } from '../support/soak.js';
import { launchChromium } from './chromium.js';
import { isolation } from './page_server.js';
import { pageProgram, withPage } from './project_page.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

interface Order {
  what: 'open' | 'generate' | 'load';
  worker: boolean;
  count: number;
}
interface Opened {
  model: GenerativeModel;
}

/** In the page: one part of a test. Returns the size of the model's memory. */
async function part({ what, worker, count }: Order): Promise<number> {
  const entry = '/dist/index.js';
  const { AutoModelForCausalLM } = await import(entry);
  const path = '/tests/fixtures/models/gpt2/even';
  const held = globalThis as unknown as Opened;
  if (what === 'open') held.model = await AutoModelForCausalLM.from_pretrained(path, { worker });
  if (what === 'generate') await generateOften(held.model, count);
  if (what === 'load') await loadOften(AutoModelForCausalLM, path, worker, count);
  return held.model?.info().heapBytes ?? 0;
}

/**
 * Of the page and its process: bytes after garbage collection, and objects. Chromium lets an ended worker that waits
 * live for two seconds.
 */
async function used(page: Page, workers: number): Promise<Usage> {
  for (let waits = 0; page.workers().length > workers && waits < 100; waits++) await page.waitForTimeout(100);
  const session = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) {
    await session.send('HeapProfiler.collectGarbage');
    await page.waitForTimeout(50); // for finalizers
  }
  const { usedSize: heapUsed } = await session.send('Runtime.getHeapUsage');
  const { documents, nodes, jsEventListeners: listeners } = await session.send('Memory.getDOMCounters');
  await session.detach();
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send('SystemInfo.getProcessInfo');
  await whole.detach();
  const rss = processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { id }) => sum + residentBytes(id), 0);
  return { heapUsed, rss, documents, nodes, listeners, workers: page.workers().length };
}

const residentBytes = (id: number): number =>
  1024 * Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? Number.NaN);

/** The page keeps some kilobytes per message of the test. */
const allowed = { heapUsed: 300e3, rss: 60e6 };

async function soaked(what: 'generate' | 'load', worker: boolean, count: number): Promise<string[]> {
  return withPage(browser, isolation, async (page) => {
    page.setDefaultTimeout(0);
    let heapBytes = 0;
    const run = async (what: Order['what'], count: number) => {
      heapBytes = await page.evaluate<number>(pageProgram(part, { what, worker, count }, generateOften, loadOften));
    };
    if (what === 'generate') await run('open', 1);
    const workers = page.workers().length;
    const use = async () => ({ ...(await used(page, workers)), heapBytes });
    return grownBy(count, (count) => run(what, count), use, allowed);
  });
}

describe.each([
  ['in the page', false],
  ['in workers', true],
])('%s', (_, worker) => {
  it('generate', async () => expect(await soaked('generate', worker, soakTimes.callsInPages)).toEqual([]));
  it('load and dispose', async () => expect(await soaked('load', worker, soakTimes.modelsInPages)).toEqual([]));
});
