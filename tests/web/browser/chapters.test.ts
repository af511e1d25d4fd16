// The page's smaller chapters: letters come out sorted, sentences translated as the reference says, digits recognised.

import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

interface Case {
  name: string;
  text?: string;
  translation?: string;
}
const references = new URL('../../fixtures/real_models/cases.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(references, 'utf8')) as { cases: Case[] };

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

/** A chapter that is open for all tests of a block. */
function chapter(name: string): { readonly page: Page; readonly complaints: string[] } {
  let open: OpenPage;
  beforeAll(async () => {
    open = await site.open({ reducedMotion: 'reduce' }, name);
  });
  afterAll(() => open.page.context().close());
  return {
    get page() {
      return open.page;
    },
    get complaints() {
      return open.complaints;
    },
  };
}

describe('sorting', () => {
  const open = chapter('sort');
  const result = (): Locator => open.page.locator('sort-chapter .result');

  it.each(['CBABAC', 'AAAAAA', 'CCBBAA', 'BCACBB'])('%s', async (letters) => {
    await result().waitFor();
    await open.page.locator('#letters').fill(letters.toLowerCase());
    await open.page.locator('#sort').click();
    await result().waitFor({ state: 'detached' });
    await result().waitFor();
    expect(await result().textContent()).toContain(`${[...letters].sort().join('')} ✓ sorted`);
  });

  it('shows the attention of every letter that it read', async () => {
    const story = new StoryPage(open.page);
    expect(await story.tokens.count()).toBe(12);
    for (const at of [0, 5, 10]) {
      await story.tokens.nth(at).click();
      for (let layer = 1; layer <= 3; layer++)
        for (let head = 1; head <= 3; head++) {
          await story.chooseHead(layer, head);
          const { query, sum } = await story.reading();
          expect(query).toBe(at);
          expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
        }
    }
  });

  it('takes no other letters', async () => {
    await open.page.locator('#letters').fill('XYZ abc 12');
    expect(await open.page.locator('#letters').inputValue()).toBe('ABC');
    expect(await open.page.locator('#sort').isDisabled()).toBe(true);
    expect(open.complaints).toEqual([]);
  });
});

describe('translating', () => {
  const open = chapter('translate');

  async function translated(text: string, how: string): Promise<string> {
    const target = open.page.locator('#target');
    await open.page.locator('#source').fill(text);
    await open.page.getByRole('button', { name: how }).click();
    await open.page.locator('form[aria-busy=false]').waitFor();
    return (await target.textContent()) ?? '';
  }

  it.each([0, 1, 6, 9, 15, 29])('sentence %i is what the reference writes, greedily and with 4 beams', async (i) => {
    const [greedy, beams] = ['greedy', 'beam_4'].map((how) =>
      cases.find(({ name }) => name === `translation_${i}_${how}`),
    );
    expect(await translated(greedy?.text as string, 'greedy')).toBe(greedy?.translation);
    expect(await translated(beams?.text as string, '4 beams')).toBe(beams?.translation);
    expect(await open.page.locator('translate-chapter').textContent()).not.toContain('NaN');
  });

  it('shows what every written token looked at in the source', async () => {
    await translated('I want to live in a big city.', '4 beams');
    const story = new StoryPage(open.page);
    const strips = open.page.locator('token-strip');
    const [read, written] = [strips.nth(0), strips.nth(1)].map((strip) => strip.locator('[role=option]'));
    const texts = async (tokens: Locator | undefined): Promise<string> =>
      (await tokens?.allTextContents())?.join('') ?? '';
    expect(await texts(read)).toBe('I want to live in a big city.</s>');
    expect(await texts(written)).toBe('Je veux vivre dans une grande ville.</s>');
    for (let at = 0; at < 9; at++) {
      await written?.nth(at).click();
      await expect.poll(async () => (await story.reading()).query).toBe(at);
      const { key, sum } = await story.reading();
      expect(key).toBeLessThan(11);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
    }
    const shaded = await read?.evaluateAll((all) => all.map((one) => (one as HTMLElement).style.backgroundColor));
    expect(shaded?.every((colour) => colour.startsWith('rgb'))).toBe(true);
  });

  it('has a map that is walked through with the arrow keys to its edges', async () => {
    const story = new StoryPage(open.page);
    await story.map.scrollIntoViewIfNeeded();
    await open.page.mouse.move(1, 1); // a mouse over or leaving the map chooses, too
    await open.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await story.map.focus();
    for (const [key, at] of [
      ['ArrowUp', 0], // the first key chooses a cell
      ['End', 10],
      ['ArrowRight', 10],
      ['ArrowLeft', 9],
    ] as const) {
      await open.page.keyboard.press(key);
      await expect.poll(async () => (await story.reading()).key).toBe(at); // the page draws a moment later
    }
    for (let i = 0; i < 12; i++) await open.page.keyboard.press('ArrowDown');
    await expect.poll(async () => (await story.reading()).query).toBe(8);
    await open.page.keyboard.press('Escape');
  });

  it('shows how each side looks at itself', async () => {
    const story = new StoryPage(open.page);
    for (const [name, tokens] of [
      ['source at itself', 11],
      ['target at itself', 9],
    ] as const) {
      await open.page.getByRole('button', { name }).click();
      expect(await story.tokens.count()).toBe(tokens);
      await story.tokens.last().click();
      const { query, sum } = await story.reading();
      expect(query).toBe(tokens - 1);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
    }
    expect(open.complaints).toEqual([]);
  });
});

describe('seeing', () => {
  const open = chapter('digit');
  const answer = (digit: number | string): Locator => open.page.locator('#answer', { hasText: `${digit}` });

  it('recognises every sample', async () => {
    for (let digit = 0; digit < 10; digit++) {
      await open.page.getByRole('button', { name: `Sample ${digit}`, exact: true }).click();
      await answer(digit).waitFor();
      const scores = await open.page
        .locator('score-bars .share')
        .evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset.score)));
      expect(scores.length).toBe(10);
      expect(scores.indexOf(Math.max(...scores))).toBe(digit);
      expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 6);
    }
  });

  it('recognises a digit that is drawn, small and off the middle', async () => {
    const box = await open.page.locator('digit-pad canvas').boundingBox();
    if (!box) throw new Error('the pad has no box');
    const { mouse } = open.page;
    const to = (x: number, y: number): Promise<void> => mouse.move(box.x + x, box.y + y, { steps: 8 });
    await open.page.locator('#clear').click();
    await to(30, 30);
    await mouse.down();
    for (const [x, y] of [
      [80, 30],
      [50, 110],
    ] as const)
      await to(x, y);
    await mouse.up();
    await answer(7).waitFor();
  });

  it('shows what the class token and every patch look at', async () => {
    const weights = async (): Promise<number[]> =>
      open.page
        .locator('patch-view button')
        .evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset.weight)));
    const sum = (all: number[]): number => all.reduce((total, weight) => total + weight, 0);
    const first = await weights();
    expect(first.length).toBe(49);
    expect(sum(first)).toBeGreaterThan(0.5);
    expect(sum(first)).toBeLessThanOrEqual(1 + 1e-5); // the rest is for the class token itself
    await open.page.getByRole('radio', { name: 'Layer 3, head 2', exact: true }).click();
    const other = await weights();
    expect(other).not.toEqual(first);
    await open.page.locator('patch-view button').nth(24).click();
    expect(await weights()).not.toEqual(other);
    await open.page.keyboard.press('ArrowRight');
    await open.page.keyboard.press('Enter');
    const pressed = open.page.locator('patch-view button[aria-pressed=true]');
    expect(await pressed.getAttribute('aria-label')).toMatch(/^Patch 26: line 4, column 5/);
    await open.page.getByRole('button', { name: 'all layers' }).click();
    expect(sum(await weights())).toBeLessThanOrEqual(1 + 1e-5);
    expect(open.complaints).toEqual([]);
  });
});
