// Images on their way into a model and out of it again.

/** An image of grey or red, green and blue planes, [1, channel, height, width], as bytes: its least value is black. */
export function toImageData({ data, dims }: { data: ArrayLike<number>; dims: readonly number[] }): ImageData {
  const [, channels = 1, height = 1, width = 1] = dims;
  const plane = width * height;
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < data.length; i++) {
    least = Math.min(least, data[i] ?? least);
    most = Math.max(most, data[i] ?? most);
  }
  const bytes = new Uint8ClampedArray(plane * 4);
  for (let i = 0; i < plane; i++) {
    for (let channel = 0; channel < 3; channel++) {
      const value = data[(channels === 1 ? 0 : channel) * plane + i] ?? 0;
      bytes[i * 4 + channel] = most > least ? ((value - least) / (most - least)) * 255 : 0;
    }
    bytes[i * 4 + 3] = 255;
  }
  return new ImageData(bytes, width, height);
}

export interface Frame {
  /** Where the drawing's origin goes, and how much it is magnified. */
  left: number;
  top: number;
  scale: number;
}

/** Part of MNIST's square that the longer side of a digit fills: 20 of 28 pixels. */
const fill = 20 / 28;

/**
 * Where a drawing of white on black goes in a square of `side`, so that it lies as the digits of MNIST do: its longer side
 * 20 of 28, its centre of mass in the middle. Undefined where nothing is drawn.
 */
export function mnistFrame(rgba: ArrayLike<number>, side: number): Frame | undefined {
  let [left, top, right, bottom, mass, sumX, sumY] = [side, side, -1, -1, 0, 0, 0];
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const ink = rgba[(y * side + x) * 4] ?? 0;
      if (ink === 0) continue;
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      mass += ink;
      sumX += ink * (x + 0.5);
      sumY += ink * (y + 0.5);
    }
  }
  if (mass === 0) return undefined;
  const scale = (side * fill) / (Math.max(right - left, bottom - top) + 1);
  return { left: side / 2 - (sumX / mass) * scale, top: side / 2 - (sumY / mass) * scale, scale };
}
