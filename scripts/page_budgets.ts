// npm run page-budgets: what the first chapter costs a reader, from traces of Chromium: bytes over the wire (brotli), CPU of
// the main thread to the first number, and the longest task while the model writes on at the end of its context.
// Needs the page in build/page (npm run build).

import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

import { type Browser, chromium, type Page } from 'playwright-core';
import { pageFolder } from './build/page.js';
import { commandOf } from './main.js';
import { SetupError } from './toolchain/progress.js';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'];
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

async function serve(served: Map<string, number>): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const file = join(pageFolder, pathname === '/' ? 'index.html' : pathname);
    if (!existsSync(file)) return void response.writeHead(404).end();
    const body = readFileSync(file);
    const packed = extname(file) === '.woff2' ? body : brotliCompressSync(body);
    served.set(pathname, packed.length);
    const isolation = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
    const type = types[extname(file)] ?? 'application/octet-stream';
    const encoding = extname(file) === '.woff2' ? {} : { 'content-encoding': 'br' };
    response.writeHead(200, { ...isolation, 'content-type': type, ...encoding }).end(packed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, stop: () => server.close() };
}

/** What the main thread of the page did while `work` ran. */
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

const settled = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const figure = document.querySelector('main .figure > *') as (HTMLElement & { settled(): Promise<void> }) | null;
    await figure?.settled();
  });

interface Row {
  name: string;
  value: number;
  limit: number;
  unit: string;
}

async function firstChapter(browser: Browser): Promise<Row[]> {
  const served = new Map<string, number>();
  const { url, stop } = await serve(served);
  const page = await (
    await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' })
  ).newPage();
  const { tasks, events } = await traced(browser, page, async () => {
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByName('first-number').length > 0);
    await settled(page);
  });
  const bytes = [...served.values()].reduce((sum, size) => sum + size, 0);
  const end = (events.find(({ name }) => name === 'first-number')?.ts ?? Number.POSITIVE_INFINITY) / 1000;
  const cpu = tasks.filter(({ start }) => start < end).reduce((sum, task) => sum + task.cpu, 0);
  await page.context().close();
  stop();
  return [
    { name: 'first chapter over the wire (brotli)', value: bytes, limit: limits.bytes, unit: 'bytes' },
    { name: 'main-thread CPU to the first number', value: cpu, limit: limits.firstNumber, unit: 'ms' },
  ];
}

async function writing(browser: Browser): Promise<Row> {
  const { url, stop } = await serve(new Map());
  const page = await (
    await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' })
  ).newPage();
  const text = 'Lily went to the park. '.repeat(54).trim();
  await page.goto(`${url}#/next?t=${encodeURIComponent(text)}`);
  await page.waitForFunction(() => performance.getEntriesByName('first-number').length > 0);
  await settled(page);
  const { tasks } = await traced(browser, page, async () => {
    await page.getByRole('button', { name: 'Write on' }).click();
    await page.getByRole('button', { name: 'Write on' }).waitFor({ timeout: 120_000 });
    await settled(page);
  });
  await page.context().close();
  stop();
  const longest = Math.max(...tasks.map(({ cpu }) => cpu));
  return {
    name: 'longest task while writing at 512 tokens',
    value: longest,
    limit: limits.longestTask,
    unit: 'ms of CPU',
  };
}

export const command = commandOf(async () => {
  if (!existsSync(pageFolder)) throw new SetupError('build/page is missing: run "npm run build" first.');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
  try {
    const rows = [...(await firstChapter(browser)), await writing(browser)];
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
