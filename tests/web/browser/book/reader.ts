// Reads the numbers of the page as a reader's eye and a screen reader do: elements that draw numbers, by where those come from.

import type { Page } from 'playwright-core';

export interface ReadNumbers {
  source: string;
  dims: number[];
  data: number[];
}

/** Everything that the open figure draws, with its numbers. */
export async function drawn(page: Page): Promise<ReadNumbers[]> {
  return page.evaluate(() => {
    interface Drawing extends Element {
      source: string;
      numbers: { dims: readonly number[]; data: ArrayLike<number> };
    }
    const figure = document.querySelector('main .figure > *') as HTMLElement & { drawn(): Drawing[] };
    return figure.drawn().map(({ source, numbers }) => ({
      source,
      dims: [...numbers.dims],
      data: Array.from(numbers.data),
    }));
  });
}

/** The numbers that come from `source`; throws naming what is drawn instead. */
export async function numbersOf(page: Page, source: string): Promise<ReadNumbers> {
  const all = await drawn(page);
  const found = all.find((one) => one.source === source);
  if (found) return found;
  throw new Error(`nothing is drawn from ${source}; drawn: ${all.map((one) => one.source).join('; ')}`);
}

/** The text of the page that is seen, shadow trees included. */
export async function shownText(page: Page): Promise<string> {
  return page.evaluate(() => {
    const textOf = (node: Node): string => {
      if (node instanceof Text) return node.data;
      if (node instanceof HTMLStyleElement || node instanceof HTMLScriptElement) return '';
      const root = node instanceof Element && node.shadowRoot ? node.shadowRoot : node;
      return [...root.childNodes].map(textOf).join('');
    };
    return textOf(document.body).replace(/\s+/g, ' ');
  });
}
