// The hashes of tests/fixtures/digests.json in Chromium, Firefox and WebKit, with one, two and four threads: of
// outputs, and of the weights of a model that was trained there.

import type { Server } from 'node:http';
import puppeteer from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  alone,
  type Digests,
  digestsOf,
  recordedOf,
  recordedTraining,
  type Subject,
  shared,
  trainingDigest,
  trainingWith,
} from '../support/digests.js';
import { firefoxPath } from './book/firefox.js';
import { launchChromium } from './chromium.js';
import { isolation } from './page_server.js';
import { pageProgram, serveProject } from './project_page.js';
import { WebKitPage, webKitDriver } from './webkit.js';

let server: Server;
let url: string;
beforeAll(async () => {
  ({ server, url } = await serveProject(isolation));
});
afterAll(() => server.close());

interface Opened {
  evaluate(program: string): Promise<unknown>;
  close(): Promise<void>;
}

async function openChromium(): Promise<Opened> {
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto(url);
  return { evaluate: (program) => page.evaluate(program), close: () => browser.close() };
}

async function openFirefox(): Promise<Opened> {
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
  const page = await browser.newPage();
  await page.goto(url);
  return { evaluate: (program) => page.evaluate(program), close: () => browser.close() };
}

describe.each([
  { name: 'Chromium', open: openChromium, here: true },
  { name: 'Firefox', open: openFirefox, here: firefoxPath !== '' },
  { name: 'WebKit', open: () => WebKitPage.open(url), here: webKitDriver !== '' },
])('$name', ({ open, here }) => {
  it.skipIf(!here)('gives the same bits', async () => {
    const browser = await open();
    const found = (subjects: readonly Subject[]) =>
      browser.evaluate(pageProgram(digestsOf, ['/dist/index.js', '/', subjects])) as Promise<Digests>;
    expect(await found(alone)).toEqual(recordedOf(alone));
    for (const threads of [2, 4]) {
      const subjects = shared.filter(({ numThreads }) => numThreads === threads);
      expect(await found(subjects)).toEqual(recordedOf(subjects));
    }
    for (const threads of [1, 2, 4]) {
      const program = pageProgram(trainingDigest, trainingWith('/dist/index.js', '/', threads));
      expect(await browser.evaluate(program)).toBe(recordedTraining());
    }
    await browser.close();
  });
});
