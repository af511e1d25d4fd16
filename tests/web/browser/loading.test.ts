// Downloads in a browser: cached in pieces, found again, repaired, resumed, in two tabs at once, and without storage
// space.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { largeStories } from '../support/checkpoints.js';
import { Hub } from '../support/hub.js';
import { FileServer } from '../support/server.js';
import { launchChromium } from './chromium.js';
import { runInPage, serveProject } from './project_page.js';

const mb = 1 << 20;

const files = largeStories();
let browser: Browser;
let site: Awaited<ReturnType<typeof serveProject>>;
let hub: Hub;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  site = await serveProject({});
});
afterAll(async () => {
  await browser.close();
  site.server.close();
});
beforeEach(async () => {
  hub = await Hub.start({ ...files });
  context = await browser.newContext();
  page = await opened();
});
afterEach(async () => {
  await context.close();
  await hub.stop();
});

async function opened(): Promise<Page> {
  const made = await context.newPage();
  await made.goto(site.url);
  return made;
}

interface Told {
  logits: number;
  values: number[];
  warnings: string[];
  listed: unknown;
  error: string;
}

/** Loads the model in a page and runs it. */
const load = (where = page, options: object = {}, id = hub.id): Promise<Told> =>
  runInPage(
    where,
    async ({ url, id, options: given }) => {
      const path = new URL('dist/index.js', location.href).href;
      const { AutoModelForCausalLM, configure, listCache } = await import(/* @vite-ignore */ path);
      const warnings: string[] = [];
      const onWarning = ({ code, message }: { code: string; message: string }) => warnings.push(`${code} ${message}`);
      configure({ remoteHost: url, retryDelay: 5, onWarning });
      let values: number[] = [];
      let error = '';
      try {
        const model = await AutoModelForCausalLM.from_pretrained(id, given);
        values = [...(await model({ input_ids: [[1, 403]] })).logits.data];
        await model.dispose();
      } catch (thrown) {
        error = `${(thrown as { code: string }).code} ${(thrown as Error).message}`;
      }
      return { logits: values.length, values, warnings, listed: await listCache(), error };
    },
    { url: hub.url, id, options },
  );
const fine = { logits: 2 * 512, warnings: [], error: '' };

describe('in a browser', () => {
  it('a second load fetches nothing, not even in another tab, and a commit is not even asked about', async () => {
    expect(await load()).toMatchObject(fine);
    hub.seen.length = 0;
    expect(await load(await opened())).toMatchObject(fine);
    expect(hub.downloads).toEqual([]);
    await load(page, { revision: hub.commit });
    hub.seen.length = 0;
    expect(await load(page, { revision: hub.commit })).toMatchObject(fine);
    expect(hub.seen).toEqual([]);
  });

  it('weights that arrive in memory that is used again are those that were sent', async () => {
    const { values } = await load(page, { cache: 'none' });
    await load();
    hub.seen.length = 0;
    expect((await load()).values).toEqual(values); // from the cache, whose pieces are read as a whole
    expect(hub.downloads).toEqual([]);
    expect(new Set(values).size).toBeGreaterThan(values.length / 2);
  });

  it.each([
    [true, 'none'],
    [true, 'auto'],
    ['texts', 'none'],
    ['texts', 'auto'],
  ] as const)('from a server that compresses whatever is asked for (%s, cache: %s)', async (gzip, cache) => {
    const server = await FileServer.start({ ...files }, { gzip, etag: true });
    expect(await load(page, { cache }, server.url)).toMatchObject(fine);
    await server.stop();
  });

  it('small files take one request, and without a cache the weights as well', async () => {
    const lookUps = () =>
      hub.seen.flatMap(({ host, method, path }) =>
        host === 'hub' && method === 'HEAD' ? [path.split('/').at(-1)] : [],
      );
    expect(await load(page, { cache: 'none' })).toMatchObject(fine);
    expect(lookUps()).toEqual([]);
    expect(await load()).toMatchObject(fine);
    expect(lookUps()).toEqual(['model.safetensors']); // another tab may be downloading it
  });

  it('what is kept is listed and cleared', async () => {
    const { listed } = await load();
    const sizes = ['config.json', 'generation_config.json', 'model.safetensors'].map((file) => ({
      file,
      revision: 'main',
      bytes: files[file]?.byteLength,
      complete: true,
    }));
    const bytes = sizes.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
    expect(listed).toMatchObject([{ source: hub.id, bytes }]);
    expect((listed as [{ files: { file: string }[] }])[0].files.sort((a, b) => (a.file < b.file ? -1 : 1))).toEqual(
      sizes,
    );
    const cleared = runInPage(
      page,
      async (source) => {
        const { clearCache, listCache } = await import(/* @vite-ignore */ new URL('dist/index.js', location.href).href);
        return [await clearCache({ source: 'no/such' }), await clearCache({ source }), await listCache()];
      },
      hub.id,
    );
    expect(await cleared).toEqual([0, bytes, []]);
  });

  it.each([0, 1, 2])('a flipped byte in piece %i is found, and that piece fetched again', async (piece) => {
    await load();
    await runInPage(
      page,
      async (wanted) => {
        const cache = await caches.open('clearformer');
        const isWanted = (url: string) =>
          url.includes('model.safetensors') && (new URL(url).searchParams.get('clearformer-piece') ?? '2') === wanted;
        const request = (await cache.keys()).find(({ url }) => isWanted(url)) as Request;
        const answer = (await cache.match(request)) as Response;
        const bytes = new Uint8Array(await answer.arrayBuffer());
        bytes[1000] = 255 - (bytes[1000] ?? 0);
        await cache.put(request, new Response(bytes, { headers: answer.headers }));
      },
      String(piece),
    );
    hub.seen.length = 0;
    const { warnings, ...told } = await load();
    expect(told).toMatchObject({ logits: 2 * 512, error: '' });
    expect(warnings).toEqual([expect.stringContaining('damaged_cache model.safetensors had changed')]);
    const size = files['model.safetensors']?.byteLength ?? 0;
    expect(hub.downloads).toEqual([
      `model.safetensors bytes=${piece * 4 * mb}-${Math.min((piece + 1) * 4 * mb, size) - 1}`,
    ]);
    expect(await load()).toMatchObject(fine);
  });

  it('a download that broke off goes on after a reload', async () => {
    hub.faults.set('model.safetensors', [{ cutAfter: 5 * mb }, { status: 503 }, 'always']);
    expect((await load()).error).toContain('network_error');
    hub.faults.clear();
    hub.seen.length = 0;
    await page.reload();
    expect(await load()).toMatchObject(fine);
    expect(hub.downloads).toEqual([expect.stringMatching(/^model\.safetensors bytes=[1-9]\d*-$/)]); // from where Chromium noticed
  });

  it("the Hub's checksum is compared, although it stands on a redirect", async () => {
    hub.faults.set('model.safetensors', [{ flipAt: 6 * mb }]);
    expect((await load()).error).toMatch(/^integrity_mismatch model.safetensors: SHA-256 is/);
    expect(await load()).toMatchObject(fine);
  });

  it('two tabs at once fetch a file once', async () => {
    const other = await opened();
    const told = await Promise.all([load(), load(other)]);
    expect(told).toMatchObject([fine, fine]);
    expect(hub.downloads.filter((each) => each === 'model.safetensors')).toHaveLength(1);
  });

  it('without room the load goes on, says so, and takes no room', async () => {
    const session = await context.newCDPSession(page);
    const origin = new URL(site.url).origin;
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 6 * mb });
    const { warnings, listed, ...told } = await load();
    expect(told).toMatchObject({ logits: 2 * 512, error: '' });
    expect(warnings).toEqual([expect.stringMatching(/^not_kept model\.safetensors could not be kept in the cache/)]);
    expect((listed as [{ files: { file: string }[] }])[0].files.map(({ file }) => file)).not.toContain(
      'model.safetensors',
    );
  });

  it.each([
    ['forbidden, as in a sandboxed frame', 'forbidden'],
    ['damaged', 'damaged'],
  ])('where the cache is %s, models are loaded without', async (_, how) => {
    await page.evaluate((what) => {
      const refuse = () => {
        throw new DOMException('no', 'SecurityError');
      };
      if (what === 'forbidden') Object.defineProperty(globalThis, 'caches', { get: refuse });
      else {
        Cache.prototype.match = () => Promise.reject(new DOMException('bad', 'UnknownError'));
        Cache.prototype.keys = () => Promise.reject(new DOMException('bad', 'UnknownError'));
      }
    }, how);
    const calls = await runInPage(
      page,
      async ({ url, id }) => {
        const path = new URL('dist/index.js', location.href).href;
        const { AutoModelForCausalLM, clearCache, configure, listCache } = await import(/* @vite-ignore */ path);
        configure({ remoteHost: url, retryDelay: 5 });
        const model = await AutoModelForCausalLM.from_pretrained(id);
        const { logits } = await model({ input_ids: [[1, 403]] });
        const told = (call: Promise<unknown>) => call.catch(({ name, code }) => `${name} ${code}`);
        return [logits.data.length, await told(listCache()), await told(clearCache())];
      },
      { url: hub.url, id: hub.id },
    );
    const refused = 'ClearformerError file_not_found';
    expect(calls).toEqual([fine.logits, ...(how === 'forbidden' ? [[], 0] : [refused, refused])]);
  });

  it('a token goes to the Hub and to no other host', async () => {
    hub.token = 'hf_secret';
    expect(await load(page, { token: 'hf_secret' })).toMatchObject(fine);
    const seen = hub.seen.filter(({ method }) => method !== 'OPTIONS');
    const tokens = (host: string) =>
      new Set(seen.flatMap((each) => (each.host === host ? [each.headers.authorization] : [])));
    expect(tokens('hub')).toEqual(new Set(['Bearer hf_secret']));
    expect(tokens('cdn')).toEqual(new Set([undefined]));
  });
});
