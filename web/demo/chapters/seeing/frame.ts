// Converts a drawing or an image file to 28 × 28: white on black, framed like the digits of MNIST, and resized by the
// model's own image processor.

import { ClearformerError, type ImageProcessor } from 'clearformer';
import { digits } from './geometry.js';
import type { Greys } from './pixels.js';

/** The side of the drawing canvas, and of the square that files are fitted into. */
export const canvasSide = 280;

interface Frame {
  /** The offset of the drawing's origin, and its scale. */
  readonly left: number;
  readonly top: number;
  readonly scale: number;
}

/** The share of MNIST's square that the longer side of a digit fills: 20 of 28 pixels. */
const fill = 20 / 28;
/** Grey values below this are noise in a photograph; strokes are brighter. */
const noise = 40;

/** Undefined for an empty drawing. */
export function mnistFrame(rgba: ArrayLike<number>): Frame | undefined {
  let [left, top, right, bottom, mass, sumX, sumY] = [canvasSide, canvasSide, -1, -1, 0, 0, 0];
  for (let y = 0; y < canvasSide; y++) {
    for (let x = 0; x < canvasSide; x++) {
      const ink = rgba[(y * canvasSide + x) * 4] ?? 0;
      if (ink < noise) continue;
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      mass += ink;
      sumX += ink * (x + 0.5);
      sumY += ink * (y + 0.5);
    }
  }
  if (mass === 0) return undefined;
  const scale = (canvasSide * fill) / (Math.max(right - left, bottom - top) + 1);
  return { left: canvasSide / 2 - (sumX / mass) * scale, top: canvasSide / 2 - (sumY / mass) * scale, scale };
}

export function blackCanvas(): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(canvasSide, canvasSide).getContext('2d', { willReadFrequently: true });
  if (!context) throw new ClearformerError('unsupported', 'this browser draws on no canvas');
  context.fillRect(0, 0, canvasSide, canvasSide);
  return context;
}

/** The drawing scaled and centred like the digits the model was trained on. Undefined for an empty drawing. */
export async function framed(
  drawing: OffscreenCanvasRenderingContext2D,
  processor: ImageProcessor,
): Promise<Greys | undefined> {
  const frame = mnistFrame(drawing.getImageData(0, 0, canvasSide, canvasSide).data);
  if (!frame) return undefined;
  const placed = blackCanvas();
  placed.drawImage(drawing.canvas, frame.left, frame.top, canvasSide * frame.scale, canvasSide * frame.scale);
  const { data: rgba } = placed.getImageData(0, 0, canvasSide, canvasSide);
  const greys = Uint8Array.from({ length: canvasSide ** 2 }, (_, i) => rgba[4 * i] ?? 0);
  const { pixel_values } = await processor({ data: greys, width: canvasSide, height: canvasSide, channels: 1 });
  const { data } = pixel_values; // −1 is black, 1 is white
  return Uint8Array.from({ length: digits.side ** 2 }, (_, i) => Math.round(255 * ((data[i] ?? -1) / 2 + 0.5)));
}

/**
 * Decodes an image file, its longer side scaled to the canvas; grey, and inverted to white on black if its rim is
 * bright. Undefined for a file that is no picture this browser reads.
 */
export async function drawingOf(file: Blob): Promise<OffscreenCanvasRenderingContext2D | undefined> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (!bitmap) return undefined;
  const scale = canvasSide / Math.max(bitmap.width, bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  const flat = blackCanvas();
  const [left, top] = [(canvasSide - width) / 2, (canvasSide - height) / 2];
  flat.drawImage(bitmap, left, top, width, height);
  bitmap.close();
  const image = flat.getImageData(0, 0, canvasSide, canvasSide);
  const greys = Array.from({ length: canvasSide ** 2 }, (_, i) => luma(image.data, 4 * i));
  const inside = (x: number, y: number): boolean =>
    x >= Math.ceil(left) && x < Math.floor(left + width) && y >= Math.ceil(top) && y < Math.floor(top + height);
  const bright = rimIsBright(greys, inside);
  const ink = greys.map((grey, i) => {
    if (!bright) return grey;
    return inside(i % canvasSide, Math.floor(i / canvasSide)) ? 255 - grey : 0;
  });
  stretched(ink).forEach((grey, i) => {
    image.data.set([grey, grey, grey, 255], 4 * i);
  });
  flat.putImageData(image, 0, 0);
  return flat;
}

/** Grey value of a pixel as computed by Pillow (ITU-R BT.601). */
const luma = (rgba: ArrayLike<number>, at: number): number =>
  0.299 * (rgba[at] ?? 0) + 0.587 * (rgba[at + 1] ?? 0) + 0.114 * (rgba[at + 2] ?? 0);

function rimIsBright(greys: readonly number[], inside: (x: number, y: number) => boolean): boolean {
  let [sum, count] = [0, 0];
  for (let y = 0; y < canvasSide; y++) {
    for (let x = 0; x < canvasSide; x++) {
      const rim = inside(x, y) && !(inside(x - 6, y) && inside(x + 6, y) && inside(x, y - 6) && inside(x, y + 6));
      if (!rim) continue;
      sum += greys[y * canvasSide + x] ?? 0;
      count++;
    }
  }
  return sum / Math.max(1, count) > 127;
}

/** Stretches the contrast; the darker half of the pixels is taken to be background. */
function stretched(greys: readonly number[]): number[] {
  const sorted = Float64Array.from(greys).sort();
  const [low, high] = [sorted[Math.floor(sorted.length * 0.5)] ?? 0, sorted.at(-1) ?? 255];
  if (high - low < 1) return greys.map(() => 0);
  return greys.map((grey) => Math.max(0, Math.min(255, (255 * (grey - low)) / (high - low))));
}
