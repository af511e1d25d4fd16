// Chapter 4 as a reader uses it: typing, undoing and linking numbers; custom matrices; the phone; the questions.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const pattern = 'blocks.2.attn.hook_pattern[0, 4]';
const query = 'blocks.2.attn.hook_rot_q[0, :, 4]';
const weight = async (page: Page, row: number, key: number): Promise<number> =>
  (await numbersOf(page, pattern)).data[row * 10 + key] ?? Number.NaN;

/** Types a number into a cell with the keyboard only. */
async function type(page: Page, matrix: string, value: string): Promise<void> {
  const grid = page.locator(`cf-matrix[data-name="${matrix}"]`).getByRole('grid');
  await grid.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type(value);
  await page.keyboard.press('Enter');
  await settled(page);
}

describe('chapter 4', () => {
  it('runs a typed number through the head and the model, and undoes it', async () => {
    const { page, complaints } = await site.visit('head?step=7&at=Q2&q=7');
    const before = await weight(page, 7, 6);
    expect(before).toBeGreaterThan(0.9);
    await type(page, 'Q', '-9');
    expect((await numbersOf(page, query)).data[7 * 8 + 2]).toBe(-9);
    const after = await weight(page, 7, 6);
    expect(Math.abs(after - before)).toBeGreaterThan(0.05);
    expect(await shownText(page)).toContain('Next token:');
    await page.reload();
    await settled(page);
    expect(await weight(page, 7, 6)).toBe(after);
    await page.getByRole('button', { name: 'As it was' }).click();
    await settled(page);
    expect(await weight(page, 7, 6)).toBe(before);
    await page.goBack();
    await settled(page);
    expect(await weight(page, 7, 6)).toBe(after);
    expect(complaints).toEqual([]);
  });

  it('tells nothing of another d than the address has', async () => {
    const { page } = await site.visit('head?step=3&d=1024');
    expect(await shownText(page)).toContain('Random vectors of 1024 numbers');
    await page.getByRole('button', { name: 'Q, the queries' }).click();
    await settled(page);
    await site.go(page, 'head?step=7');
    expect(await shownText(page)).not.toContain('Random vectors of 1024 numbers');
  });

  it.each(['K', 'V', 'S', 'A'])('takes a number typed into %s', async (matrix) => {
    const at = matrix === 'K' || matrix === 'V' ? `${matrix}6.3` : `${matrix}6`;
    const { page, complaints } = await site.visit(`head?step=7&at=${at}&q=7`);
    await type(page, matrix, '0.5');
    const { data } = await numbersOf(page, 'blocks.2.attn.hook_z[0, :, 4]');
    await page.getByRole('button', { name: 'As it was' }).click();
    await settled(page);
    expect((await numbersOf(page, 'blocks.2.attn.hook_z[0, :, 4]')).data.slice(56, 64)).not.toEqual(data.slice(56, 64));
    expect(complaints).toEqual([]);
  });

  it('reads the projection off the running model: 64 products make the number', async () => {
    const { page } = await site.visit('head?step=0&at=V6.3&q=7');
    const w = 'blocks.2.attn.hook_v[0, :, 2, 3] with blocks.2.ln1.hook_normalized = identity';
    await page.waitForFunction((source) => {
      const figure = document.querySelector('main .figure > *') as HTMLElement & { drawn(): { source: string }[] };
      return figure.drawn().some((one) => one.source === source);
    }, w);
    const weights = (await numbersOf(page, w)).data;
    const x = (await numbersOf(page, 'blocks.2.ln1.hook_normalized[0, 6]')).data;
    const v = (await numbersOf(page, 'blocks.2.attn.hook_v[0, :, 2]')).data[6 * 8 + 3] ?? Number.NaN;
    const sum = x.reduce((total, value, i) => total + value * (weights[i] ?? 0), 0);
    expect(Math.abs(sum - v)).toBeLessThan(1e-5); // 64 products about 1 in float32
  });

  it('takes matrices of any size, and says what does not fit', async () => {
    const { page, complaints } = await site.visit('head');
    await page.getByRole('button', { name: 'Your own Q, K, V' }).click();
    const field = (name: string) => page.getByRole('textbox', { name: new RegExp(`^${name}:`) });
    await field('Q').fill('1 0\n0 1\n1 1');
    await field('K').fill('[[1, 0], [0, x]]');
    await page.getByRole('button', { name: 'Use them' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('K, row 2');
    await field('K').fill('[[1, 0], [0, 1]]');
    for (const [v, told] of [
      ['2\n4\n6', 'K has 2 rows, V has 3'],
      ['2 4', 'K has 2 rows, V has 1'],
    ] as const) {
      await field('V').fill(v);
      await page.getByRole('button', { name: 'Use them' }).click();
      expect(await page.getByRole('alert').textContent()).toContain(told);
      expect(await field('V').inputValue()).toBe(v);
    }
    await field('V').fill('2\n4');
    await page.getByRole('checkbox', { name: 'no looking ahead' }).uncheck();
    await page.getByRole('button', { name: 'Use them' }).click();
    await settled(page);
    const { dims, data } = await numbersOf(page, 'scaled_dot_product_attention(Q, K, V)');
    expect(dims).toEqual([3, 1]);
    expect(data[2]).toBeCloseTo(3, 6);
    expect(complaints).toEqual([]);
  });

  it('tells of shapes that do not go together instead of drawing nothing', async () => {
    const { page } = await site.visit('head?qkv=1+2;3+4|1+2+3|1');
    expect(await page.getByRole('alert').first().textContent()).toMatch(/shape/i);
  });

  it('names its matrices by calls that can be written so', async () => {
    const { page } = await site.visit('head?step=7&qkv=1+2;3+4|1+2;3+4|1;2&causal=1');
    const calls = (await drawn(page)).map(({ source }) => source).filter((source) => source.startsWith('scaled_dot'));
    expect(calls.some((call) => call.includes('{ is_causal: true, need_weights: true }'))).toBe(true);
    for (const call of calls) expect(() => new Function(`return () => ${call}`), call).not.toThrow();
  });

  it.each([390, 1440])('draws no bar for a score beyond float32, at %i px', async (width) => {
    const { complaints } = await site.open(
      { viewport: { width, height: 900 } },
      'head?step=1&qkv=1e38+1e38;1+1|1e38+1e38;1+1|1;2&causal=0&q=0',
    );
    expect(complaints).toEqual([]);
  });

  it('tells its four ways to compare apart without the headings', async () => {
    const { page } = await site.visit('head?view=scores');
    for (const name of ['Dot product', 'Distance', 'General', 'Additive'])
      expect(await page.getByRole('group', { name, exact: true }).getByRole('grid').count(), name).toBe(1);
  });

  it('draws a window of a long text and says so', async () => {
    const text = Array.from({ length: 40 }, () => 'Lily went to the park.').join('+');
    const { page, complaints } = await site.visit(`head?t=${text}&q=100`);
    const { dims } = await numbersOf(page, 'blocks.2.attn.hook_pattern[0, 4, 93:103, 93:103]');
    expect(dims).toEqual([10, 10]);
    expect(await shownText(page)).toMatch(/10 of \d+ tokens/);
    expect(complaints).toEqual([]);
  });

  it('shows another model’s head', async () => {
    const { page, complaints } = await site.visit('head?m=gpt-nano-sort&t=2+0+1&l=1&h=2');
    expect((await numbersOf(page, 'blocks.1.attn.hook_pattern[0, 2]')).data.length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it('goes from token to token on a phone and edits there', async () => {
    const { page, complaints } = await site.open(
      { viewport: { width: 390, height: 844 }, hasTouch: true },
      'head?step=1&q=7',
    );
    await page.getByRole('button', { name: 'Token before' }).click();
    await settled(page);
    expect((await numbersOf(page, 'blocks.2.attn.hook_rot_q[0, 6:7, 4]')).dims).toEqual([1, 8]);
    const grid = page.locator('cf-matrix[label="Q"]').getByRole('grid');
    await grid.focus();
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    await settled(page);
    expect((await numbersOf(page, 'blocks.2.attn.hook_rot_q[0, 6:7, 4]')).data).toContain(7);
    expect(complaints).toEqual([]);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('head');
    const variance = page.locator('[data-question="variance"]');
    await variance.scrollIntoViewIfNeeded();
    await variance.getByRole('textbox').fill('16');
    await variance.getByRole('button').click();
    await variance.locator('.verdict.wrong').waitFor();
    await variance.getByRole('textbox').fill('256');
    await variance.getByRole('button').click();
    await variance.locator('.verdict.right').waitFor();
    const product = page.locator('[data-question="product"]');
    await product.getByRole('textbox').fill('1');
    await product.getByRole('button').click();
    await product.locator('.verdict.wrong').waitFor();
    await product.getByRole('textbox').fill('3');
    await product.getByRole('button').click();
    await product.locator('.verdict.right').waitFor();
    const task = page.locator('[data-question="task"]');
    await task.getByRole('button').click();
    await task.locator('.verdict.wrong').waitFor();
    await site.go(page, 'head?q=7&edit=blocks.2.attn.hook_rot_k@h2@p1@i7:set=-6');
    await page.locator('[data-question="task"]').getByRole('button').click();
    await page.locator('[data-question="task"] .verdict.right').waitFor();
  });

  it('hides the row while a class guesses', async () => {
    const { page } = await site.visit('head?step=5&class=1');
    expect(await shownText(page)).toContain('Which one? How much?');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await shownText(page)).not.toContain('Which one? How much?');
  });

  it.each([1440, 901])('says which token now leads, also to a class: %i px', async (width) => {
    const { page } = await site.visit('head?class=1&edit=L4H6:0&t=%3Cs%3E+%D7%A9%D7%9C%D7%95%D7%9D');
    await page.setViewportSize({ width, height: 900 });
    const odds = await page.evaluate(() => {
      const figure = document.querySelector('figure-head')?.shadowRoot;
      return Array.from(figure?.querySelectorAll('.odds .then > span') ?? [], (one) => ({
        now: Number.parseFloat(one.querySelector('b')?.textContent ?? '0'),
        seen: one.getClientRects().length > 0,
      }));
    });
    expect(odds).toHaveLength(4); // a caption, the leader before, and the two best now, which are others
    const best = Math.max(...odds.map(({ now }) => now));
    expect(odds.find(({ now }) => now === best)?.seen).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('compares the sizes of vectors once, and then draws those that are chosen', async () => {
    const { page } = await site.visit('head?step=3');
    const drawn = await page.evaluate(async () => {
      let count = 0;
      const { cos } = Math;
      Math.cos = (x) => {
        count++;
        return cos(x);
      };
      location.hash = '#/head?step=3&d=32';
      await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
      const figure = document.querySelector('figure-head') as HTMLElement & { finished(): Promise<void> };
      await figure.finished();
      Math.cos = cos;
      return count;
    });
    expect(drawn).toBe(2 * 64 * 32);
  });
});
