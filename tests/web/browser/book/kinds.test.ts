// Chapter 10: three kinds of model on one sentence, a masked token, a changed right context, the table of uses.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laidOut, Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';
import { drawn, figureOverflow, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const own = 'softmax(bert-tiny-fill("She [MASK] to school.").logits[0, 2])';

/** Of texts, which are read aloud in them, whatever the page's language is. */
const languagesOf = (page: Page, texts: string): Promise<string[]> =>
  page.locator(`figure-kinds ${texts}`).evaluateAll((all) => all.map((text) => (text as HTMLElement).lang));

describe('chapter 10', () => {
  it('shows a causal map with zeros above the diagonal, and an encoder’s without', async () => {
    const { page, complaints } = await site.visit('kinds?l=0&h=0');
    const maps = (await drawn(page)).filter(({ source }) => source.includes('blocks.0.attn.hook_pattern'));
    expect(maps).toHaveLength(2);
    const above = ({ dims: [, columns = 0], data }: (typeof maps)[number]): number[] =>
      data.filter((_, i) => i % columns > Math.floor(i / columns));
    const [decoder, encoder] = maps;
    if (!decoder || !encoder) throw new Error('two maps');
    expect(above(decoder).every((weight) => weight === 0)).toBe(true);
    expect(above(encoder).every((weight) => weight > 0)).toBe(true);
    expect(await languagesOf(page, '.answer')).toEqual(['en', 'en', 'fr']);
    expect(complaints).toEqual([]);
  });

  it('fills another blank and reads another right side; reload and Back keep them', async () => {
    const { page } = await site.visit('kinds?step=5');
    const before = await numbersOf(page, own);
    await page.getByLabel('What follows the blank instead').fill('very happy.');
    await page.getByRole('button', { name: 'Exchange' }).click();
    await settled(page);
    const happy = 'softmax(bert-tiny-fill("She [MASK] very happy.").logits[0, 2])';
    const other = await numbersOf(page, happy);
    expect(other.data).not.toEqual(before.data);
    expect((await numbersOf(page, own)).data).toEqual(before.data);
    await page.reload();
    await settled(page);
    expect((await numbersOf(page, happy)).data).toEqual(other.data);
    await page.getByRole('button', { name: 'school.', exact: true }).click();
    await settled(page);
    expect(await shownText(page)).toContain('She went to [MASK].');
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, happy)).data).toEqual(other.data);
  });

  it('answers live in the table of uses, and says what it cannot read', async () => {
    const { page } = await site.visit('kinds?step=6&t=The+cat+is+sleeping+under+the+table.');
    expect(await shownText(page)).toContain('Le chat dort sous la table.');
    expect(await languagesOf(page, 'td [lang]')).toEqual(['en', 'en', 'en', 'fr']);
    await site.go(page, 'kinds?t=');
    expect(await shownText(page)).toContain('There is nothing to read');
    await site.go(page, `kinds?t=${encodeURIComponent('She is happy. '.repeat(30))}`);
    expect(await shownText(page)).toMatch(/The first 64 of \d+ tokens are read/);
    const long = encodeURIComponent('She is happy. '.repeat(900));
    for (const step of [0, 6, 4]) {
      await site.go(page, `kinds?step=${step}&w=800&t=${long}`);
      expect(await page.locator('figure-kinds').evaluate((node) => node.getBoundingClientRect().height)).toBeLessThan(
        2000,
      );
    }
    const blanks = (await drawn(page)).map(({ source }) => /bert-tiny-fill.*, (\d+)\]/.exec(source)?.[1]);
    expect(blanks).toEqual(['63', '63', undefined]); // the last token that it reads
    expect(await page.getByRole('button', { pressed: true, name: /She|is|happy/ }).count()).toBe(1);
  });

  it.each([
    ['tokens with long names', 'مرحبا بالعالم שלום'],
    [
      'more tokens than are drawn',
      'My brother is reading a book in the kitchen and my sister is playing in the garden.',
    ],
  ])('draws the maps of %s whole', async (_, text) => {
    const { page } = await site.open({ viewport: { width: 1280, height: 800 } }, `kinds?t=${text}`);
    await laidOut(page);
    expect(await page.evaluate(figureOverflow)).toBeLessThanOrEqual(0);
    expect(await page.locator('cf-matrix .frame.sideways').count()).toBe(0);
    await page.context().close();
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('kinds');
    const tokens = (await drawn(page)).find(({ source }) => source.includes('blocks.0.attn'))?.dims[0] ?? 0;
    await answerQuestion(page, 'cells', String(tokens * tokens), 'wrong');
    await answerQuestion(page, 'cells', String((tokens * (tokens + 1)) / 2), 'right');
    await answerQuestion(page, 'right', { option: 'stories260K' }, 'wrong');
    await answerQuestion(page, 'right', { option: 'bert-tiny-fill' }, 'right');
  });
});
