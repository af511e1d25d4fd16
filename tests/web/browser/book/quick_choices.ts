// Choices that follow each other faster than the figure computes.

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { settled } from '../site.js';

const clickTwice = (node: HTMLElement): void => {
  node.click();
  node.click();
};

const clickAndUndo = (node: HTMLElement): void => {
  interface App extends Element {
    book: { address: { undo(): void } };
  }
  node.click();
  (document.querySelector('book-app') as App).book.address.undo();
};

/** A switch that is on stays as the address says: after two choices at once, and after one that is taken back at once. */
export async function expectFollowed(page: Page, choice: Locator): Promise<void> {
  for (const quickly of [clickTwice, clickAndUndo]) {
    await choice.evaluate(quickly);
    await settled(page);
    expect(await choice.isChecked(), quickly.name).toBe(true);
    expect(page.url()).not.toContain(':zero');
  }
}
