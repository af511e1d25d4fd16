// Values as an image with one pixel each, where cells would be too small to be elements.

import { signed } from 'clearformer/elements';
import { theme } from './theme.js';

/** The colour scale's bound for many values with few outliers, which may saturate: twice the root mean square. */
export const usualBound = (values: Float32Array): number =>
  2 * Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

/** Paints `columns` values a row, saturated at `bound`; NaN is transparent. */
export function paint(canvas: HTMLCanvasElement, values: ArrayLike<number>, columns: number, bound: number): void {
  canvas.width = columns;
  canvas.height = Math.ceil(values.length / columns);
  const context = canvas.getContext('2d');
  if (!context || values.length === 0) return;
  const image = context.createImageData(canvas.width, canvas.height);
  const { current } = theme; // asks for the page's layout
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    const [red, green, blue] = signed(value, bound, current);
    image.data[4 * i] = red;
    image.data[4 * i + 1] = green;
    image.data[4 * i + 2] = blue;
    image.data[4 * i + 3] = Number.isNaN(value) ? 0 : 255;
  }
  context.putImageData(image, 0, 0);
}

/** The same as the data URL of an image. */
export function pixels(values: ArrayLike<number>, columns: number, bound: number): string {
  const canvas = document.createElement('canvas');
  paint(canvas, values, columns, bound);
  return values.length === 0 ? '' : canvas.toDataURL();
}
