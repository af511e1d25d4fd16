// The page's story chapter as a reader uses it, for the tests: set, write, pick, read off.

import type { Locator, Page } from 'playwright-core';

export type Choice = 'by chance' | 'the likeliest';

export interface Reading {
  query: number;
  key: number;
  weight: number;
  sum: number;
}

export class StoryPage {
  constructor(readonly page: Page) {}

  get tokens(): Locator {
    return this.page.locator('token-strip [role=option]');
  }

  get map(): Locator {
    return this.page.locator('attention-map canvas');
  }

  get candidates(): Locator {
    return this.page.locator('candidate-list tbody tr');
  }

  /** The text as it stands, special tokens included. */
  text(): Promise<string> {
    return this.tokens.evaluateAll((all) => all.map((one) => one.textContent).join(''));
  }

  async fullSpeed(): Promise<void> {
    const folded = this.page.locator('story-controls details:not([open]) summary');
    if ((await folded.count()) > 0) await folded.click();
    await this.page.locator('#pace').selectOption('0');
  }

  async stop(): Promise<void> {
    await this.page.locator('#stop').click();
    await this.page.locator('#write').waitFor();
  }

  /** Waits for the text that is being written to end, or for the one with that number. */
  async ended(run?: number): Promise<void> {
    const which = run === undefined ? '' : `[data-run="${run}"]`;
    await this.page.locator(`section${which}[data-phase=idle]`).waitFor({ timeout: 60_000 });
  }

  /** How many texts were begun. */
  async run(): Promise<number> {
    return Number(await this.page.locator('section[data-run]').getAttribute('data-run'));
  }

  async set(name: 'temperature' | 'top_k' | 'top_p' | 'seed' | 'max_new_tokens', value: number): Promise<void> {
    const input = this.page.locator(`#${name}`);
    await input.fill(`${value}`);
    await input.press('Tab');
  }

  async choose(how: Choice): Promise<void> {
    await this.page.getByRole('button', { name: how }).click();
  }

  /** Ends what the page began by itself and writes as asked, at full speed. */
  async write(prompt: string, count: number, how: Choice): Promise<void> {
    await this.fullSpeed();
    await this.ended();
    await this.choose(how);
    await this.page.locator('#prompt').fill(prompt);
    await this.set('max_new_tokens', count);
    const before = await this.run();
    await this.page.locator('#write').click();
    await this.ended(before + 1);
  }

  async reading(): Promise<Reading> {
    const data = await this.page.locator('cell-readout .read').evaluate((one) => ({ ...(one as HTMLElement).dataset }));
    const number = (name: string): number => Number(data[name] ?? Number.NaN);
    return { query: number('query'), key: number('key'), weight: number('weight'), sum: number('sum') };
  }

  /** Points at the middle of a cell of the whole map of `rows` rows. */
  async point(query: number, key: number, rows: number, gutter = 66): Promise<void> {
    await this.map.scrollIntoViewIfNeeded();
    const box = await this.map.boundingBox();
    if (!box) throw new Error('the map has no box');
    const cell = (box.width - gutter - 3) / rows;
    await this.page.mouse.move(box.x + gutter + (key + 0.5) * cell, box.y + gutter + (query + 0.5) * cell);
  }

  async chooseHead(layer: number, head: number): Promise<void> {
    await this.page.getByRole('radio', { name: `Layer ${layer}, head ${head}`, exact: true }).click();
  }
}
