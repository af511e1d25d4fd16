// Tokenizers in a real Chromium, whose Unicode version may differ from Node's: every code point, and the ten thousand
// lines.

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../support/references.js';
import { hashesOf, jsonOf, sample, sampleCases } from '../support/sample.js';
import { launchChromium } from './chromium.js';

type Lines = typeof import('../support/sample_lines.js');
type Blocks = typeof import('../support/unicode_blocks.js');
type Tokenizers = typeof import('clearformer/tokenizer');
declare global {
  var tested: Lines & Blocks & Tokenizers & { sample: readonly string[] };
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const script = `
  import { PreTrainedTokenizer } from ${JSON.stringify(here('../../../dist/tokenizer.js'))};
  import { wrongLines } from ${JSON.stringify(here('../support/sample_lines.ts'))};
  import { wrongBlocks } from ${JSON.stringify(here('../support/unicode_blocks.ts'))};
  globalThis.tested = { PreTrainedTokenizer, wrongLines, wrongBlocks };`;

let browser: Browser;
const pages: Page[] = []; // one per core, in rotation
let turn = 0;
const nextPage = () => pages[turn++ % pages.length] as Page;
beforeAll(async () => {
  const bundle = await build({
    stdin: { contents: script, resolveDir: here('.') },
    bundle: true,
    format: 'iife',
    write: false,
    platform: 'browser',
  });
  browser = await launchChromium();
  for (let i = 0; i < availableParallelism(); i++) {
    const page = await browser.newPage();
    await page.addScriptTag({ content: bundle.outputFiles[0]?.text ?? '' });
    await page.evaluate((lines) => Object.assign(tested, { sample: JSON.parse(lines) }), JSON.stringify(sample));
    pages.push(page);
  }
});
afterAll(() => browser.close());

describe.concurrent('every code point', () => {
  it.each(casesOf('tokenizer_unicode'))('$name', async ({ change, checksums }) => {
    const wrong = await nextPage().evaluate(
      ({ change, checksums }) => tested.wrongBlocks(tested.PreTrainedTokenizer, change, checksums, 'assigned'),
      { change: change as object, checksums: checksums as number[] },
    );
    expect(wrong).toEqual([]);
  });
});

describe.concurrent('the sample', () => {
  it.each(sampleCases())('$name', async (one) => {
    const wrong = await nextPage().evaluate(
      (given) => {
        const { json, every, hashes } = JSON.parse(given);
        const lines = tested.sample.filter((_, i) => i % every === 0);
        return tested.wrongLines(new tested.PreTrainedTokenizer(json), lines, hashes);
      },
      // One string: a driver serialises objects and long lists slowly.
      JSON.stringify({ json: jsonOf(one), every: one.every, hashes: hashesOf(one) }),
    );
    expect(wrong).toEqual([]);
  });
});
