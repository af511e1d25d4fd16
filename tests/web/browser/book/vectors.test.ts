// Chapter 1 as a reader uses it: tokenizing a text, selecting and following tokens, and the questions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

describe('chapter 1', () => {
  it('cuts what is written, by all three tokenizers, and spells in bytes what none knows', async () => {
    const { page, complaints } = await site.visit('vectors');
    await page.getByRole('textbox', { name: 'The text that is cut up' }).fill('Lily ran.');
    await settled(page);
    expect(page.url()).toContain('t=Lily+ran.');
    expect((await numbersOf(page, 'tokenizer("Lily ran.").input_ids, stories260K')).data.slice(0, 2)).toEqual([1, 317]);
    await page.getByRole('button', { name: 'all three' }).click();
    await settled(page);
    expect((await drawn(page)).map(({ source }) => source.split(', ').at(-1))).toEqual([
      'stories260K',
      'marian-tiny-en-fr',
      'gpt-nano-sort',
    ]);
    await site.go(page, 'vectors?step=2');
    expect(await shownText(page)).toContain('<0xF0>');
    expect(complaints).toEqual([]);
  });

  it('keeps the chosen token over reload and Back, and walks to its neighbours', async () => {
    const { page, complaints } = await site.visit('vectors?step=4');
    const source = (id: number): string =>
      `matmul(rms_norm(model.embed_tokens.weight), rms_norm(model.embed_tokens.weight[${id}])ᵀ) / 64`;
    const before = (await numbersOf(page, source(426))).data;
    await page.getByRole('option', { name: /^!/ }).click();
    await settled(page);
    const walked = (await numbersOf(page, source(443))).data;
    expect(walked[0]).toBeCloseTo(before[0] ?? Number.NaN, 6); // cosine similarity is symmetric
    await page.reload();
    await settled(page);
    expect((await numbersOf(page, source(443))).data).toEqual(walked);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, source(426))).data).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('tells of the token that a link of the prose chooses', async () => {
    const { page } = await site.visit('vectors?step=4&id=370');
    expect(await shownText(page)).toContain('Nearest to “big” points');
  });

  it('reads out a chosen column, and keeps it over reload', async () => {
    const { page } = await site.visit('vectors?step=5');
    await page
      .locator('cf-matrix')
      .first()
      .getByRole('grid')
      .click({ position: { x: 100, y: 10 } });
    const column = /[?&]c=(\d+)/.exec(page.url())?.[1];
    expect(Number(column)).toBeGreaterThan(0);
    await page.reload();
    await settled(page);
    expect(await shownText(page)).toContain(`Number ${column}: `);
    await page.goBack();
    await settled(page);
    expect(await shownText(page)).not.toContain(`Number ${column}: `);
  });

  it('adds token and place, and shows where nothing is added', async () => {
    const { page } = await site.visit('vectors?step=5');
    const [token, place, whole] = await Promise.all(
      ['hook_embed[0, 2]', 'hook_pos_embed[0, 2]', 'hook_full_embed[0, 2]'].map((source) => numbersOf(page, source)),
    );
    whole?.data.forEach((value, at) => {
      expect(Object.is(value, Math.fround((token?.data[at] ?? 0) + (place?.data[at] ?? 0)))).toBe(true);
    });
    await site.go(page, 'vectors?step=7');
    const embedded = await numbersOf(page, 'hook_embed[0, 9]');
    expect((await numbersOf(page, 'blocks.0.hook_resid_pre[0, 9]')).data).toEqual(embedded.data);
  });

  it('tells what it leaves out: letters the sorter lacks, tokens that are not drawn, an empty text', async () => {
    const { page } = await site.visit('vectors?step=5&letters=ABxyC');
    expect(await shownText(page)).toContain('2 characters are none of A, B and C: left out.');
    await site.go(page, 'vectors?step=5&letters=');
    expect(await shownText(page)).toContain('Nothing to read yet.');
    expect(await page.getByRole('alert').count()).toBe(0);
    await site.go(page, `vectors?t=${Array.from({ length: 30 }, () => 'Lily went.').join('+')}`);
    expect(await shownText(page)).toMatch(/Tokens \d+ to \d+ of \d+ are drawn/);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('vectors?step=1');
    const answer = async (id: string, text: string, right: boolean): Promise<void> => {
      const asked = page.locator(`[data-question="${id}"]`);
      await asked.getByRole('textbox').fill(text);
      await asked.getByRole('button').click();
      await asked.locator(right ? '.verdict.right' : '.verdict.wrong').waitFor();
    };
    await answer('pieces', '1', false);
    await answer('pieces', '6', true);
    await answer('size', '512', false);
    await answer('size', '32768', true);
    const nearest = page.locator('[data-question="nearest"]');
    await nearest.scrollIntoViewIfNeeded();
    await nearest.getByRole('button', { name: 'park' }).click();
    await nearest.locator('.verdict.wrong').waitFor();
    await nearest.getByRole('button', { name: 'little' }).click();
    await nearest.locator('.verdict.right').waitFor();
  });
});
