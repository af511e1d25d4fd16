// onnxruntime-web in chapter 12: a page without its files says so; with them it is loaded when asked for, under a strict
// policy, its numbers are compared with ours before they are timed, and it works offline afterwards. The files are those
// of tests/bench, where they are installed (npm run build -- onnxruntime).

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onnxruntimeFiles, onnxruntimeInstalled } from '../../../../scripts/build/onnxruntime.js';
import { OnnxGraph } from '../../../bench/onnx/graph.js';
import { isolation, strictPolicy } from '../page_server.js';
import { Site, settled } from '../site.js';
import { drawn } from './reader.js';

const address = 'cost?view=time&d=64';
const manifest = 'onnxruntime/manifest.json';
const asked = (requests: readonly string[]): string[] =>
  requests.filter((path) => path.startsWith('onnxruntime/') && path !== manifest);

const button = (page: Page) => page.getByRole('button', { name: /onnxruntime-web/ });
const noteOf = async (page: Page): Promise<string> => {
  await settled(page);
  return (await page.locator('p.beside').allTextContents()).join().trim();
};
/** Times by series: three layers, and attention in onnxruntime-web as the second of four. */
const timesOf = async (page: Page): Promise<number[][]> => {
  await settled(page);
  const [{ dims: [rows = 0, columns = 0] = [], data } = { data: [] }] = await drawn(page);
  return Array.from({ length: rows }, (_, row) => data.slice(row * columns, (row + 1) * columns));
};

let site: Site;

describe('a page without onnxruntime-web', () => {
  beforeAll(async () => {
    site = await Site.start();
    site.replaced.set(manifest, '{}');
  });

  it('does not offer it, and says why it is not there', async () => {
    const { page, complaints } = await site.open({}, address);
    expect(await button(page).count()).toBe(0);
    expect(await noteOf(page)).toBe('');
    await site.go(page, `${address}&beside=onnxruntime`);
    expect(await noteOf(page)).toContain('built without onnxruntime-web');
    const times = await timesOf(page);
    expect(times).toHaveLength(3);
    const told = await page.locator('cost-plot').getByRole('img').getAttribute('aria-label');
    expect(told?.match(/n = \d+: [\d.]+ ms/g)).toHaveLength(times.flat().filter((time) => !Number.isNaN(time)).length);
    expect(asked(site.requests)).toEqual([]);
    expect(complaints).toEqual([]);
    await site.stop();
  });
});

describe.skipIf(!onnxruntimeInstalled())('a page with onnxruntime-web', () => {
  const files = onnxruntimeInstalled() ? onnxruntimeFiles() : new Map<string, Buffer>();

  describe.each([
    ['with isolation', isolation],
    ['without isolation', {}],
  ])('a strict policy, %s', (_, headers) => {
    beforeAll(async () => {
      site = await Site.start({ ...headers, ...strictPolicy });
    });
    beforeEach(() => {
      for (const [path, content] of files) site.replaced.set(path, content);
      site.requests.length = 0;
    });

    it('loads and times it when the reader asks for it', async () => {
      const { page, complaints } = await site.open({}, address);
      expect(await timesOf(page)).toHaveLength(3);
      expect(asked(site.requests)).toEqual([]);
      await button(page).click();
      const difference = /differ from ours by at most (\S+) of/.exec(await noteOf(page))?.[1];
      expect(Number(difference)).toBeGreaterThan(0); // other orders of summation
      expect(Number(difference)).toBeLessThan(1e-5);
      const [ours, theirs, ...others] = await timesOf(page);
      expect(others).toHaveLength(2);
      for (const times of [ours, theirs]) {
        expect(times?.length).toBe(6);
        expect(times?.slice(0, 5).every((time) => time > 0 && time < 10_000)).toBe(true);
      }
      expect(await button(page).getAttribute('aria-pressed')).toBe('true');
      expect(asked(site.requests).length).toBe(3);
      await button(page).click();
      expect(await timesOf(page)).toHaveLength(3);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('refuses to time it when its numbers are others', async () => {
      const other = new OnnxGraph();
      const parts = ['q', 'k', 'v'].map((name) => other.input(name, 'float32', [1, 'n', 'd']));
      other.output('y', 'float32', [1, 'n', 'd']);
      other.contributed('MultiHeadAttention', parts, ['y'], { num_heads: 2 });
      const graph = [...files.keys()].find((path) => path.endsWith('.onnx')) ?? '';
      site.replaced.set(graph, Buffer.from(other.serialised()));
      const { page, complaints } = await site.open({}, `${address}&beside=onnxruntime`);
      expect(await noteOf(page)).toMatch(/is not measured: onnxruntime-web computes other numbers: 0\.\d+/);
      expect(await timesOf(page)).toHaveLength(3);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('says what happened without a network, and works without one afterwards', async () => {
      const { page } = await site.open({ serviceWorkers: 'allow' }, 'next');
      await page.evaluate(async () => {
        await navigator.serviceWorker.ready;
        while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 20));
      });
      await site.go(page, address);
      await page.context().setOffline(true);
      await button(page).click();
      expect(await noteOf(page)).toMatch(/^onnxruntime-web is not measured: .+ offline from then on\.$/);
      await page.context().setOffline(false);
      await page.getByRole('button', { name: 'Measure again' }).click();
      expect(await timesOf(page)).toHaveLength(4);
      await page.context().setOffline(true);
      await page.reload();
      expect(await timesOf(page)).toHaveLength(4);
      await page.context().close();
    });
    afterAll(() => site.stop());
  });
});
