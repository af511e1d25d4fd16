// Quantised weights in Chromium, whose relaxed SIMD dot product is correct: Node 20's is not and is rejected.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from './chromium.js';
import { runInPage, withPage } from './project_page.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Logits of the translator, for a sentence of 24 tokens, in one build and dtype. */
async function logitsOf([dtype, deterministic]: [string, boolean]): Promise<{
  simd: string;
  dotBits: number;
  logits: number[];
}> {
  const entry = '/dist/index.js';
  const { AutoModelForSeq2SeqLM } = await import(entry);
  const folder = '/web/demo/public/models/marian-tiny-en-fr';
  const model = await AutoModelForSeq2SeqLM.from_pretrained(folder, { dtype, deterministic });
  const tokens = (first: number) => [Array.from({ length: 24 }, (_, i) => first + i * 31)];
  const { logits } = await model({ input_ids: tokens(20), decoder_input_ids: tokens(40) });
  const { simd, dotBits } = model.info();
  await model.dispose();
  return { simd, dotBits, logits: Array.from(logits.data) };
}

function distance(a: number[], b: number[]): number {
  const squares = (list: number[]) => list.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(squares(a.map((value, i) => value - (b[i] as number))) / squares(b));
}

// Integer sums are the same in both builds. Other computations differ by roundings of 2^-24, which may
// move an input to the next quantisation step, for few of the inputs: of the largest of a block 1/127 in q4, and in q8 half
// a step of 13 bits, which all matrices of this model but one in each block have.
it.each([
  ['q8', 1 / 4094],
  ['q4', 1 / 127],
] as const)('%s in relaxed SIMD is that of plain SIMD', async (dtype, step) => {
  await withPage(browser, {}, async (page) => {
    const relaxed = await runInPage(page, logitsOf, [dtype, false]);
    const plain = await runInPage(page, logitsOf, [dtype, true]);
    const exact = await runInPage(page, logitsOf, ['fp32', true]);
    expect([relaxed.simd, plain.simd]).toEqual(['relaxed', 'simd128']);
    expect(distance(relaxed.logits, plain.logits)).toBeLessThan(step);
    expect(distance(plain.logits, exact.logits)).toBeGreaterThan(step / 10); // the comparison is not of fp32
  });
});

// As on processors without AVX-VNNI, where V8 compiles relaxed SIMD's product of bytes to five instructions.
it('has the same bits where products of several rows take 16-bit integers instead of bytes', async () => {
  const without = await launchChromium(['--js-flags=--no-enable-avx-vnni --no-enable-avx-vnni-int8']);
  try {
    for (const dtype of ['q8', 'q4']) {
      const [here, there] = await Promise.all(
        [browser, without].map(async (each) => {
          let result: Awaited<ReturnType<typeof logitsOf>> | undefined;
          await withPage(each, {}, async (page) => {
            result = await runInPage(page, logitsOf, [dtype, false]);
          });
          return result;
        }),
      );
      expect(there?.dotBits).toBe(process.arch === 'x64' ? 16 : 8);
      expect(there?.logits).toEqual(here?.logits);
    }
  } finally {
    await without.close();
  }
});
