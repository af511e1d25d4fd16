// Chapter 8 as a reader uses it: temperature and sampling filters, samples, generation, beams, and the questions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const stages = 'softmax(generate({ output_scores }).scores[0])';
const words = 512;

describe('chapter 8', () => {
  it('cuts what top-k and top-p leave out, and what is left sums to 1', async () => {
    const { page, complaints } = await site.visit('saying?temp=1.5&k=8&p=0.8');
    const { data, dims } = await numbersOf(page, stages);
    expect(dims).toEqual([4, words]);
    const left = [0, 1, 2, 3].map(
      (stage) => data.slice(stage * words, (stage + 1) * words).filter((share) => share > 0).length,
    );
    expect(left.slice(0, 3)).toEqual([words, words, 8]);
    expect(left[3]).toBeLessThan(8);
    for (let stage = 0; stage < 4; stage++) {
      const sum = data.slice(stage * words, (stage + 1) * words).reduce((total, share) => total + share, 0);
      expect(sum).toBeCloseTo(1, 4);
    }
    expect(complaints).toEqual([]);
  });

  it('exports the tokens of its columns, in the order drawn', async () => {
    const { page } = await site.visit('saying');
    const columnsNow = () =>
      page.evaluate(() => {
        const figure = document.querySelector('main .figure > *') as HTMLElement & {
          columns(): { numbers: { data: Int32Array } }[];
        };
        return Array.from(figure.columns()[0]?.numbers.data ?? []);
      });
    const ranked = await columnsNow();
    const sorted = (await numbersOf(page, 'logits[0, -1]')).data;
    await site.go(page, 'saying?sort=id');
    expect(await columnsNow()).toEqual(ranked.map((_, id) => id));
    const { data } = await numbersOf(page, 'logits[0, -1]');
    expect(ranked.map((id) => data[id])).toEqual(sorted);
  });

  it('moves with its sliders, by keys too', async () => {
    const { page } = await site.visit('saying');
    const first = (await numbersOf(page, stages)).data[words] ?? 0;
    const slider = page.getByRole('slider', { name: 'Temperature' });
    await slider.focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    await settled(page);
    expect(page.url()).toContain('temp=1.5');
    expect((await numbersOf(page, stages)).data[words]).toBeLessThan(first);
  });

  it('draws a hundred, the same for the same seed', async () => {
    const source = (seed: number): string =>
      `shares of generate({ num_return_sequences: 100, max_new_tokens: 1, seed: ${seed} })`;
    const { page, complaints } = await site.visit('saying?view=draws');
    const shares = (await numbersOf(page, source(1))).data;
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeGreaterThan(0.9);
    await page.getByRole('button', { name: 'Turn 100 times more' }).click();
    await settled(page);
    expect((await numbersOf(page, source(101))).data).not.toEqual(shares);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, source(1))).data).toEqual(shares);
    expect(complaints).toEqual([]);
  });

  it('has bars in class mode that can be compared', async () => {
    const { page } = await site.open({ viewport: { width: 1280, height: 900 } }, 'saying?step=4&class=1&lang=de');
    await page.getByRole('button', { name: 'Zeigen' }).click();
    for (const step of [4, 3]) {
      await site.go(page, `saying?step=${step}&class=1&lang=de`);
      const bars = page.locator('cf-bars .bar svg');
      const widths = await bars.evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
      expect(widths[0], `step ${step}`).toBeGreaterThan(60);
    }
    await page.context().close();
  });

  it('tells the slice of the wheel as it is turned', async () => {
    const { page } = await site.visit('saying?step=4&temp=3');
    const told = /whose slice is ([\d.]+)/.exec(await page.locator('.step.on').innerText())?.[1];
    await site.go(page, 'saying?step=3&temp=3&k=0&p=1');
    const { data } = await numbersOf(page, stages);
    expect(Number(told)).toBeCloseTo(100 * Math.max(...data.slice(3 * words)), 1);
  });

  it('writes a word on, and a reload keeps it', async () => {
    const { page } = await site.visit('saying');
    await page.getByRole('option', { name: /^She\b/ }).click();
    await settled(page);
    const after = (await numbersOf(page, 'logits[0, -1]')).data;
    await page.reload();
    await settled(page);
    expect((await numbersOf(page, 'logits[0, -1]')).data).toEqual(after);
    expect(await page.getByRole('button', { name: /^She Take back/ }).count()).toBe(1);
  });

  it.each([360, 1280, 1440])('names the likeliest tokens side by side at %i px', async (width) => {
    const { page } = await site.open({ viewport: { width, height: 900 } }, 'saying?step=3');
    const names = await page.locator('svg.chart text.serif').evaluateAll((all) =>
      all.map((one) => {
        const { left, right } = one.getBoundingClientRect();
        return { left, right };
      }),
    );
    expect(names.length).toBeGreaterThan(7);
    names.slice(1).forEach(({ left }, i) => {
      expect(left).toBeGreaterThan(names[i]?.right ?? 0);
    });
    await page.context().close();
  });

  it('follows beams whose parents are among those before', async () => {
    const { page, complaints } = await site.visit('saying?view=beams&beams=4');
    const { data, dims } = await numbersOf(page, 'generate_stream({ num_beams: 4 }).beam_scores');
    expect(dims).toEqual([6, 4]);
    for (let step = 1; step < 6; step++) expect(data[step * 4]).toBeLessThanOrEqual(data[(step - 1) * 4] ?? 0);
    expect(complaints).toEqual([]);
  });

  it('takes the lead apart into parts that sum to it', async () => {
    const { page } = await site.visit('saying?step=7');
    expect(await shownText(page)).toMatch(/All \d+ parts together: (\d\.\d\d)\./);
    const shown = await shownText(page);
    const lead = /got its lead over “I” \((\d\.\d\d)\)/.exec(shown)?.[1];
    expect(/All \d+ parts together: (\d\.\d\d)\./.exec(shown)?.[1]).toBe(lead);
    expect(shown).toMatch(/All 46 parts together.*They are 40 heads, 5 feed-forward networks and the token\./);
  });

  it('reads as much of a long text as leaves room to write on, and says so', async () => {
    const text = Array.from({ length: 120 }, () => 'Lily went to the park.').join('+');
    const { page } = await site.visit(`saying?t=${text}&view=beams`);
    expect(await shownText(page)).toMatch(/The first 500 of \d{3,4} tokens are read/);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('saying?p=0.1');
    const question = page.locator('[data-question="three"]');
    await question.scrollIntoViewIfNeeded();
    await question.getByRole('button').click();
    await question.locator('.verdict.wrong').waitFor();
    await site.go(page, 'saying?p=0.84');
    await question.scrollIntoViewIfNeeded();
    await question.getByRole('button').click();
    await question.locator('.verdict.right').waitFor();
  });
});
