// Tokenizers in a real Chromium, whose Unicode version may differ from Node's: every code point, and the ten thousand
// lines. Each tokenizer takes every fourth block of code points and every fourth line, in turn, so that each of them is
// seen by a fourth of the tokenizers: tests/web/tokenizer_unicode.test.ts and tokenizer_sample.test.ts compare all of them
// with all, under Node. EVERY_PLANE=1 does so here.

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Case, casesOf } from '../support/references.js';
import { hashesOf, jsonOf, sample, sampleCases } from '../support/sample.js';
import { launchChromium } from './chromium.js';

type Lines = typeof import('../support/sample_lines.js');
type Blocks = typeof import('../support/unicode_blocks.js');
type Tokenizers = typeof import('clearformer/tokenizer');

const every = process.env.EVERY_PLANE !== undefined;
const which = every ? 'all' : 'assigned';
const of = every ? 1 : 4;

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
  const cases = casesOf('tokenizer_unicode').map((one, turn) => ({ ...one, turn }));
  it.each(cases)('$name', async ({ turn, ...one }) => {
    const { change, checksums } = one as Case;
    const wrong = await nextPage().evaluate(
      ({ change, checksums, which, share }) =>
        tested.wrongBlocks(tested.PreTrainedTokenizer, change, checksums, which, share),
      { change: change as object, checksums: checksums as number[], which, share: { turn, of } } as const,
    );
    expect(wrong).toEqual([]);
  });
});

describe.concurrent('the sample', () => {
  const cases = sampleCases().map((one, i) => ({ ...one, turn: i % of }));
  it.each(cases)('$name', async ({ turn, ...one }) => {
    const given = { json: jsonOf(one), step: of * one.every, first: turn * one.every };
    const hashes = hashesOf(one).filter((_, i) => i % of === turn);
    const wrong = await nextPage().evaluate(
      (given) => {
        const { json, step, first, hashes } = JSON.parse(given);
        const lines = tested.sample.filter((_, i) => i % step === first);
        return tested.wrongLines(new tested.PreTrainedTokenizer(json), lines, hashes);
      },
      // One string: a driver serialises objects and long lists slowly.
      JSON.stringify({ ...given, hashes }),
    );
    expect(wrong).toEqual([]);
  });
});
