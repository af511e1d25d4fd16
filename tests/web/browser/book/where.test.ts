// Chapter 3 as a reader uses it: moving positions and shifts by hand and by keyboard, the rotation and its limits, and
// the questions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';
import { drawn, numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const table = 'sinusoidal_encoding(48, 16)';

describe('chapter 3', () => {
  it('turns every hand by the same matrix, wherever the step begins', async () => {
    const { page, complaints } = await site.visit('where?step=2');
    const step = (await numbersOf(page, 'shift_matrix(5, 16)[2:4, 2:4]')).data;
    for (let press = 0; press < 4; press++) await page.getByRole('slider', { name: 'position i' }).press('ArrowRight');
    await settled(page);
    expect(page.url()).toContain('i=7');
    expect((await numbersOf(page, 'shift_matrix(5, 16)[2:4, 2:4]')).data).toEqual(step);
    const rows = await numbersOf(page, table);
    const moved = await numbersOf(page, `matmul(shift_matrix(5, 16)[2:4, 2:4], ${table}[7][2:4])`);
    moved.data.forEach((value, at) => {
      expect(Math.abs(value - (rows.data[12 * 16 + 2 + at] ?? Number.NaN))).toBeLessThan(2e-7); // rounding of one product of two terms
    });
    expect(await shownText(page)).toContain('difference 0.0000');
    expect(complaints).toEqual([]);
  });

  it('a drag over the table moves i, then δ; reload and Back keep what was chosen', async () => {
    const { page } = await site.visit('where?step=1');
    const box = await page.locator('where-clocks .grab').boundingBox();
    if (!box) throw new Error('the table is not drawn');
    const y = (row: number): number => box.y + 6 + ((row + 0.5) * (box.height - 12)) / 48;
    await page.mouse.move(box.x + 200, y(3));
    await page.mouse.down();
    await page.mouse.move(box.x + 200, y(20), { steps: 4 });
    await page.mouse.up();
    await settled(page);
    expect(page.url()).toMatch(/i=20/);
    await page.getByRole('radio', { name: /^pair 2:/ }).click();
    await settled(page);
    await page.reload();
    await settled(page);
    const source = `matmul(shift_matrix(5, 16)[4:6, 4:6], ${table}[20][4:6])`;
    expect((await numbersOf(page, source)).dims).toEqual([2, 1]);
    await page.goBack();
    await settled(page);
    expect((await numbersOf(page, source.replaceAll('4:6', '2:4'))).dims).toEqual([2, 1]);
  });

  it('the misprinted row, the sines alone and a single column break the step', async () => {
    const { page, complaints } = await site.visit('where?step=5');
    expect(await shownText(page)).toContain('off by 0.3213');
    await page.getByRole('switch', { name: 'misprint' }).click();
    await settled(page);
    expect(await shownText(page)).toContain('difference 0.0000');
    await site.go(page, 'where?step=3');
    expect(await shownText(page)).toContain('No one number fits');
    await site.go(page, 'where?step=4&d=1');
    const text = await shownText(page);
    expect(text).toContain('the dimension must be even');
    expect(text).toContain('99 900 of the encodings of 100 000 places');
    expect(complaints).toEqual([]);
  });

  it('the keyboard chooses a clock and stays in the chapter’s step', async () => {
    const { page } = await site.visit('where?step=1');
    await page.getByRole('radio', { name: /^pair 1:/ }).focus();
    await page.keyboard.press('ArrowRight');
    await settled(page);
    expect(page.url()).toMatch(/step=1.*pair=2|pair=2.*step=1/);
    expect(await page.getByRole('radio', { name: /^pair 2:/ }).getAttribute('aria-checked')).toBe('true');
  });

  it('q·k stays while both move, and changes with the distance', async () => {
    const { page } = await site.visit('where?step=8');
    const bars = async (): Promise<number[]> => {
      const all = await drawn(page);
      return all.find(({ dims, source }) => dims[0] === 48 && source.startsWith('matmul(rotary('))?.data ?? [];
    };
    const before = await bars();
    expect(before).toHaveLength(48);
    await page.getByRole('slider', { name: 'both from' }).fill('30');
    await settled(page);
    const after = await bars();
    expect(page.url()).toMatch(/qa=31/);
    before.forEach((product, distance) => {
      expect(Math.abs(product - (after[distance] ?? Number.NaN))).toBeLessThan(2e-4); // products up to 125, angles in float32
    });
    expect(Math.max(...before) - Math.min(...before)).toBeGreaterThan(10);
    expect(await shownText(page)).toContain('model’s own: difference 0.0000');
  });

  it('shows the table of every model, Marian’s equal to the function', async () => {
    const { page, complaints } = await site.visit('where?step=7&table=marian-tiny-en-fr');
    expect(await shownText(page)).toContain('Difference to the function: 0.0000');
    expect((await numbersOf(page, 'encoder.hook_pos_embed[0]')).dims).toEqual([64, 128]);
    await site.go(page, 'where?step=7');
    expect((await numbersOf(page, 'hook_pos_embed[0]')).dims).toEqual([50, 96]);
    expect(complaints).toEqual([]);
  });

  it('keeps a chosen pair of rows over reload', async () => {
    const { page } = await site.visit('where?step=7');
    await page
      .locator('.similar cf-matrix')
      .first()
      .getByRole('grid')
      .click({ position: { x: 60, y: 90 } });
    expect(page.url()).toMatch(/at=\d+\.\d+/);
    await page.mouse.move(0, 0);
    const told = await page.locator('.similar .verdict').first().innerText();
    await page.reload();
    await settled(page);
    expect(await page.locator('.similar .verdict').first().innerText()).toBe(told);
    await page.goBack();
    await settled(page);
    expect(await page.locator('.similar .verdict').first().innerText()).not.toBe(told);
  });

  it('hides the answer until the class has guessed', async () => {
    const { page } = await site.visit('where?step=2&class=1');
    expect(await page.getByRole('math', { name: /the matrix of the step/ }).getAttribute('aria-label')).toContain('?');
    await page.getByRole('button', { name: 'Show' }).click();
    await settled(page);
    expect(await page.getByRole('math', { name: /the matrix of the step/ }).getAttribute('aria-label')).toContain(
      '1.00',
    );
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('where?step=2');
    await answerQuestion(page, 'turn', '16', 'wrong');
    await answerQuestion(page, 'turn', '19,9', 'right');
    await answerQuestion(page, 'back', undefined, 'wrong');
    await site.go(page, 'where?step=2&i=0&delta=44');
    await answerQuestion(page, 'back', undefined, 'right');
    await answerQuestion(page, 'none', { option: 'gpt-nano-sort' }, 'wrong');
    await answerQuestion(page, 'none', { option: 'stories260K' }, 'right');
  });
});
