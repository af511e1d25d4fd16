// Numbers as a picture, a pixel each, for places where cells would be too small to be elements.

import { signed } from 'clearformer/elements';
import { theme } from './theme.js';

/** The bound of a picture of many numbers whose few large ones may all have the full colour: twice the root mean square. */
export const usualBound = (values: Float32Array): number =>
  2 * Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

/** Draws `columns` numbers a row, full colour at `bound`; numbers that are NaN stay clear. */
export function paint(canvas: HTMLCanvasElement, values: ArrayLike<number>, columns: number, bound: number): void {
  canvas.width = columns;
  canvas.height = Math.ceil(values.length / columns);
  const context = canvas.getContext('2d');
  if (!context || values.length === 0) return;
  const image = context.createImageData(canvas.width, canvas.height);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    const [red, green, blue] = signed(value, bound, theme.current);
    image.data.set([red, green, blue, Number.isNaN(value) ? 0 : 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

/** The same as an address of the picture. */
export function pixels(values: ArrayLike<number>, columns: number, bound: number): string {
  const canvas = document.createElement('canvas');
  paint(canvas, values, columns, bound);
  return values.length === 0 ? '' : canvas.toDataURL();
}
