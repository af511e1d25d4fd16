// Class mode, for projectors: a minimum font size that can be read from the last row, and the size of the area left for
// a figure. How much of the wall a letter covers is what counts, so smaller windows have smaller sizes.

import type { Address } from './address.js';

/** In CSS pixels: minimum font size, height of the bar, height of a caption of three lines. Of a window of this size: */
const sizes = { minFont: 24, bar: 60, caption: 122 };
const usual = { width: 1440, height: 900 };
/** Narrower windows, as of phones, keep the default sizes. */
const wide = matchMedia('(min-width: 901px)');

const scale = (): number => Math.max(2 / 3, Math.min(1, innerWidth / usual.width, innerHeight / usual.height));

/** A size of class mode, stated for the usual window, in this one; `calc(size * var(--wall))` in style sheets. */
export const onWall = (size: number): number => size * scale();

/** The minimum font size in CSS pixels; 0 outside class mode. */
export const minFontSizeOf = (address: Address): number =>
  address.get('class') !== undefined && wide.matches ? onWall(sizes.minFont) : 0;

/** The height between bar and caption, in CSS pixels. */
export const stageHeight = (): number => innerHeight - onWall(sizes.bar + sizes.caption);

/** Sets the sizes as custom properties, for style sheets and for the elements of `clearformer/elements`. */
export function applyClassMode(address: Address): void {
  const { style } = document.documentElement;
  const on = minFontSizeOf(address) > 0;
  const lengths = { '--cf-min-font-size': sizes.minFont, '--bar': sizes.bar, '--caption': sizes.caption };
  const properties = Object.entries(lengths).map(([name, size]) => [name, `${onWall(size)}px`] as const);
  for (const [name, set] of [...properties, ['--wall', String(scale())] as const]) {
    const value = on ? set : '';
    if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
  }
}
