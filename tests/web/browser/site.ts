// The built page as a static site under a path of its own, and a Chromium that opens it and keeps what it complains of.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const folder = fileURLToPath(new URL('../../../build/page/', import.meta.url));
/** The page must work under any path, so it is never served at the root. */
const base = '/some/where/';
/** What `npm start` sends too: with these the page may use threads. */
export const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};
const contentTypes: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};
export const browserFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

async function answer(path: string): Promise<{ status: number; type: string; body: Buffer | string }> {
  const missing = { status: 404, type: 'text/plain', body: 'not here' };
  if (!path.startsWith(base)) return missing;
  const name = normalize(path.slice(base.length) || 'index.html');
  if (name.startsWith('..')) return missing;
  try {
    const type = contentTypes[extname(name)] ?? 'application/octet-stream';
    return { status: 200, type, body: await readFile(join(folder, name)) };
  } catch {
    return missing;
  }
}

export interface OpenPage {
  page: Page;
  /** Errors and warnings of the console, exceptions, failed requests, and requests to elsewhere. */
  complaints: string[];
}

export class Site {
  readonly url: string;
  /** Paths of the page that were asked for. */
  readonly requests: string[] = [];
  /** Other contents for files of the page, by path. */
  readonly replaced = new Map<string, string>();
  private constructor(
    private readonly browser: Browser,
    private readonly close: () => void,
    url: string,
  ) {
    this.url = url;
  }

  static async start(headers: Record<string, string> = isolation): Promise<Site> {
    let site: Site | undefined;
    const server = createServer(async (request, response) => {
      const path = new URL(request.url ?? '/', 'http://site').pathname;
      const { status, type, body } = await answer(path);
      const name = path.slice(base.length);
      site?.requests.push(name);
      response.writeHead(status, { ...headers, 'content-type': type }).end(site?.replaced.get(name) ?? body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    const browser = await chromium.launch({ executablePath, args: browserFlags });
    site = new Site(browser, () => server.close(), `http://127.0.0.1:${port}${base}`);
    return site;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.close();
  }

  /** Opens the page at an address (`head?step=2`) and waits until its figure has drawn what the address asks for. */
  async open(options: BrowserContextOptions = {}, address = 'next'): Promise<OpenPage> {
    const context = await this.browser.newContext({
      viewport: { width: 1440, height: 900 },
      serviceWorkers: 'block', // else every page of every test would fetch all files of the page
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

  /** Another address in the same page, as a link leads there. */
  async go(page: Page, address: string): Promise<void> {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${address}`);
    await settled(page);
  }
}

/** Resolves when the open chapter's figure has drawn what the address asks for. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main .figure > *').waitFor({ state: 'attached' });
  await page.evaluate(async () => {
    const app = document.querySelector('book-app') as HTMLElement & {
      updateComplete: Promise<unknown>;
      open?: { chapter: { id: string } };
    };
    // The chapter that has just been named is not open yet; a name that none has opens the first.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const named = /^#\/(\w*)/.exec(location.hash)?.[1] ?? '';
    for (let i = 0; i < 100 && app.open?.chapter.id !== (named || 'next'); i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await app.updateComplete;
    const figure = document.querySelector('main .figure > *') as HTMLElement & { settled(): Promise<void> };
    await figure.settled();
    await app.updateComplete;
  });
}
