// Chapter 5 as a reader uses it: painting cells by pointer and keyboard, and running the model with the mask.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const causal = 'scaled_dot_product_attention(q, k, v, { mask: Mask.causal(), need_weights: true })[1]';
const painted = 'scaled_dot_product_attention(q, k, v, { mask: Mask.allow(rows), need_weights: true })[1]';

/** The middle of a cell of the mask on the screen. */
async function middle(page: Page, row: number, column: number): Promise<{ x: number; y: number }> {
  return page.locator('mask-canvas cf-matrix').evaluate(
    (matrix, [r, c]) => {
      const { x, y, width, height } = (matrix as HTMLElement & { cellBox(r: number, c: number): DOMRect }).cellBox(
        r as number,
        c as number,
      );
      return { x: x + width / 2, y: y + height / 2 };
    },
    [row, column],
  );
}

describe('chapter 5', () => {
  it('paints cells by a press and by dragging, keeps them in the link, and takes them back', async () => {
    const { page, complaints } = await site.visit('masks');
    const before = (await numbersOf(page, causal)).data;
    const [from, to] = [await middle(page, 7, 4), await middle(page, 7, 6)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 8 });
    await page.mouse.up();
    await settled(page);
    const { data } = await numbersOf(page, painted);
    expect([74, 75, 76].map((i) => data[i])).toEqual([0, 0, 0]);
    expect(data.slice(70, 80).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
    expect(data.slice(0, 70)).toEqual(before.slice(0, 70));
    await page.reload();
    await settled(page);
    expect((await numbersOf(page, painted)).data).toEqual(data);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, causal)).data).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('turns cells over by keyboard', async () => {
    const { page, complaints } = await site.visit('masks?q=7');
    await page.locator('mask-canvas').getByRole('grid').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await settled(page);
    expect((await numbersOf(page, painted)).data[76]).toBe(0);
    expect(await shownText(page)).toContain('ar may not read p');
    expect(complaints).toEqual([]);
  });

  it('puts the mask on the running model', async () => {
    const { page } = await site.visit('masks?step=1');
    const text = await shownText(page);
    const odds = /She 75\.0 % → ([\d.]+) %/.exec(text);
    expect(Number(odds?.[1])).toBeLessThan(20);
    await page.getByRole('button', { name: 'Causal', exact: true }).click();
    await settled(page);
    expect(await shownText(page)).toContain('She 75.0 % → 75.0 %'); // the model's own mask changes nothing
  });

  it('says which masks a library cannot express', async () => {
    const { page } = await site.visit('masks?step=7');
    expect((await drawn(page)).length).toBe(4);
    await page.getByRole('button', { name: 'Without a word' }).click();
    await settled(page);
    expect((await drawn(page)).length).toBe(2);
    expect(await shownText(page)).toContain('It counts keys from the left');
  });

  it('shows all its views on a phone', async () => {
    const { page, complaints } = await site.open({ viewport: { width: 390, height: 844 } }, 'masks');
    for (const step of [0, 5, 6, 7]) {
      await site.go(page, `masks?step=${step}`);
      expect((await drawn(page)).length, `step ${step}`).toBeGreaterThan(1);
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    const rows = page.locator('cf-matrix').filter({ hasNot: page.getByRole('row').nth(1) });
    const digits = await rows.evaluateAll((all) =>
      all.map((row) => (row as HTMLElement & { digitSize: number }).digitSize),
    );
    expect(digits.map((size) => size > 0)).toEqual([true, true]);
    expect(await shownText(page)).toContain('true (1): may not look');
    expect(complaints).toEqual([]);
  });

  it('reads a text as long as the context, and draws and paints a window of it', async () => {
    const text = `t=${encodeURIComponent('Lily went to the park. '.repeat(60).trim())}`;
    const { page, complaints } = await site.visit(`masks?${text}&q=400`);
    expect(await shownText(page)).toContain('tokens 393 to 404 of 512');
    const part =
      'scaled_dot_product_attention(q, k, v, { mask: Mask.causal(), need_weights: true })[1][392:404, 392:404]';
    const window = await numbersOf(page, part);
    expect(window.dims).toEqual([12, 12]);
    await site.go(page, `head?${text}&q=400`); // the same head in chapter 4, with the model's causal mask
    const head = (await drawn(page)).find(({ source }) => source.startsWith('blocks.2.attn.hook_pattern[0, 4, '));
    const [from = 0] =
      /(\d+):/
        .exec(head?.source.split('[0, 4, ')[1] ?? '')
        ?.slice(1)
        .map(Number) ?? [];
    const [at, columns] = [400 - from, head?.dims[1] ?? 0];
    const both = Array.from({ length: 401 - 392 }, (_, i) => i + 392).filter(
      (key) => key >= from && key < from + columns,
    );
    expect(both.length).toBeGreaterThan(5);
    for (const key of both) {
      expect(window.data[8 * 12 + key - 392]).toBeCloseTo(head?.data[at * columns + key - from] ?? Number.NaN, 5);
    }
    await site.go(page, `masks?${text}&q=400`);
    const [from7, to9] = [await middle(page, 8, 2), await middle(page, 8, 4)];
    await page.mouse.move(from7.x, from7.y);
    await page.mouse.down();
    await page.mouse.move(to9.x, to9.y, { steps: 6 });
    await page.mouse.up();
    await settled(page);
    expect(new URL(page.url()).hash).toMatch(/rows=causal,400:[0-9a-z]+(&|$)/);
    const now = await numbersOf(page, `${part.replace('Mask.causal()', 'Mask.allow(rows)')}`);
    expect(now.data.slice(8 * 12 + 2, 8 * 12 + 5)).toEqual([0, 0, 0]);
    expect(now.data.slice(0, 8 * 12)).toEqual(window.data.slice(0, 8 * 12));
    await page.getByRole('button', { name: 'all heads of all layers' }).click();
    await settled(page);
    expect(await shownText(page)).toMatch(/[\d.]+ % → [\d.]+ %/);
    expect(complaints).toEqual([]);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('masks');
    await answerQuestion(page, 'hidden', '50', 'wrong');
    await answerQuestion(page, 'hidden', '45', 'right');
    await answerQuestion(page, 'polarity', { option: 'attention_mask' }, 'wrong');
    await answerQuestion(page, 'polarity', { option: 'MultiheadAttention' }, 'right');
    await answerQuestion(page, 'alone', undefined, 'wrong');
  });
});
