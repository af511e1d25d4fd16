// Elements with a model: they load it once, show the library's results, and report progress and errors as text.

import { fileURLToPath } from 'node:url';
import { AutoModelForCausalLM, AutoTokenizer, logitLens, type Tensor } from 'clearformer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pageText } from '../support/pages.js';
import { launchChromium } from './chromium.js';
import { withElements } from './elements_page.js';

const folder = fileURLToPath(new URL('../../../web/demo/public/models/stories260K', import.meta.url));
const model = '/web/demo/public/models/stories260K';
const text = 'Lily went to the park.';
/** The loader requests files that a folder may lack. */
const missing = /404/;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Creates an element by attributes only, as in HTML. */
async function write(page: Page, tag: string, attributes: Record<string, string>): Promise<void> {
  await page.evaluate(
    ([name, given]) => {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
      document.body.append(element);
    },
    [tag, attributes] as const,
  );
}

const softmax = (logits: ArrayLike<number>): number[] => {
  const most = Math.max(...Array.from(logits));
  const powers = Array.from(logits, (x) => Math.exp(x - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};

it('show what the library computes, of one model', async () => {
  const tokenizer = await AutoTokenizer.from_pretrained(folder);
  const reference = await AutoModelForCausalLM.from_pretrained(folder, { deterministic: true });
  const inputs = tokenizer(text);
  const hook = 'blocks.2.attn.hook_pattern' as const;
  const [logits, cache] = await reference.run_with_cache(inputs, { names_filter: hook });
  const pattern = (cache[hook] as Tensor<'float32'>).slice(0, 4);
  const shares = softmax(logits.slice(0, -1).data);
  const lens = await logitLens(reference, inputs, { pos: -1 });
  await withElements(
    browser,
    async (page) => {
      await write(page, 'cf-attention', { model, text, layer: '2', head: '4' });
      await write(page, 'cf-bars', { model, text, top: '5' });
      const told = await page.evaluate(async () => {
        const shadow = document.querySelector('cf-bars')?.shadowRoot as ShadowRoot;
        const [statuses, whole] = [new Set<string>(), [] as string[]];
        new MutationObserver(() => {
          whole.push(shadow.querySelector('.status')?.textContent ?? '');
          for (const { textContent } of shadow.querySelectorAll('[role=status]')) statuses.add(textContent ?? '');
        }).observe(shadow, { subtree: true, childList: true, characterData: true });
        while (!shadow.querySelector('[role=option]')) await new Promise((done) => setTimeout(done, 10));
        return { statuses: [...statuses], whole: whole.join('\n') };
      });
      expect(['Loading the model …', 'Computing …']).toEqual(expect.arrayContaining(told.statuses));
      expect(told.whole).toMatch(/ MB/);
      await write(page, 'cf-lens', { model, text });
      await write(page, 'cf-tokens', { model, text, ids: '' });
      await page.locator('cf-attention cf-matrix [role=gridcell]').first().waitFor();
      await page.locator('cf-bars [role=option]').first().waitFor();
      await page.locator('cf-lens [role=gridcell]').first().waitFor();
      await page.locator('cf-tokens [role=option]').first().waitFor();
      const seen = await page.evaluate(() => {
        const attention = document.querySelector('cf-attention') as HTMLElementTagNameMap['cf-attention'];
        const bars = document.querySelector('cf-bars') as HTMLElementTagNameMap['cf-bars'];
        const grid = document.querySelector('cf-lens') as HTMLElementTagNameMap['cf-lens'];
        const strip = document.querySelector('cf-tokens') as HTMLElementTagNameMap['cf-tokens'];
        return {
          source: attention.source,
          dims: attention.numbers?.dims,
          weights: Array.from(attention.numbers?.data ?? []),
          bars: bars.items,
          barsFrom: bars.source,
          last: grid.cells.map((row) => row.at(-1)),
          tokens: strip.tokens,
        };
      });
      expect(page.workers()).toHaveLength(1); // each model has one of its own
      expect(seen.source).toBe('blocks.2.attn.hook_pattern[0, 4]');
      expect(seen.dims).toEqual(pattern.dims);
      seen.weights.forEach((weight, i) => {
        expect(weight).toBeCloseTo(pattern.data[i] as number, 5); // relaxed SIMD may round differently
      });
      expect(seen.bars).toHaveLength(5);
      expect(seen.bars[0]?.label).toBe(' She');
      expect(seen.bars[0]?.value).toBeCloseTo(Math.max(...shares), 5);
      expect(seen.barsFrom).toBe('softmax(logits[0, 9])');
      const words = lens.dims.at(-1) ?? 0;
      seen.last.forEach((cell, layer) => {
        const row = softmax(lens.data.subarray(layer * words, (layer + 1) * words));
        expect(cell?.probability).toBeCloseTo(Math.max(...row), 4);
      });
      expect(seen.tokens.map(({ id }) => id)).toEqual(tokenizer.encode(text));
      expect(seen.tokens.map((token) => token.text).join('')).toContain(text);
      // Future keys are hatched, and the pointed cell is read out.
      const map = page.locator('cf-attention');
      expect(await map.locator('[role=gridcell] rect[fill="url(#hatch)"]').count()).toBe(45);
      await map.locator('#cell-7-6 rect').hover();
      expect(await map.locator('.read').innerText()).toMatch(/^ar → p\s+0\.944\d$/);
    },
    {},
    missing,
  );
  await reference.dispose();
});

it('follow their attributes, and show the last that was asked for', async () => {
  await withElements(
    browser,
    async (page) => {
      await write(page, 'cf-bars', { model, text: 'Once upon a', top: '1' });
      await page.evaluate(() => document.querySelector('cf-bars')?.setAttribute('text', 'Once upon'));
      await page.evaluate(() => document.querySelector('cf-bars')?.setAttribute('text', 'Once upon a'));
      const first = page.locator('cf-bars [role=option]').first();
      await first.waitFor();
      expect(await first.textContent()).toMatch(/^\s*time, /);
      await page.evaluate(() => Object.assign(document.querySelector('cf-bars') as object, { top: '2' })); // as React
      await page.locator('cf-bars [role=option]').nth(1).waitFor();
    },
    {},
    missing,
  );
});

it.each([
  ['cf-attention', { model, text, layer: '9' }, 'there is no layer 9, only 0 to 4'],
  ['cf-attention', { model, text, head: '8' }, 'there is no head 8, only 0 to 7'],
  ['cf-attention', { model, text, head: 'first' }, 'cf-attention: head needs a number of 0 to 7'],
  ['cf-bars', { model: '/web/demo/public/models/marian-tiny-en-fr', text }, 'needs a model that continues texts'],
  ['cf-bars', { model, text, top: '-1' }, 'top needs a number of guesses, from 1 on'],
  ['cf-bars', { model, text, top: 'ten' }, 'top needs a number of guesses, from 1 on'],
  ['cf-tokens', { model: '/nowhere', text }, '/nowhere/'],
  ['cf-lens', { model: 'not a model', text }, "'not a model' is neither a Hub id"],
])('%s of %o says what is wrong', async (tag, attributes, fault) => {
  await withElements(
    browser,
    async (page) => {
      await write(page, tag, attributes as Record<string, string>);
      const alert = page.locator(`${tag} [role=alert]`);
      await alert.waitFor();
      expect(await alert.innerText()).toContain(fault);
    },
    {},
    missing,
  );
});

it('a model that is taken away leaves neither its results nor its error', async () => {
  await withElements(
    browser,
    async (page) => {
      const seen = await page.evaluate(
        async ([folder, written]) => {
          const own = { numbers: { dims: [1, 1], data: [1] }, source: 'own', tokens: [{ text: 'own' }] };
          const lens = { cells: [[{ token: 'own', probability: 1 }]], source: 'own' };
          const given = {
            'cf-attention': own,
            'cf-bars': { items: [{ label: 'own', value: 1 }], source: 'own' },
            'cf-lens': lens,
            'cf-tokens': { tokens: own.tokens },
          };
          const found: string[] = [];
          for (const [tag, data] of Object.entries(given)) {
            for (const model of [folder, '/nowhere']) {
              const element = (await window.bench.make(tag, {
                model,
                text: written,
              })) as HTMLElementTagNameMap['cf-bars'];
              const shadow = element.shadowRoot as ShadowRoot;
              if (model !== folder) {
                while (!shadow.querySelector('[role=alert]')) await new Promise((done) => setTimeout(done, 10));
              }
              Object.assign(element, data, { model: undefined });
              await element.updateComplete;
              const left = shadow.querySelectorAll('[role=alert], [role=status]').length;
              const shown = (shadow.querySelector('cf-matrix') ?? element).shadowRoot?.querySelector(
                '[role=grid], [role=listbox]',
              );
              if (left > 0 || !shown) found.push(`${tag} ${model}`);
            }
            const drawn = '[role=grid], [role=listbox], cf-matrix';
            const loaded = (await window.bench.make(tag, {
              model: folder,
              text: written,
            })) as HTMLElementTagNameMap['cf-bars'];
            const inside = loaded.shadowRoot as ShadowRoot;
            while (!inside.querySelector(drawn)) await new Promise((done) => setTimeout(done, 10));
            loaded.model = undefined;
            await loaded.updateComplete;
            if (inside.querySelector(drawn)) found.push(`${tag} keeps its results`);
          }
          const map = document.querySelector(
            'cf-attention:nth-last-of-type(1)',
          ) as HTMLElementTagNameMap['cf-attention'];
          map.numbers = { dims: [2, 3], data: [1, 2, 3, 4, 5, 6] }; // of other tokens, none of them masked
          await map.updateComplete;
          if (map.shadowRoot?.querySelector('[role=alert]') || map.masked) found.push('cf-attention keeps its tokens');
          return found;
        },
        [model, text] as const,
      );
      expect(seen).toEqual([]);
    },
    {},
    missing,
  );
});

it('a figure of the page is framed by its link, as high as it says', async () => {
  await withElements(
    browser,
    async (page) => {
      await write(page, 'cf-figure', { address: '/build/none.html#/head?q=6&step=2', label: 'one head' });
      const frame = page.locator('cf-figure iframe');
      expect(await frame.getAttribute('src')).toMatch(/^http.*\/build\/none\.html#\/head\?q=6&step=2&embed=1$/);
      expect(await frame.getAttribute('title')).toBe('one head');
      await page.frames()[1]?.evaluate(() => parent.postMessage({ type: 'clearformer-figure', height: 123 }, '*'));
      await expect.poll(() => frame.evaluate((each) => each.clientHeight)).toBe(123);
      await page.evaluate(() => postMessage({ type: 'clearformer-figure', height: 999 }, '*')); // from another window
      await write(page, 'cf-figure', { address: 'javascript:alert(1)' });
      expect(await page.locator('cf-figure [role=alert]').innerText()).toContain('is no web address');
      expect(await frame.evaluate((each) => each.clientHeight)).toBe(123);
    },
    {},
    missing,
  );
});

it('the examples in HTML draw what they say', async () => {
  const blocks = [...pageText('elements.md').matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, body = '']) => body);
  expect(blocks.length).toBeGreaterThan(5);
  const body = blocks
    .join('')
    .replace(/<script[\s\S]*?<\/script>/g, '')
    .replaceAll('./models/', '/web/demo/public/models/');
  await withElements(
    browser,
    async (page) => {
      await page.evaluate((markup) => document.body.insertAdjacentHTML('beforeend', markup), body);
      await page.waitForFunction(() => {
        const elements = [...document.body.querySelectorAll('*')].filter(({ localName }) =>
          localName.startsWith('cf-'),
        );
        const parts = '[role=gridcell], [role=option], iframe, cf-matrix';
        return elements.every((each) => each.shadowRoot?.querySelector(parts));
      });
      expect(await page.locator('[role=alert]').count()).toBe(0);
      expect(await page.locator('cf-bars [role=option]').count()).toBe(5);
    },
    { bypassCSP: true }, // waitForFunction is an eval
    missing,
  );
});
