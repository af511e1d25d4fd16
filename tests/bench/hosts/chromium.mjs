// Contenders in pages of one headless Chromium, each in a page of its own.
import { chromium } from 'playwright-core';

import { findChromium } from '../../../scripts/toolchain.mjs';
import { placed } from './places.mjs';
import { pagePath, serveFiles } from './server.mjs';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export class ChromiumHost {
  #pages = new Map();

  static async start() {
    const host = new ChromiumHost();
    host.server = await serveFiles();
    const program = await findChromium();
    host.browser = await chromium.launch({ executablePath: program, args: FLAGS });
    host.version = `Chromium ${host.browser.version()}`;
    return host;
  }

  /** A page of a fresh context, in which nothing is cached. */
  async freshPage() {
    const context = await this.browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(0); // a busy machine is no error
    await page.goto(`${this.server.url}${pagePath}`);
    await page.waitForFunction(() => document.title === 'ready');
    return { page, close: () => context.close() };
  }

  /** Contenders with the same `share` live in one page. */
  async open(id, spec, path) {
    const share = spec.share ?? id;
    const owner = this.#pages.get(share) ?? (await this.freshPage());
    this.#pages.set(share, owner);
    const { page } = owner;
    const call = (method, ...args) =>
      page.evaluate(([name, given]) => globalThis.bench[name](...given), [method, [id, ...args]]);
    const close = async () => {
      if (spec.share) return;
      this.#pages.delete(id);
      await owner.close();
    };
    try {
      const about = await call('open', placed(spec, path, 'web'));
      return { about, sample: () => call('sample'), time: (budget) => call('time', budget), close };
    } catch (error) {
      await close();
      throw new Error(error.message.replace(/^page\.evaluate: /, '').split('\n')[0]);
    }
  }

  async stop() {
    await this.browser.close();
    this.server.close();
  }
}
