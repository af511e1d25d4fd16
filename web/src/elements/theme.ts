// Dark or light theme, the reader's language and the minimum font size, taken from the surrounding page.

import { luminance, type Rgb, type Theme } from './colours.js';

const measured = new Map<string, Theme>();

/** The RGB value of a CSS colour in any notation. */
function painted(colour: string): Rgb {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return [0, 0, 0];
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** Dark if the text colour that the element inherits is light. */
export function themeOf(element: Element): Theme {
  const { color } = getComputedStyle(element);
  let theme = measured.get(color);
  if (theme === undefined) {
    theme = luminance(painted(color)) > 0.4 ? 'dark' : 'light';
    measured.set(color, theme);
  }
  return theme;
}

const minFontSizeName = '--cf-min-font-size';
const watchers = new Set<() => void>();
let started = false;

function start(): void {
  if (started) return;
  started = true;
  registerMinFontSize();
  const tell = (): void => {
    for (const watcher of [...watchers]) watcher();
  };
  globalThis.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', tell);
  globalThis.addEventListener?.('beforeprint', tell); // of a page that is printed in other colours
  const watched = {
    attributes: true,
    attributeOldValue: true,
    attributeFilter: ['data-theme', 'class', 'style', 'lang'],
  };
  new MutationObserver((records) => records.some(isChange) && tell()).observe(document.documentElement, watched);
}

/** An attribute that is set to the value it has is a mutation, too, after which nothing looks different. */
const isChange = ({ attributeName, oldValue }: MutationRecord): boolean =>
  document.documentElement.getAttribute(attributeName ?? '') !== oldValue;

/** Registered, the property computes to pixels from any unit. Throws if another copy of this module has registered it. */
function registerMinFontSize(): void {
  try {
    CSS.registerProperty({ name: minFontSizeName, syntax: '<length>', inherits: true, initialValue: '0px' });
  } catch {
    // registered already
  }
}

/** The page's minimum font size for elements, in CSS pixels; 0 without one. */
export const minFontSizeOf = (element: Element): number =>
  Number.parseFloat(getComputedStyle(element).getPropertyValue(minFontSizeName)) || 0;

/** Calls back when the page's theme, language or minimum font size may have changed; the returned function stops that. */
export function watchTheme(watcher: () => void): () => void {
  start();
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Whether the reader prefers reduced motion. */
export const motionReduced = (): boolean =>
  globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;
