// The page without a network: after one visit every chapter opens, including those not opened before; a new build
// replaces the old one and downloads changed files only.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from './site.js';

const worker = fileURLToPath(new URL('../../../build/page/service_worker.js', import.meta.url));
let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

/** Resolves when the service worker has cached everything. */
const kept = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active?.state !== 'activated') await new Promise((done) => setTimeout(done, 20));
    const [name = ''] = (await caches.keys()).filter((each) => each.startsWith('clearformer '));
    return (await (await caches.open(name)).keys()).map(({ url }) => url);
  });

describe('the page without a network', () => {
  it('opens every chapter after one visit of the first', async () => {
    const { page } = await site.open({ serviceWorkers: 'allow' });
    const files = await kept(page);
    expect(files).toContain(site.url);
    expect(files.filter((url) => url.endsWith('.wasm')).length).toBe(2); // one of each build
    for (const part of ['second', 'hooks', 'families']) // of both builds
      expect(files.filter((url) => new RegExp(`${part}-[^/]*\\.js$`).test(url)).length).toBeGreaterThan(0);
    await page.context().setOffline(true);
    await page.reload();
    await settled(page);
    await page.getByRole('navigation', { name: 'Chapters' }).getByRole('button').click();
    const links = await page
      .locator('nav.where .pop a')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href')?.replace(/^#\/(\w+).*$/, '$1') ?? ''));
    for (const chapter of links) {
      await site.go(page, chapter);
      const failed = await page.locator('main .figure > *').evaluate(({ shadowRoot }) => {
        return shadowRoot?.querySelector('.failed')?.textContent ?? '';
      });
      expect(failed, chapter).toBe('');
    }
    await page.context().close();
  });

  it('keeps no file that was only asked about', async () => {
    const path = 'onnxruntime/1/part.bin';
    site.replaced.set(path, 'its content');
    const { page } = await site.open({ serviceWorkers: 'allow' });
    await kept(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    const answers = await page.evaluate(async (file) => {
      const { ok } = await fetch(file, { method: 'HEAD' });
      return [ok, await (await fetch(file)).text()];
    }, path);
    expect(answers).toEqual([true, 'its content']);
    site.replaced.delete(path);
    await page.context().close();
  });

  it('takes a whole new build over, fetches only what differs, and lets the one before last go', async () => {
    site.replaced.delete('service_worker.js'); // of an attempt before
    const { page } = await site.open({ serviceWorkers: 'allow' });
    const caches = await page.evaluateHandle(() => window.caches);
    const builds = (): Promise<string[]> =>
      caches.evaluate(async (all) => (await all.keys()).filter((each) => each.startsWith('clearformer ')));
    await kept(page);
    const first = await builds();
    expect(first).toHaveLength(1);
    const text = readFileSync(worker, 'utf8');
    // A build one of whose files does not arrive leaves nothing behind.
    const part = text.replace(/"icon\.svg":"\w{16}"/, `$&,"none.svg":"${'0'.repeat(16)}"`);
    const named = /(?<!:)"([0-9a-f]{16})"/.exec(part)?.[0] ?? '';
    site.replaced.set('service_worker.js', part.replace(named, `"${'0'.repeat(16)}"`));
    await page.evaluate(async () => {
      const { installing } = await (await navigator.serviceWorker.ready).update();
      while (installing?.state === 'installing') {
        await new Promise((done) => installing.addEventListener('statechange', done));
      }
    });
    expect(site.requests).toContain('none.svg');
    expect(await builds()).toEqual(first);
    // Nor is a build whose worker was ended amid its installation taken for the one of the open page.
    await caches.evaluate((all, name) => all.open(`${name} in part`), first[0]);
    for (const build of [1, 2]) {
      const before = (await builds()).filter((name) => !name.endsWith(' in part')).at(-1);
      // As the next build writes it: another digest of one file, and another version, the digest of the list.
      const list = text.replace(/"icon\.svg":"\w{16}"/, `"icon.svg":"${String(build).repeat(16)}"`);
      const version = /(?<!:)"([0-9a-f]{16})"/.exec(list)?.[1] ?? '';
      expect(version).toHaveLength(16);
      site.replaced.set('service_worker.js', list.replace(`"${version}"`, `"${String(build).padStart(16, 'f')}"`));
      site.requests.length = 0;
      await page.evaluate(async () => {
        const changed = new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done));
        await (await navigator.serviceWorker.ready).update();
        await changed;
        // It takes over before it has deleted what it replaces.
        const taken = navigator.serviceWorker.controller as ServiceWorker;
        while (taken.state === 'activating') await new Promise((done) => taken.addEventListener('statechange', done));
      });
      expect(site.requests.filter((path) => path !== 'service_worker.js')).toEqual(['icon.svg']);
      expect(await builds()).toEqual([before, expect.stringContaining(String(build).padStart(16, 'f'))]);
    }
    await page.context().close();
  });
});
