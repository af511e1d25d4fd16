// Converts CSS colours to SVG presentation attributes that every renderer supports: `oklch(…)`, `color-mix(…)` and the
// like become sRGB, with the opacity as an attribute of its own.

import type { Attributes } from './markup.js';

export interface Paint {
  /** `#rrggbb`. */
  colour: string;
  opacity: number;
}

let pixel: CanvasRenderingContext2D | null | undefined;
const known = new Map<string, Paint>();

function read(css: string): Paint {
  if (pixel === undefined) {
    const canvas = document.createElement('canvas');
    canvas.width = 1;
    canvas.height = 1;
    pixel = canvas.getContext('2d', { willReadFrequently: true });
  }
  if (!pixel) return { colour: '#000000', opacity: 1 };
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = '#000';
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  return { colour: hex([red, green, blue]), opacity: alpha / 255 };
}

const hex = (parts: readonly number[]): string =>
  `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** Parses a computed colour. */
export function paintOf(css: string): Paint {
  const found = known.get(css);
  if (found) return found;
  const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(css);
  const paint = plain
    ? { colour: hex([Number(plain[1]), Number(plain[2]), Number(plain[3])]), opacity: Number(plain[4] ?? 1) }
    : read(css);
  known.set(css, paint);
  return paint;
}

/** The attributes `fill` and `fill-opacity`, or `stroke` and `stroke-opacity`. */
export function painted(name: 'fill' | 'stroke', css: string): Attributes {
  const { colour, opacity } = paintOf(css);
  return {
    [name]: opacity === 0 ? 'none' : colour,
    [`${name}-opacity`]: opacity > 0 && opacity < 1 ? opacity : undefined,
  };
}

export const isClear = (css: string): boolean => paintOf(css).opacity === 0;
