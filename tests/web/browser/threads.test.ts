// Threads in Chromium: on a cross-origin isolated page, and the reason for a single one on others.

import { availableParallelism } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from './chromium.js';
import { isolation } from './page_server.js';
import { runInPage, withPage } from './project_page.js';
import { Site } from './site.js';

const model = '/web/demo/public/models/stories260K';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

interface Told {
  threads: { used: number; reason: string };
  simd: string;
  digest: string;
}

/**
 * Loads a model in the page, runs it forwards and backwards, and returns its runtime information and a hash of the
 * numbers.
 */
async function tell(page: Page, options: Record<string, unknown>, entry = 'index'): Promise<Told> {
  const program = async ([entry, model, options]: [string, string, Record<string, unknown>]) => {
    const { AutoModelForCausalLM } = await import(`/dist/${entry}.js`);
    const loaded = await AutoModelForCausalLM.from_pretrained(model, options);
    const row = (r: number) => Array.from({ length: 100 }, (_, column) => 3 + ((r * 131 + column * 17) % 500));
    const input_ids = Array.from({ length: 16 }, (_, r) => row(r));
    const { logits } = await loaded({ input_ids });
    const hook = 'blocks.0.hook_resid_pre';
    const asked = { metric: { logits: [{ token: 3 }] }, with_respect_to: { hooks: hook } };
    const { grad } = await loaded.backward({ input_ids }, asked); // in a part of the WASM
    const { threads, simd } = loaded.info();
    const hash = await crypto.subtle.digest('SHA-256', await new Blob([logits.data, grad[hook].data]).arrayBuffer());
    await loaded.dispose();
    return { threads, simd, digest: new Uint8Array(hash).join() };
  };
  return runInPage(page, program, [entry, model, options]);
}

describe('on an isolated page', () => {
  it.each([false, true])('every number of threads gives the same bits (worker: %s)', async (worker) => {
    await withPage(browser, isolation, async (page) => {
      for (const deterministic of [false, true]) {
        const alone = await tell(page, { worker, deterministic, numThreads: 1 });
        expect(alone.threads).toEqual({ used: 1, reason: 'numThreads is 1' });
        for (const numThreads of [2, 3, 8]) {
          const together = await tell(page, { worker, deterministic, numThreads });
          expect(together).toEqual({ ...alone, threads: { used: numThreads, reason: `numThreads is ${numThreads}` } });
        }
      }
    });
  });

  it('loads files in memory that threads share', async () => {
    const program = async (folder: string) => {
      const { AutoModelForCausalLM, AutoTokenizer } = await import('/dist/index.js' as string);
      const files: Record<string, Uint8Array> = {};
      for (const name of ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']) {
        const bytes = new Uint8Array(await (await fetch(`${folder}/${name}`)).arrayBuffer());
        files[name] = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
        files[name]?.set(bytes);
      }
      const tokenizer = await AutoTokenizer.from_pretrained(files);
      const texts: string[] = [];
      for (const worker of [false, true]) {
        const loaded = await AutoModelForCausalLM.from_pretrained(files, { worker });
        texts.push(...tokenizer.batch_decode(await loaded.generate(tokenizer('Once'), { max_new_tokens: 3 })));
        await loaded.dispose();
      }
      return texts;
    };
    const texts = await withPage(browser, isolation, (page) => runInPage(page, program, model));
    expect(texts).toEqual(['<s> Once upon a time', '<s> Once upon a time']);
  });

  it('there are as many as processors, four at most', async () => {
    await withPage(browser, isolation, async (page) => {
      const { used, reason } = (await tell(page, {})).threads;
      expect(used).toBe(Math.min(availableParallelism(), 4));
      expect(reason).toContain("'auto'");
    });
  });

  it('the inline entry has threads, too', async () => {
    await withPage(browser, isolation, async (page) => {
      const alone = await tell(page, { numThreads: 1, deterministic: true });
      for (const worker of [false, true]) {
        const { threads, digest } = await tell(page, { worker, numThreads: 2 }, 'inline');
        expect([threads.used, digest]).toEqual([2, alone.digest]);
      }
    });
  });

  it('dispose ends their workers', async () => {
    await withPage(browser, isolation, async (page) => {
      const seen = new Set<string>();
      page.on('worker', (worker) => seen.add(worker.url()));
      await tell(page, { worker: false, numThreads: 3 });
      expect(seen.size).toBeGreaterThan(0);
      await vi.waitUntil(() => page.workers().length === 0, { timeout: 10_000 });
    });
  });

  it.each([
    ['script is not to be found', isolation, /worker\.js$/],
    ['script the page forbids', { ...isolation, 'content-security-policy': "worker-src 'none'" }, undefined],
  ])('there is one where the %s, and the reason told', async (_, headers, missing) => {
    await withPage(
      browser,
      headers,
      async (page) => {
        const { threads, digest } = await tell(page, { worker: false, numThreads: 2 });
        expect(threads.used).toBe(1);
        expect(threads.reason).toContain('could not be started');
        expect(digest).toBe((await tell(page, { worker: false, numThreads: 1 })).digest);
      },
      missing,
    );
  });
});

describe('on any other page', () => {
  it.each(['auto', 2])('there is one and the reason told (numThreads: %s)', async (numThreads) => {
    await withPage(browser, {}, async (page) => {
      for (const worker of [false, true]) {
        const { threads } = await tell(page, { worker, numThreads });
        expect(threads.used).toBe(1);
        expect(threads.reason).toContain('not cross-origin isolated');
        expect(threads.reason).toContain('Cross-Origin-Embedder-Policy');
      }
    });
  });

  it('the demo works as it does with threads', async () => {
    for (const headers of [{}, isolation]) {
      const site = await Site.start(headers);
      const { page, complaints } = await site.open();
      expect(await page.evaluate('crossOriginIsolated')).toBe('cross-origin-opener-policy' in headers);
      expect(complaints).toEqual([]);
      await site.stop();
    }
  });
});
