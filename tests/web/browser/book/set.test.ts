// Chapter 2 as a reader uses it: moving tokens by hand and by keyboard, with and without positions.

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

const difference = async (page: Page): Promise<number> =>
  Number(await page.locator('[data-difference]').getAttribute('data-difference'));
const outputs = async (page: Page): Promise<number[]> =>
  (await drawn(page)).find(({ source }) => source.includes('[0], x = '))?.data ?? [];

describe('chapter 2', () => {
  it('moves a letter by keys: its output goes along, and the chip keeps the keyboard', async () => {
    const { page, complaints } = await site.visit('set');
    const before = await outputs(page);
    const chip = page.getByRole('button', { name: /^C, place 1 of 6/ });
    await chip.focus();
    await page.keyboard.press('ArrowDown');
    await settled(page);
    await page.keyboard.press('ArrowDown');
    await settled(page);
    expect(page.url()).toContain('o=1.2.0.3.4.5');
    const after = await outputs(page);
    [1, 2, 0, 3, 4, 5].forEach((token, place) => {
      for (let at = 0; at < 48; at++) {
        // Sums of six products in another order: a few ulps of numbers below 0.1.
        expect(Math.abs((after[place * 48 + at] ?? 1) - (before[token * 48 + at] ?? 0))).toBeLessThan(1e-7);
      }
    });
    expect(await difference(page)).toBeLessThan(1e-7);
    expect(page.url()).not.toContain('step=');
    expect(complaints).toEqual([]);
  });

  it('moves a letter by hand; one Back takes the whole drag back', async () => {
    const { page } = await site.visit('set');
    const boxes = await Promise.all(
      [1, 4].map((place) => page.getByRole('button', { name: new RegExp(`place ${place} of 6`) }).boundingBox()),
    );
    const [from, to] = boxes.map((box) => ({ x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }));
    await page.mouse.move(from?.x ?? 0, from?.y ?? 0);
    await page.mouse.down();
    await page.mouse.move(to?.x ?? 0, to?.y ?? 0, { steps: 6 });
    await page.mouse.up();
    await settled(page);
    expect(page.url()).toContain('o=1.2.3.0.4.5');
    await page.reload();
    await settled(page);
    expect(await shownText(page)).toContain('largest difference');
    expect(page.url()).toContain('o=1.2.3.0.4.5');
    await page.goBack();
    await settled(page);
    expect(page.url()).not.toContain('o=');
  });

  it('tells the difference of each move, though it is the same, and nothing of it at another step', async () => {
    const { page } = await site.visit('set?step=1');
    const told = page.locator('figure-set').getByRole('status');
    const reverse = page.getByRole('button', { name: 'Reverse' });
    await reverse.click();
    await expect.poll(() => told.textContent()).toContain('largest difference 0.000');
    const before = await told.textContent();
    await reverse.click();
    await expect.poll(() => told.textContent()).not.toBe(before);
    expect((await told.textContent())?.trim()).toBe(before?.trim());
    await site.go(page, 'set?step=2');
    expect(await told.textContent()).toBe('');
  });

  it('jumps with positions and with a mask, and rests without', async () => {
    const { page } = await site.visit('set?step=1');
    expect(await difference(page)).toBeLessThan(1e-7);
    await page.getByRole('switch', { name: 'positions' }).click();
    await settled(page);
    expect(await difference(page)).toBeGreaterThan(0.01);
    await page.getByRole('switch', { name: 'positions' }).click();
    await page.getByRole('switch', { name: 'causal mask' }).click();
    await settled(page);
    expect(await difference(page)).toBeGreaterThan(0.01);
  });

  it('stays at its step when what is pressed or typed in has scrolled into view', async () => {
    const { page } = await site.visit('set?o=3.0.5.1.4.2');
    const field = page.locator('[data-question="kinds"]').getByRole('textbox');
    for (const [control, key] of [
      [field, 'ArrowUp'],
      [page.getByRole('switch', { name: 'causal mask' }), ' '],
    ] as const) {
      // The focus scrolls past steps with other defaults, of which their observer is told after the key.
      await control.evaluate(async (focused, pressed) => {
        focused.focus();
        focused.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true, composed: true }));
        await new Promise((done) => setTimeout(done, 300));
      }, key);
      expect(page.url()).not.toContain('step=');
    }
    await page.getByRole('switch', { name: 'causal mask' }).blur();
    await page.keyboard.press('PageDown');
    await page.waitForFunction(() => location.hash.includes('step='));
  });

  it('leaves the keys that scroll to the page where there is no step to go to, and Shift to the selection', async () => {
    const { page } = await site.visit('set');
    const last = (await page.locator('.step').count()) - 1;
    await site.go(page, `set?step=${last}`);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 900))); // until the page no longer scrolls by itself
    await page.evaluate(() => {
      addEventListener('keydown', ({ defaultPrevented }) => {
        document.body.dataset.left = String(!defaultPrevented);
      });
    });
    const isLeft = async (key: string): Promise<string | undefined> => {
      await page.keyboard.press(key);
      return page.evaluate(() => document.body.dataset.left);
    };
    expect(await isLeft('Shift+ArrowLeft')).toBe('true');
    expect(await isLeft('PageDown')).toBe('true');
    await page.locator('book-questions').evaluate((questions) => questions.scrollIntoView());
    expect(await isLeft('PageUp')).toBe('true');
    await site.go(page, 'set?step=1');
    await site.go(page, `set?step=${last}`);
    expect(await isLeft('PageUp')).toBe('false');
    await settled(page);
    expect(page.url()).toContain(`step=${last - 1}`);
    await site.go(page, 'next');
    expect(await isLeft('PageDown')).toBe('true');
  });

  it('stays at the step of a link that was followed while the reader scrolled', async () => {
    const { page } = await site.visit('set?step=2');
    await page.keyboard.press('PageDown');
    await site.go(page, 'set?o=3.0.5.1.4.2');
    // The page has scrolled to the first step; the focus scrolls past others, which the reader does not.
    await page.getByRole('switch', { name: 'causal mask' }).evaluate(async (control) => {
      await new Promise((done) => setTimeout(done, 900));
      document.querySelector<HTMLElement>('[data-question="kinds"] input')?.focus();
      control.focus();
      await new Promise((done) => setTimeout(done, 300));
    });
    expect(page.url()).not.toContain('step=');
  });

  it.each([
    [1366, 768],
    [360, 740],
  ])('has chips that their text fits in, in a window of %i × %i', async (width, height) => {
    const { page } = await site.open({ viewport: { width, height } }, 'set?step=6');
    const boxes = await page
      .locator('.token')
      .evaluateAll((chips) => chips.map((chip) => [chip.scrollHeight - chip.clientHeight, chip.clientHeight]));
    expect(boxes).toHaveLength(9);
    for (const [over = 1, high = 0] of boxes) {
      expect(over).toBeLessThanOrEqual(1);
      expect(high).toBeGreaterThanOrEqual(22); // 24 with its border
    }
    await page.context().close();
  });

  it.each(['step=4', 'step=4&lang=de', 'step=4&letters=CABBACCABBA'])(
    'shows its meter on a phone, and below it the weights: %s',
    async (state) => {
      const { page } = await site.open({ viewport: { width: 390, height: 844 } }, `set?${state}`);
      const [meter, weights] = await page.locator('main .figure').evaluate((box) => {
        const { bottom } = box.getBoundingClientRect();
        const inside = box.querySelector('*')?.shadowRoot;
        return ['.meter', '.weights'].map((part) => {
          const { bottom: end, height } = inside?.querySelector(part)?.getBoundingClientRect() ?? new DOMRect();
          return { above: bottom - end, height };
        });
      });
      expect(meter?.above).toBeGreaterThanOrEqual(0);
      expect(weights?.height).toBeGreaterThan(100);
      expect(weights?.above).toBeLessThan(meter?.above ?? 0);
      await page.context().close();
    },
  );

  it('reads the sentence in another order with the whole model', async () => {
    const { page, complaints } = await site.visit('set?step=6');
    const [written, moved] = await Promise.all(
      ['as written', 'as moved'].map((how) => numbersOf(page, `softmax(logits[0, -1]), ${how}`)),
    );
    expect(moved?.data).not.toEqual(written?.data);
    await page.getByRole('button', { name: 'As it was' }).click();
    await settled(page);
    expect((await numbersOf(page, 'softmax(logits[0, -1]), as moved')).data).toEqual(written?.data);
    expect(await difference(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('hides the outputs until the class has guessed', async () => {
    const { page } = await site.visit('set?step=1&class=1');
    expect(await page.locator('.strip').count()).toBe(0);
    await page.getByRole('button', { name: 'Show' }).click();
    await settled(page);
    expect(await page.locator('.strip').count()).toBe(6);
  });

  it('keeps its figure while the field of the letters is empty, and draws an address without letters', async () => {
    const { page, complaints } = await site.visit('set');
    const before = await outputs(page);
    const field = page.locator('.field input');
    await field.fill('');
    await settled(page);
    expect(await outputs(page)).toEqual(before);
    await field.pressSequentially('ab');
    await settled(page);
    expect(await outputs(page)).toHaveLength(2 * 48);
    await field.fill('');
    await field.blur();
    expect(await field.inputValue()).toBe('AB');
    await site.go(page, 'set?letters=');
    expect(await outputs(page)).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('set?o=3.0.5.1.4.2');
    await answerQuestion(page, 'kinds', '6', 'wrong');
    await answerQuestion(page, 'kinds', '3', 'right');
    await answerQuestion(page, 'masked', undefined, 'wrong');
    await page.getByRole('switch', { name: 'causal mask' }).press('Space');
    await page.waitForFunction(() => location.hash.includes('mask=1'));
    await answerQuestion(page, 'masked', undefined, 'right');
    const next = page.locator('[data-question="next"]');
    await next.scrollIntoViewIfNeeded();
    const options = next.getByRole('button');
    await options.first().waitFor();
    const verdicts: (string | null)[] = [];
    for (let at = 0; at < (await options.count()); at++) {
      await options.nth(at).press('Enter');
      await next.locator('.verdict').waitFor();
      await page.waitForFunction(
        (name) => document.querySelector('[data-question="next"] .verdict')?.textContent?.includes(name),
        `“${await options.nth(at).textContent()}”`,
      );
      verdicts.push(await next.locator('.verdict').getAttribute('class'));
    }
    expect(verdicts.filter((name) => name?.includes('right'))).toHaveLength(1);
  });
});
