// What print styles can't do: force the light colour scheme, keep the figure's layout, compute its scale and what fits on
// a page, add the address.

import { theme } from '../book/theme.js';

/** The room inside the margins that fits A4 and Letter, below a title, in px: portrait and, for wide figures, landscape. */
const room = { upright: { width: 676, height: 820 }, lying: { width: 934, height: 570 } };
/** How much smaller figures become to fit a page: longer ones are broken. */
const mostShrunk = 0.7;

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
  const holder = document.querySelector<HTMLElement>('main .figure');
  const { width = 0, height = 0 } = holder?.firstElementChild?.getBoundingClientRect() ?? {};
  const lying = document.querySelector('.wide') !== null && width > room.upright.width;
  const paper = lying ? room.lying : room.upright;
  const across = Math.min(1, paper.width / width);
  const whole = Math.min(across, paper.height / height);
  const fits = whole >= mostShrunk * across;
  const properties = {
    '--print-width': `${width}px`,
    '--print-zoom': String(fits ? whole : across),
    '--print-page': lying ? 'wide' : 'auto',
    '--print-break': fits ? 'avoid' : 'auto', // or the page before it has the title alone
    'forced-color-adjust': 'none', // paper has no forced colours; what is painted has the ink of the screen
  };
  const address = document.createElement('p');
  address.className = 'printed-address';
  address.textContent = location.href;
  document.querySelector('main')?.append(address);
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(name, value);
  theme.onPaper = true;
  // At once: Firefox copies the document before it runs what is pending.
  const roots = holder ? [...drawnRoots(holder)] : [];
  const askAgain = keepAnswers(new Set(roots.flatMap(({ adoptedStyleSheets }) => adoptedStyleSheets)));
  return () => {
    askAgain();
    address.remove();
    for (const name of Object.keys(properties)) root.style.removeProperty(name);
    theme.onPaper = false;
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
