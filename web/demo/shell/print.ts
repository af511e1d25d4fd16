// What print styles can't do: force the light colour scheme, keep the figure's layout, compute its scale, add the address.

import { theme } from '../book/theme.js';

/** The width inside the margins that fits A4 and Letter, in px: portrait and, for wide figures, landscape. */
const room = { upright: 676, lying: 934 };

/** An element of lit's, whose update need not wait. */
interface Updated extends Element {
  performUpdate?(): void;
}

/** All shadow roots inside, each before those within it, once what is pending there is drawn. */
function* drawnRoots(root: ParentNode): Generator<ShadowRoot> {
  for (const element of root.querySelectorAll<Updated>('*')) {
    element.performUpdate?.();
    if (!element.shadowRoot) continue;
    yield element.shadowRoot;
    yield* drawnRoots(element.shadowRoot);
  }
}

/** Queries of the window's size, which would be asked of the paper, keep their answers; returns what undoes that. */
function keepAnswers(sheets: Iterable<CSSStyleSheet>): () => void {
  const kept = [...sheets].flatMap(({ cssRules }) =>
    [...cssRules].flatMap((rule) => {
      if (!(rule instanceof CSSMediaRule) || !/width|height/.test(rule.media.mediaText)) return [];
      return { media: rule.media, query: rule.media.mediaText };
    }),
  );
  for (const { media, query } of kept) media.mediaText = matchMedia(query).matches ? 'all' : 'not all';
  return () => {
    for (const { media, query } of kept) media.mediaText = query;
  };
}

/** Sets the page up for printing; returns a callback that undoes it. */
function setUp(): () => void {
  const root = document.documentElement;
  const chosen = root.dataset.theme;
  const holder = document.querySelector<HTMLElement>('main .figure');
  const width = holder?.firstElementChild?.getBoundingClientRect().width ?? 0;
  const scale = (document.querySelector('.wide') ? room.lying : room.upright) / width;
  const address = document.createElement('p');
  address.className = 'printed-address';
  address.textContent = location.href;
  document.querySelector('main')?.append(address);
  holder?.style.setProperty('--print-width', `${width}px`);
  holder?.style.setProperty('--print-zoom', String(Math.min(1, scale)));
  root.dataset.theme = 'light';
  theme.dispatchEvent(new Event('change'));
  // At once: Firefox copies the document before it runs what is pending.
  const roots = holder ? [...drawnRoots(holder)] : [];
  const askAgain = keepAnswers(new Set(roots.flatMap(({ adoptedStyleSheets }) => adoptedStyleSheets)));
  return () => {
    askAgain();
    address.remove();
    for (const name of ['--print-width', '--print-zoom']) holder?.style.removeProperty(name);
    if (chosen === undefined) delete root.dataset.theme;
    else root.dataset.theme = chosen;
    theme.dispatchEvent(new Event('change'));
  };
}

/** Prepares the page each time it is printed. */
export function preparePrinting(): void {
  let restore: (() => void) | undefined;
  addEventListener('beforeprint', () => {
    restore ??= setUp();
  });
  addEventListener('afterprint', () => {
    restore?.();
    restore = undefined;
  });
}
