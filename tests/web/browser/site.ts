// A Chromium that opens the built page and records its errors.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFailed } from 'vitest';
import { launchChromium } from './chromium.js';
import { type PageServer, servePage } from './page_server.js';

export interface OpenPage {
  page: Page;
  /** Errors and warnings on the console, exceptions, failed requests, and requests to other hosts. */
  complaints: string[];
}

export class Site {
  #shared: OpenPage | undefined;

  private constructor(
    private readonly browser: Browser,
    private readonly server: PageServer,
  ) {}

  static async start(headers?: Readonly<Record<string, string>>): Promise<Site> {
    return new Site(await launchChromium(), await servePage({ ...(headers && { headers }) }));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.server.close();
  }

  get url(): string {
    return this.server.url;
  }

  /** Requested paths of the page. */
  get requests(): string[] {
    return this.server.requests;
  }

  /** Replaced contents of the page's files, and additional files, by path. */
  get replaced(): Map<string, string | Buffer> {
    return this.server.replaced;
  }

  /**
   * Opens the page at an address (`head?step=2`) and waits until its figure is drawn for that address. It scrolls at
   * once, as for readers who ask for less motion: a smooth scroll may still go on when a test clicks, and a click whose
   * button is pressed over one element and released over another is no click.
   */
  async open(options: BrowserContextOptions = {}, address = 'next'): Promise<OpenPage> {
    const context = await this.browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      serviceWorkers: 'block', // otherwise every page of every test would download all files of the page
      ...options,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.text().startsWith('Service Worker registration blocked')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.url) && !/^(data|blob):/.test(url)) complaints.push(`request to elsewhere: ${url}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`HTTP ${response.status()}: ${response.url()}`);
    });
    await page.goto(`${this.url}#/${address}`);
    await settled(page);
    return { page, complaints };
  }

  /**
   * Shows an address in the page that a file's tests share, which takes a fifth of the processor time of `open`: a new
   * document compiles all scripts and the WebAssembly again. The figure is a new one, since another chapter is opened
   * in between; models and passes are kept. A page in which a test failed is not used again.
   */
  async visit(address: string): Promise<OpenPage> {
    onTestFailed(() => this.#leave());
    if (!this.#shared) {
      this.#shared = await this.open({}, address);
      return this.#shared;
    }
    const { page, complaints } = this.#shared;
    const elsewhere = address.startsWith('next') ? 'set' : 'next';
    await this.go(page, elsewhere);
    await page.mouse.move(0, 0);
    await page.evaluate(() => localStorage.clear());
    complaints.length = 0;
    await this.go(page, address);
    return this.#shared;
  }

  async #leave(): Promise<void> {
    const left = this.#shared;
    this.#shared = undefined;
    await left?.page.context().close();
  }

  /** Navigates within the page, like a link. In one message to the browser, each of which takes processor time. */
  async go(page: Page, address: string): Promise<void> {
    await page.evaluate(`(${turnTo})(${JSON.stringify(`#/${address}`)}).then(${figureSettled})`);
  }
}

/** Waits for layouts that depend on rendered sizes. */
export const laidOut = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame);
  });

/** Resolves when the open chapter's figure is drawn for the current address, and the choices of its questions are. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main .figure > *').waitFor({ state: 'attached' });
  await page.evaluate(figureSettled);
}

/**
 * Follows a link inside the page; resolves when the page has been notified. Serialised for the browser: uses nothing
 * from outside.
 */
export async function turnTo(hash: string): Promise<void> {
  if (location.hash === new URL(hash, location.href).hash) return;
  const told = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
  location.hash = hash;
  await told;
}

/** `settled` inside the page. Also serialised. */
export async function figureSettled(): Promise<void> {
  interface App extends HTMLElement {
    book?: { address: { chapter: string }; language: string };
    open: { chapter: { id: string }; language: string } | undefined;
    failure: unknown;
    updateComplete: Promise<unknown>;
  }
  const app = document.querySelector('book-app') as App;
  // The named chapter may not be open yet, or not in that language; an unknown name opens the first.
  const opened = (): boolean =>
    app.failure !== undefined ||
    (app.open?.chapter.id === (app.book?.address.chapter || 'next') && app.open.language === app.book?.language);
  for (let waited = 0; waited === 0 || (waited < 60_000 && !opened()); waited += 20)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await app.updateComplete;
  const figure = document.querySelector('main .figure > *') as HTMLElement & { finished(): Promise<void> };
  await figure.finished();
  await app.updateComplete;
  await (document.querySelector('book-questions') as { offered?: Promise<void> } | null)?.offered;
}
