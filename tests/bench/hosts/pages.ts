// Contenders in pages of one headless browser, each in a page of its own.

import { messageOf } from '../../../scripts/message_of.js';
import type { About, Host, Opened, Sample, Spec } from '../types.js';
import { type BrowserPage, browsers, type OpenedBrowser } from './browsers.js';
import { placed } from './places.js';
import { type FileServer, pagePath, serveFiles } from './server.js';

/** Defined by hosts/page.html. */
interface Bench {
  bench: Record<string, (...given: unknown[]) => unknown>;
}

interface Owner {
  page: BrowserPage;
  close(): Promise<void>;
}

export class PageHost implements Host {
  readonly version: string;
  readonly #browser: OpenedBrowser;
  readonly #server: FileServer;
  readonly #pages = new Map<string, Owner>();

  private constructor(browser: OpenedBrowser, server: FileServer) {
    this.#browser = browser;
    this.#server = server;
    this.version = browser.version;
  }

  /** `flags` are V8's. */
  static async start(engine: keyof typeof browsers, flags: readonly string[]): Promise<PageHost> {
    return new PageHost(await browsers[engine](flags), await serveFiles());
  }

  /** A page in a new context, without cache. */
  async #freshPage(): Promise<Owner> {
    const owner = await this.#browser.page();
    await owner.page.goto(`${this.#server.url}${pagePath}`);
    await owner.page.waitForFunction(() => document.title === 'ready');
    return owner;
  }

  /** Contenders with the same `share` are in one page. */
  async open(id: string, spec: Spec, path: string | undefined): Promise<Opened> {
    const share = spec.share ?? id;
    const owner = this.#pages.get(share) ?? (await this.#freshPage());
    this.#pages.set(share, owner);
    const { page } = owner;
    const call = (method: string, ...args: unknown[]): Promise<unknown> =>
      page.evaluate(({ name, given }) => (globalThis as unknown as Bench).bench[name]?.(...given), {
        name: method,
        given: [id, ...args],
      });
    const close = async (): Promise<void> => {
      if (spec.share) return;
      this.#pages.delete(id);
      await owner.close();
    };
    try {
      const about = (await call('open', placed(spec, path, 'web'))) as About;
      const sample = async (): Promise<Sample | undefined> => (await call('sample')) as Sample | undefined;
      return { about, sample, time: async (budget) => Number(await call('time', budget)), close };
    } catch (error) {
      await close();
      throw new Error(
        messageOf(error)
          .replace(/^page\.evaluate: /, '')
          .split('\n')[0],
      );
    }
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
  }
}
