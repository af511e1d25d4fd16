// Resizing of images with alpha as in Pillow: colours count by their alpha, those of transparent pixels not at all.
// They are multiplied by it before, and divided after. Loaded on first use.
// Source: Pillow's Image.resize, src/libImaging/Convert.c (rgba2rgbA, rgbA2rgba). Checked bit by bit against Pillow.

import { runs, type Steps } from '../support/steps.js';
import type { Pixels } from './pixels.js';
import { resize } from './resampling.js';

/** Resizes an image of bytes whose last channel is alpha. `resample` is one of `resamplings`. */
export function* resizeWithAlpha(image: Pixels, width: number, height: number, resample: number): Steps<Pixels> {
  const isSame = width === image.width && height === image.height;
  if (resample === 0 || isSame) return yield* resize(image, width, height, resample);
  const weighted = yield* withColours(image, (colour, alpha) => {
    const product = colour * alpha + 128;
    return (product + (product >> 8)) >> 8; // product / 255, rounded
  });
  const resized = yield* resize(weighted, width, height, resample);
  return yield* withColours(resized, (colour, alpha) => (alpha === 0 ? colour : Math.trunc((255 * colour) / alpha)));
}

function* withColours(image: Pixels, made: (colour: number, alpha: number) => number): Steps<Pixels> {
  const { data, channels, width, height } = image;
  const out = new Uint8ClampedArray(data);
  yield* runs(width * height, (start, end) => {
    for (let i = start * channels; i < end * channels; i += channels) {
      const alpha = data[i + channels - 1] as number;
      for (let c = i; c < i + channels - 1; c++) out[c] = made(data[c] as number, alpha);
    }
  });
  return { ...image, data: out };
}
