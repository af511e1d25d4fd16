// npm run page-budgets: the cost of the first chapter, from traces of Chromium: bytes transferred (brotli), CPU time of
// the main thread until the first number, and the longest task while the model generates at the end of its context, and
// while chapter 6 trains one.
// Needs the page in build/page (npm run build).

import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../tests/web/browser/chromium.js';
import { type PageServer, servePage } from '../tests/web/browser/page_server.js';
import { settled } from '../tests/web/browser/site.js';
import { pageFolder } from './build/page.js';
import { commandOf } from './main.js';
import { SetupError } from './toolchain/progress.js';

const categories = ['toplevel', 'blink.user_timing', '__metadata'];
const limits = { bytes: 1_200_000, firstNumber: 400, longestTask: 50 };

/** A task of the main thread, in milliseconds. */
interface Task {
  readonly start: number;
  readonly cpu: number;
}

interface TraceEvent {
  name: string;
  cat: string;
  pid: number;
  tid: number;
  ts: number;
  tdur?: number;
  args?: { name?: string };
}

interface Trace {
  readonly tasks: readonly Task[];
  readonly events: readonly TraceEvent[];
}

/** The tasks of the page's main thread while `work` ran. */
async function traced(browser: Browser, page: Page, work: () => Promise<void>): Promise<Trace> {
  await browser.startTracing(page, { categories });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const marked = traceEvents.find(({ name }) => name === 'first-number');
  const tasks = traceEvents
    .filter(
      ({ name, pid, tid }) => name.endsWith('RunTask') && main.has(`${pid} ${tid}`) && (!marked || pid === marked.pid),
    )
    .map(({ ts, tdur = 0 }) => ({ start: ts / 1000, cpu: tdur / 1000 }));
  return { tasks, events: traceEvents };
}

interface Row {
  name: string;
  value: number;
  limit: number;
  unit: string;
}

/** A page with the first chapter, from a fresh server. */
async function withPage<T>(browser: Browser, work: (page: Page, server: PageServer) => Promise<T>): Promise<T> {
  const server = await servePage({ folder: pageFolder, encoding: 'br' });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' });
  try {
    return await work(await context.newPage(), server);
  } finally {
    await context.close();
    server.close();
  }
}

/** Opens a URL and waits until its figure is drawn. */
async function drawn(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.waitForFunction(() => performance.getEntriesByName('first-number').length > 0, null, {
    timeout: 120_000, // each file is compressed on request
  });
  await settled(page);
}

const firstChapter = (browser: Browser): Promise<Row[]> =>
  withPage(browser, async (page, { url, sent }) => {
    const { tasks, events } = await traced(browser, page, () => drawn(page, url));
    const bytes = [...sent.values()].reduce((sum, size) => sum + size, 0);
    const end = (events.find(({ name }) => name === 'first-number')?.ts ?? Number.POSITIVE_INFINITY) / 1000;
    const cpu = tasks.filter(({ start }) => start < end).reduce((sum, task) => sum + task.cpu, 0);
    return [
      { name: 'first chapter over the wire (brotli)', value: bytes, limit: limits.bytes, unit: 'bytes' },
      { name: 'main-thread CPU to the first number', value: cpu, limit: limits.firstNumber, unit: 'ms' },
    ];
  });

const writing = (browser: Browser): Promise<Row> =>
  withPage(browser, async (page, { url }) => {
    const text = 'Lily went to the park. '.repeat(54).trim();
    await drawn(page, `${url}#/next?t=${encodeURIComponent(text)}`);
    const { tasks } = await traced(browser, page, async () => {
      await page.getByRole('button', { name: 'Write on' }).click();
      await page.getByRole('button', { name: 'Write on' }).waitFor({ timeout: 120_000 });
      await settled(page);
    });
    const longest = Math.max(...tasks.map(({ cpu }) => cpu));
    const name = 'longest task while writing at 512 tokens';
    return { name, value: longest, limit: limits.longestTask, unit: 'ms of CPU' };
  });

const training = (browser: Browser): Promise<Row> =>
  withPage(browser, async (page, { url }) => {
    await drawn(page, `${url}#/heads?step=6`);
    const { tasks } = await traced(browser, page, async () => {
      await page.getByRole('button', { name: 'Train', exact: true }).click();
      await settled(page);
    });
    const longest = Math.max(...tasks.map(({ cpu }) => cpu));
    return { name: 'longest task while training', value: longest, limit: limits.longestTask, unit: 'ms of CPU' };
  });

export const command = commandOf(async () => {
  if (!existsSync(pageFolder)) throw new SetupError('build/page is missing: run "npm run build" first.');
  const browser = await launchChromium();
  try {
    const rows = [...(await firstChapter(browser)), await writing(browser), await training(browser)];
    for (const { name, value, limit, unit } of rows) {
      const verdict = value <= limit ? 'within' : 'ABOVE';
      console.log(
        `${name}: ${Math.round(value).toLocaleString('en')} ${unit}, ${verdict} ${limit.toLocaleString('en')}`,
      );
    }
  } finally {
    await browser.close();
  }
});
