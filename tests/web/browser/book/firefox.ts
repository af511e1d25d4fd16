// A Firefox that opens the built page, driven over WebDriver BiDi, and its errors.

import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { type PageServer, servePage } from '../page_server.js';
import { figureSettled, turnTo } from '../site.js';

/** `npm test` sets FIREFOX, to '' if there is none. */
export const firefoxPath = process.env.FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync) ?? '';

const preferences = {
  'dom.serviceWorkers.enabled': false, // otherwise each page would download all files of the page
  'ui.prefersReducedMotion': 1,
};

export class FirefoxSite {
  /** Errors and warnings on the console, exceptions, failed requests, and requests to other hosts. */
  readonly complaints: string[] = [];
  private constructor(
    private readonly browser: Browser,
    private readonly server: PageServer,
    readonly page: Page,
  ) {}

  static async start(): Promise<FirefoxSite> {
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: firefoxPath,
      headless: true,
      extraPrefsFirefox: preferences,
    });
    const site = new FirefoxSite(browser, await servePage(), await browser.newPage());
    site.#listen();
    return site;
  }

  #listen(): void {
    const { browser, page, complaints } = this;
    // A link may open another tab, behind which Firefox lets the page's timers run once a second.
    browser.on('targetcreated', async (target) => {
      const opened = await target.page().catch(() => null);
      if (opened && opened !== page) await opened.close().catch(() => {}); // it may have closed itself
    });
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`exception: ${error instanceof Error ? error.message : error}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.server.url) && !/^(data|blob|about):/.test(url))
        complaints.push(`request to elsewhere: ${url}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`HTTP ${response.status()}: ${response.url()}`);
    });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.server.close();
  }

  /** Reloads the page at an address and a size. */
  async open(address: string, width: number, height: number): Promise<void> {
    await this.page.setViewport({ width, height });
    await this.page.goto('about:blank');
    await this.page.goto(`${this.server.url}#/${address}`);
    await this.page.evaluate(figureSettled);
  }

  /** Navigates within the page, like a link. */
  async go(address: string): Promise<void> {
    await this.page.evaluate(turnTo, `#/${address}`);
    await this.page.evaluate(figureSettled);
  }
}
