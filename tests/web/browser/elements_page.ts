// An empty page with the package's elements under a strict content security policy, like a user's page.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { withPage } from './project_page.js';

export const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
].join('; ');

/** Helpers available in the page. */
export interface Bench {
  /** Creates an element with these properties; resolves when it is drawn. */
  make(tag: string, properties: Record<string, unknown>): Promise<HTMLElement>;
  /** Events since the last call: type and detail. */
  events(): [type: string, detail: unknown][];
}

declare global {
  interface Window {
    bench: Bench;
  }
}

async function prepare(): Promise<void> {
  await import('/dist/elements.js' as string);
  const heard: [string, unknown][] = [];
  const types = ['cell-point', 'cell-select', 'cell-edit', 'token-select', 'bar-select', 'lens-point', 'lens-select'];
  for (const type of types) {
    document.addEventListener(type, (event) => heard.push([type, (event as CustomEvent).detail]));
  }
  window.bench = {
    async make(tag, properties) {
      const element = Object.assign(document.createElement(tag), properties);
      document.body.append(element);
      await (element as HTMLElement & { updateComplete?: Promise<unknown> }).updateComplete;
      return element;
    },
    events: () => heard.splice(0),
  };
}

/** Runs `work` in such a page; errors on its console fail the test. */
export async function withElements<T>(
  browser: Browser,
  work: (page: Page) => Promise<T>,
  options: BrowserContextOptions = {},
  expected: RegExp = /^$/,
): Promise<T> {
  const complaints: string[] = [];
  const result = await withPage(
    browser,
    { 'content-security-policy': policy },
    async (page) => {
      page.setDefaultTimeout(100_000); // for machines under load
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      const program = String(prepare).replaceAll('__vite_ssr_dynamic_import__', 'import');
      await page.evaluate(`(${program})()`);
      return work(page);
    },
    undefined,
    options,
  );
  const unexpected = complaints.filter((text) => !expected.test(text));
  if (unexpected.length > 0) throw new Error(unexpected.join('\n'));
  return result;
}

export type Point = readonly [x: number, y: number];

/** The centre of a matrix's cell on the screen. */
export async function cellCentre(page: Page, row: number, column: number, id = 'm'): Promise<Point> {
  return page.evaluate(
    ([name, r, c]) => {
      const matrix = document.getElementById(name) as HTMLElement & { cellBox(r: number, c: number): DOMRect };
      const box = matrix.cellBox(r, c);
      return [box.x + box.width / 2, box.y + box.height / 2] as const;
    },
    [id, row, column] as const,
  );
}

export const events = (page: Page): Promise<[string, unknown][]> => page.evaluate(() => window.bench.events());

/** A matrix of 10 × 10, with distinct numbers, and the id m. */
export async function makeMatrix(page: Page, properties: Record<string, unknown> = {}): Promise<void> {
  await page.evaluate(async (given) => {
    const data = Float32Array.from({ length: 100 }, (_, i) => Math.sin(i * 1.7) * 4);
    const numbers = { dims: [10, 10], data };
    await window.bench.make('cf-matrix', { id: 'm', numbers, source: 'sin(i)', label: 'S', ...given });
  }, properties);
}

/** Fill, text colour, text and name of every drawn cell of the matrix m. Serialised for the browser. */
export const drawnCells = (): { fill: string; ink: string; text: string; name: string }[] =>
  [...(document.getElementById('m')?.shadowRoot?.querySelectorAll('[role=gridcell]') ?? [])].map((cell) => ({
    fill: cell.querySelector('rect')?.getAttribute('fill') ?? '',
    ink: cell.querySelector('text')?.getAttribute('fill') ?? '',
    text: cell.querySelector('text')?.textContent ?? '',
    name: cell.getAttribute('aria-label') ?? '',
  }));

/** Swipes up the screen by that many pixels. */
export async function swipeUp(page: Page, [x, y]: Point, by: number): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    protocol.send('Input.dispatchTouchEvent', { type, touchPoints });
  await touch('touchStart', [{ x, y }]);
  for (let gone = 15; gone <= by; gone += 15) {
    await touch('touchMove', [{ x, y: y - gone }]);
    await page.waitForTimeout(16);
  }
  await touch('touchEnd', []);
}
