// Chapter 6 as a reader uses it: switching heads off and on, finding and opening them, and the questions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { expectFollowed } from './quick_choices.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const odds = 'softmax(logits[0, -1])';

describe('chapter 6', () => {
  it('switches heads off and on again, and Back and a reload keep them', async () => {
    const { page, complaints } = await site.visit('heads?l=4');
    const before = (await numbersOf(page, odds)).data;
    await page.getByRole('checkbox', { name: 'Head 3 of block 5 switched on' }).uncheck();
    await settled(page);
    const silent = await numbersOf(page, odds);
    expect(silent.data).not.toEqual(before);
    const z = await numbersOf(page, 'blocks.4.attn.hook_z[0, 0:10, 2]');
    expect(z.data.every((value) => value === 0)).toBe(true);
    await page.reload();
    await settled(page);
    expect((await numbersOf(page, odds)).data).toEqual(silent.data);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, odds)).data).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('follows quick choices of a switch', async () => {
    const { page } = await site.visit('heads?l=4');
    await expectFollowed(page, page.getByRole('checkbox', { name: 'Head 3 of block 5 switched on' }));
  });

  it('finds the previous-token head and opens its map', async () => {
    const { page, complaints } = await site.visit('heads?step=5');
    await page.getByRole('option', { name: /^4·7/ }).click();
    await settled(page);
    const map = await numbersOf(page, 'blocks.3.attn.hook_pattern[0, 6, 0:10, 0:10]');
    const onPrevious = Array.from({ length: 9 }, (_, i) => map.data[(i + 1) * 10 + i] ?? 0);
    expect(onPrevious.reduce((sum, weight) => sum + weight, 0) / 9).toBeGreaterThan(0.4); // uniform weights would give 0.21
    expect(complaints).toEqual([]);
  });

  it('shows all heads of all blocks, counts what they read, and opens one by keyboard', async () => {
    const { page, complaints } = await site.visit('heads?step=10');
    const { dims, data } = await numbersOf(page, 'blocks.*.attn.hook_pattern[0, :, 0:10, 0:10]');
    expect(dims).toEqual([5, 8, 10, 10]);
    const readers = [2, 3, 4, 5, 6, 7, 8, 9];
    const heads = Array.from({ length: 40 }, (_, head) => head);
    const above = (key: (query: number) => number): number =>
      heads.filter(
        (head) => readers.reduce((sum, query) => sum + (data[head * 100 + query * 10 + key(query)] ?? 0), 0) > 4,
      ).length;
    const counted = [above(() => 0), above((query) => query - 1), above((query) => query)];
    expect(await shownText(page)).toContain(
      `first token: ${counted[0]}; to the token before: ${counted[1]}; to the token itself: ${counted[2]}.`,
    );
    await page.getByRole('button', { name: 'Weights of head 7, block 4' }).focus();
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
    await settled(page);
    const chosen = await numbersOf(page, 'blocks.1.attn.hook_pattern[0, 5, 0:10, 0:10]');
    expect(chosen.data).toEqual(data.slice(1300, 1400));
    await site.go(page, 'heads?view=all&l=1&h=5&edit=L1H5:0');
    await page.getByRole('button', { name: 'Weights of head 6, block 2. Head 6 of block 2 is silent.' }).waitFor();
    const long = Array.from({ length: 60 }, () => 'Lily went to the park.').join('+');
    await site.go(page, `heads?view=all&l=4&h=1&q=9&t=${long}`); // more than is captured at once
    const all = await numbersOf(page, 'blocks.*.attn.hook_pattern[0, :, 4:14, 4:14]');
    expect((await numbersOf(page, 'blocks.4.attn.hook_pattern[0, 1, 4:14, 4:14]')).data).toEqual(
      all.data.slice(3300, 3400),
    );
    await page.getByRole('link', { name: 'number by number' }).click();
    await settled(page);
    expect(new URL(page.url()).hash).toMatch(/^#\/head\?.*l=4&h=1$/);
    expect(complaints).toEqual([]);
  });

  it('multiplies at once and head by head with the same result', async () => {
    const { page } = await site.visit('heads?step=1');
    const all = await drawn(page);
    const products = all.filter(({ source, dims }) => source.startsWith('matmul(') && dims[1] === 64);
    expect(products).toHaveLength(2);
    expect(products[0]?.data).toEqual(products[1]?.data);
    expect(await shownText(page)).toContain('the largest difference is 0');
  });

  it.each(['gpt-nano-sort', 'marian-tiny-en-fr'])('shows the heads of %s in every view', async (who) => {
    const { page, complaints } = await site.visit(`heads?who=${who}&l=0`);
    for (const view of ['split', 'join', 'find', 'need']) {
      await site.go(page, `heads?who=${who}&l=0&view=${view}`);
      expect((await drawn(page)).length, view).toBeGreaterThan(1);
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    expect(complaints).toEqual([]);
  });

  it('reads a text of any length through a window that is told', async () => {
    const text = Array.from({ length: 60 }, () => 'Lily went to the park.').join('+');
    const { page } = await site.visit(`heads?t=${text}`);
    expect(await shownText(page)).toMatch(/tokens \d+ to \d+ of 5\d\d/);
  });

  it('sorts the letters of the chapter where an address has none', async () => {
    const { page } = await site.visit('heads?step=9');
    const before = await drawn(page);
    await site.go(page, 'heads?step=9&letters=');
    expect(await drawn(page)).toEqual(before);
    await site.go(page, 'heads?l=4&q=9'); // of the story model, which has more blocks and here more tokens
    await page.getByRole('button', { name: 'sorter, 3 heads' }).click();
    await settled(page);
    expect(await page.locator('.not-here').count()).toBe(0);
    expect(page.url()).not.toContain('l=4');
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('heads');
    const question = page.locator('[data-question="weights"]');
    await question.scrollIntoViewIfNeeded();
    await question.getByRole('textbox').fill('64');
    await question.getByRole('button').click();
    await question.locator('.verdict.wrong').waitFor();
    await question.getByRole('textbox').fill('512');
    await question.getByRole('button').click();
    await question.locator('.verdict.right').waitFor();
    const needed = page.locator('[data-question="needed"]');
    await needed.getByRole('button', { name: '4' }).click();
    await needed.locator('.verdict.wrong').waitFor();
    await needed.getByRole('button', { name: '3' }).click();
    await needed.locator('.verdict.right').waitFor();
  });
});
