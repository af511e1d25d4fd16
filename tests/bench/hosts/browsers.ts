// The browsers that run contenders, each behind the calls that playwright-core (Chromium) and puppeteer-core (Firefox)
// have in common.

import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { findChromium, findFirefox, SetupError } from '../../../scripts/toolchain.js';
import { browserFlags } from '../../web/browser/chromium.js';

export interface BrowserPage {
  goto(url: string): Promise<unknown>;
  waitForFunction(wanted: () => boolean): Promise<unknown>;
  evaluate<Given>(work: (given: Given) => unknown, given: Given): Promise<unknown>;
}

export interface OpenedBrowser {
  version: string;
  /** A page in a context of its own. */
  page(): Promise<{ page: BrowserPage; close(): Promise<void> }>;
  close(): Promise<void>;
}

async function startChromium(flags: readonly string[]): Promise<OpenedBrowser> {
  const own = flags.length > 0 ? [`--js-flags=${flags.join(' ')}`] : [];
  const browser = await chromium.launch({ executablePath: await findChromium(), args: [...browserFlags, ...own] });
  return {
    version: `Chromium ${browser.version()}`,
    async page() {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.setDefaultTimeout(0); // a busy machine is not an error
      return { page: page as unknown as BrowserPage, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

async function startFirefox(flags: readonly string[]): Promise<OpenedBrowser> {
  const executablePath = await findFirefox();
  if (!executablePath) throw new SetupError('There is no Firefox on this machine.');
  if (flags.length > 0) throw new SetupError(`${flags.join(' ')}: Firefox has no V8.`);
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true, protocolTimeout: 0 });
  return {
    version: (await browser.version()).replace(/^firefox\//i, 'Firefox '),
    async page() {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      page.setDefaultTimeout(0);
      return { page: page as unknown as BrowserPage, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

export const browsers = { chromium: startChromium, firefox: startFirefox };
