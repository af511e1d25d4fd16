// Class mode, for projectors: a minimum font size that can be read from the last row, and the size of the area left for
// a figure.

import type { Address } from './address.js';

/** In CSS pixels: minimum font size, height of the bar, height of a caption of three lines. */
const sizes = { minFont: 24, bar: 60, caption: 136 };
/** Narrower windows, as of phones, keep the default sizes. */
const wide = matchMedia('(min-width: 901px)');

/** The minimum font size in CSS pixels; 0 outside class mode. */
export const minFontSizeOf = (address: Address): number =>
  address.get('class') !== undefined && wide.matches ? sizes.minFont : 0;

/** The height between bar and caption, in CSS pixels. */
export const stageHeight = (): number => innerHeight - sizes.bar - sizes.caption;

/** Sets the sizes as custom properties, for style sheets and for the elements of `clearformer/elements`. */
export function applyClassMode(address: Address): void {
  const { style } = document.documentElement;
  const on = minFontSizeOf(address) > 0;
  const properties = { '--cf-min-font-size': sizes.minFont, '--bar': sizes.bar, '--caption': sizes.caption };
  for (const [name, size] of Object.entries(properties)) {
    const value = on ? `${size}px` : '';
    if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
  }
}
