// Chapter 7 as a reader uses it: opening and removing boxes, both orders of the norm, the questions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laidOut, Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';
import { expectFollowed } from './quick_choices.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const odds = 'softmax(logits[0, -1])';

describe('chapter 7', () => {
  it('opens the tensor of a box and takes the box out', async () => {
    const { page, complaints } = await site.visit('block?l=1');
    await page.getByRole('button', { name: /^feed-forward:/ }).click();
    await settled(page);
    const added = await numbersOf(page, 'blocks.1.hook_mlp_out[0, 0:10]');
    expect(added.dims).toEqual([10, 64]);
    const before = (await numbersOf(page, odds)).data;
    await page.getByRole('checkbox', { name: 'feed-forward of block 2 in use' }).uncheck();
    await settled(page);
    expect((await numbersOf(page, 'blocks.1.hook_mlp_out[0, 0:10]')).data.every((value) => value === 0)).toBe(true);
    expect((await numbersOf(page, odds)).data).not.toEqual(before);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, odds)).data).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['block?l=1', 1280, 800],
    ['masks?step=7', 390, 844],
  ])('shows what has the focus in a step below the figure, %s at %i × %i', async (address, width, height) => {
    const { page } = await site.open({ viewport: { width, height } }, address);
    const tops = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.step :is(a, button)')].map((link) => {
        scrollTo(0, scrollY + link.getBoundingClientRect().top - 300);
        const under = document.querySelector('main .figure')?.getBoundingClientRect().bottom ?? 0;
        link.focus();
        return link.getBoundingClientRect().top - under;
      }),
    );
    expect(tops.length).toBeGreaterThan(0);
    expect(Math.min(...tops)).toBeGreaterThanOrEqual(0);
    await page.context().close();
  });

  it('keeps the length of the vector with the norm behind the sum, and lets it grow with the norm before the box', async () => {
    const { page, complaints } = await site.visit('block?step=5');
    const { data, dims } = await numbersOf(page, 'norm(block(block(…)))');
    const steps = dims[1] ?? 0;
    const [post, pre] = [data.slice(0, steps), data.slice(steps)];
    const last = (row: number[]): number => row.at(-1) ?? 0;
    expect(Math.abs(last(post) - (post[1] ?? 0))).toBeLessThan(1);
    for (let i = 1; i < steps; i++) expect(pre[i]).toBeGreaterThan(pre[i - 1] ?? 0);
    expect(await shownText(page)).toMatch(/it is the translator’s own block 1: largest difference (0|\d\.\d+e−\d)/);
    expect(complaints).toEqual([]);
  });

  it('follows quick choices of a switch', async () => {
    const { page } = await site.visit('block?l=1');
    await expectFollowed(page, page.getByRole('checkbox', { name: 'feed-forward of block 2 in use' }));
  });

  it('normalises rows to size 1', async () => {
    const { page } = await site.visit('block?step=2');
    const { data, dims } = await numbersOf(page, 'blocks.2.ln1.hook_normalized[0, 0:10]');
    const [rows = 0, width = 0] = dims;
    for (let row = 0; row < rows; row++) {
      const squares = data.slice(row * width, (row + 1) * width).reduce((sum, x) => sum + x * x, 0);
      expect(Math.sqrt(squares / width)).toBeCloseTo(1, 3);
    }
  });

  it.each(['gpt-nano-sort', 'marian-tiny-en-fr.encoder', 'marian-tiny-en-fr.decoder'])(
    'shows %s in every view',
    async (who) => {
      const { page, complaints } = await site.visit(`block?who=${who}&l=0`);
      for (const view of ['stream', 'norm', 'mlp', 'without']) {
        await site.go(page, `block?who=${who}&l=0&view=${view}`);
        expect((await drawn(page)).length, view).toBeGreaterThan(1);
        expect(await page.getByRole('alert').count()).toBe(0);
      }
      expect(complaints).toEqual([]);
    },
  );

  it('counts the weights of a block, of its boxes and of the model', async () => {
    const { page } = await site.visit('block?view=weights&who=marian-tiny-en-fr.decoder&l=1');
    const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
    const total = sum((await numbersOf(page, 'sums of the sizes of named_parameters()')).data);
    expect(total).toBe(1_775_544);
    const counted = await page.locator('.counted').allInnerTexts();
    const terms = (counted.at(-1) ?? '').replaceAll('\u202f', '').match(/\d{2,}/g) ?? [];
    const [outside = 0, block = 0, encoder = 0] = terms.map(Number);
    expect(outside + 3 * block + encoder).toBe(total);
    expect(sum(counted.slice(0, -1).map((text) => Number(text.replace(/\D/g, ''))))).toBe(block);
  });

  it('keeps the step of a link while its figure is drawn', async () => {
    const { page } = await site.open({}, 'block?step=4');
    await page.waitForTimeout(800);
    expect(new URL(page.url()).hash).toContain('step=4');
    expect(await page.locator('.step.on').getAttribute('data-step')).toBe('bend');
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('block');
    await answerQuestion(page, 'weights', String(2 * 64 * 172), 'wrong');
    await answerQuestion(page, 'weights', String(3 * 64 * 172), 'right');
  });

  it.each(['en', 'de'])('shows every step whole at 1280 × 900, %s', async (lang) => {
    const { page } = await site.open({ viewport: { width: 1280, height: 900 } }, 'block');
    for (let step = 0; step < 9; step++) {
      await site.go(page, `block?step=${step}&lang=${lang}`);
      await laidOut(page);
      const below = await page.locator('main .figure').evaluate((place) => place.scrollHeight - place.clientHeight);
      expect(below, `step ${step}`).toBeLessThanOrEqual(1);
    }
    await page.context().close();
  });

  it('holds the names of a decoder’s boxes in them', async () => {
    const { page } = await site.open({ viewport: { width: 1280, height: 900 } }, 'block?step=6');
    const over = await page
      .locator('.box')
      .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth).length);
    expect(over).toBe(0);
    await page.context().close();
  });
});
