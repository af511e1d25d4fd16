// The page writes a story with the bundled model and shows, for each token, what else it could have been.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

interface Case {
  name: string;
  options: { prompt: string };
  new_text: string;
}
const references = new URL('../../fixtures/stories260K/cases.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(references, 'utf8')) as { cases: Case[] };
const prompt = 'Once upon a time';

let site: Site;
let open: OpenPage;
let story: StoryPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open();
  story = new StoryPage(open.page);
});
afterAll(() => site.stop());

describe('the story', () => {
  it('begins by itself and grows token by token', async () => {
    const first = await story.tokens.count();
    await open.page.waitForFunction(
      (least) =>
        (document
          .querySelector('clear-app')
          ?.shadowRoot?.querySelector('story-chapter')
          ?.shadowRoot?.querySelector('written-text')
          ?.shadowRoot?.querySelector('token-strip')
          ?.shadowRoot?.querySelectorAll('[role=option]').length ?? 0) > least,
      first + 3,
    );
    expect(await story.text()).toContain(prompt);
  });

  it('stops when told to, and stays as it is', async () => {
    await story.stop();
    const count = await story.tokens.count();
    await open.page.waitForTimeout(600);
    expect(await story.tokens.count()).toBe(count);
    expect(await open.page.locator('#speed').textContent()).toContain('stopped');
  });

  it('writes single tokens, pauses and goes on', async () => {
    await open.page.locator('#step').click();
    await open.page.locator('#resume').waitFor();
    const counts: number[] = [];
    for (let i = 0; i < 3; i++) {
      await open.page.waitForTimeout(250);
      counts.push(await story.tokens.count());
      await open.page.locator('#step').click();
    }
    expect(counts.slice(1).map((count, i) => count - (counts[i] as number))).toEqual([1, 1]);
    await open.page.locator('#resume').click();
    await story.stop();
  });

  it('equals transformers greedily, 200 tokens', async () => {
    const reference = cases.find((one) => one.name === 'greedy_200');
    expect(reference?.options.prompt).toBe(prompt);
    await story.write(prompt, 200, 'the likeliest');
    const text = (await story.text()).replace('<s>', '').replaceAll('↵\n', '\n').trimStart();
    expect(text).toBe(prompt + reference?.new_text);
    expect(await open.page.locator('#speed').textContent()).toMatch(/^done · 200 tokens, [\d,.]+ tokens\/s$/);
  });

  it('gives the same text for the same seed and another for another', async () => {
    const texts: string[] = [];
    await story.choose('by chance');
    for (const seed of [3, 3, 4]) {
      await story.set('seed', seed);
      await story.write(prompt, 40, 'by chance');
      texts.push(await story.text());
    }
    expect(texts[1]).toBe(texts[0]);
    expect(texts[2]).not.toBe(texts[0]);
  });

  it('shows what a token could have been, and what was left in the draw', async () => {
    await story.tokens.nth(20).click();
    const rows = await story.candidates.evaluateAll((all) =>
      all.map((row) => ({
        shares: [...row.querySelectorAll('.share')].map((one) => one.textContent ?? ''),
        chosen: row.className === 'chosen',
      })),
    );
    expect(rows.length).toBeGreaterThanOrEqual(8);
    expect(rows.filter((row) => row.chosen).length).toBe(1);
    const model = rows.map((row) => Number.parseFloat(row.shares[0]?.replace('< ', '') ?? ''));
    expect(model.slice(0, 8)).toEqual(model.slice(0, 8).sort((a, b) => b - a));
    expect(model.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(100.5);
    expect(rows.find((row) => row.chosen)?.shares[1]).toMatch(/%$/);
  });

  it('writes on from another token when one is taken', async () => {
    const before = await story.tokens.allTextContents();
    const other = story.candidates.filter({ has: open.page.locator('button') }).first();
    const run = await story.run();
    await other.locator('button').click();
    await story.ended(run + 1);
    const after = await story.tokens.allTextContents();
    expect(after.slice(0, 20)).toEqual(before.slice(0, 20));
    expect(after[20]).not.toBe(before[20]);
    expect(after.length).toBe(21 + 40);
    await expect(story.tokens.nth(20).getAttribute('class')).resolves.toContain('reader');
  });

  it('says why it cannot write, and writes again when it can', async () => {
    await story.write('word '.repeat(600), 5, 'by chance');
    const note = open.page.locator('story-chapter error-note [role=alert]');
    expect(await note.textContent()).toContain('512 at most');
    await note.getByRole('button').click();
    await story.write(prompt, 5, 'by chance');
    expect(await note.count()).toBe(0);
  });

  it('complained of nothing and asked for nothing from elsewhere', () => {
    expect(open.complaints).toEqual([]);
  });
});
