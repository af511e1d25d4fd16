// Reads the page's numbers from elements that draw them, by their source, and its visible text.

import type { Page } from 'playwright-core';

/** A page of either browser driver. */
export type EvaluatingPage = { evaluate<R>(work: () => R | Promise<R>): Promise<R> };

export interface ReadNumbers {
  source: string;
  dims: number[];
  data: number[];
}

/**
 * Everything that the open figure draws, as a string: equal strings mean equal bits. The numbers are encoded as bytes,
 * since a driver serialises numbers slowly.
 */
export const drawnText = (page: EvaluatingPage): Promise<string> => page.evaluate(drawnTextNow);

/** `drawnText` inside the page. Serialised for the browser: it uses nothing from outside. */
export function drawnTextNow(): string {
  interface Drawing extends Element {
    source: string;
    numbers: { dims: readonly number[]; data: ArrayLike<number> };
  }
  const base64 = (data: ArrayLike<number>): string => {
    let text = '';
    for (const byte of new Uint8Array(Float64Array.from(data).buffer)) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const figure = document.querySelector('main .figure > *') as HTMLElement & { drawn(): Drawing[] };
  return JSON.stringify(
    figure.drawn().map(({ source, numbers }) => ({ source, dims: [...numbers.dims], data: base64(numbers.data) })),
  );
}

/** Everything that the open figure draws, with its numbers. */
export async function drawn(page: EvaluatingPage): Promise<ReadNumbers[]> {
  const read: { source: string; dims: number[]; data: string }[] = JSON.parse(await drawnText(page));
  return read.map(({ data, ...rest }) => {
    const bytes = Uint8Array.from(Buffer.from(data, 'base64'));
    return { ...rest, data: Array.from(new Float64Array(bytes.buffer)) };
  });
}

/** The numbers with that `source`; throws naming what is drawn instead. */
export async function numbersOf(page: EvaluatingPage, source: string): Promise<ReadNumbers> {
  const all = await drawn(page);
  const found = all.find((one) => one.source === source);
  if (found) return found;
  const says = await page.evaluate(
    () => document.querySelector('main .figure > *')?.shadowRoot?.textContent?.replace(/\s+/g, ' ').slice(0, 300) ?? '',
  );
  throw new Error(
    `nothing is drawn from ${source}; drawn: ${all.map((one) => one.source).join('; ')}; the figure says: ${says}`,
  );
}

/** The visible text of the page, including shadow trees. */
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

/**
 * The number of pixels by which the figure overflows, inside the page. Firefox's scroll bars take space; Chromium's are
 * hidden.
 */
export function figureOverflow(): number {
  const place = document.querySelector('main .figure');
  return place ? place.scrollWidth - place.clientWidth : Number.NaN;
}

/** Elements wider than the page, and errors shown by the chapter. */
export const brokenLooks = (page: EvaluatingPage): Promise<string[]> => page.evaluate(brokenLooksNow);

/** `brokenLooks` inside the page. Also serialised. */
export function brokenLooksNow(): string[] {
  const faults: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth + 1) faults.push(`the page is ${scrollWidth} px wide in ${clientWidth}`);
  const figure = document.querySelector('main .figure > *');
  const failed = figure?.shadowRoot?.querySelector('.failed') ?? document.querySelector('.failed');
  if (failed && figure?.localName !== 'figure-own') faults.push(`failed: ${failed.textContent?.trim()}`);
  const faulty = figure?.shadowRoot?.querySelector('.fault');
  if (faulty) faults.push(`an element: ${faulty.textContent}`);
  const prose = document.querySelector('.step.on .prose')?.textContent ?? '';
  if (/…[^.]{0,2} /.test(prose.replace(/\s…$/, ''))) faults.push(`not computed in: ${prose.trim().slice(0, 160)}`);
  if ((figure?.getBoundingClientRect().height ?? 0) < 60) faults.push('the figure is empty');
  return faults;
}
