// What print styles can't do: force the light colour scheme, compute the figure's scale, add the address.

import { theme } from '../book/theme.js';

/** The width inside the margins that fits A4 and Letter, in px: portrait and, for wide figures, landscape. */
const room = { upright: 676, lying: 934 };

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
  return () => {
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
