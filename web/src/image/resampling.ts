// Resizing of 8-bit images exactly as in Pillow: one filter along the rows and one along the columns, each in fixed
// point with 22 fractional bits and rounded to 8 bits. When an image shrinks, the filter is widened to cover all pixels
// that an output pixel represents.
//   out(i) = Σ_j w((j + 1/2 - c)/s) · in(j) / Σ_j w((j + 1/2 - c)/s),  c = (i + 1/2)·n/n',  s = max(n/n', 1)
// Images of floats are resized likewise, but with exact weights and without rounding, as torchvision does.
// Source: Pillow's Image.resize, src/libImaging/Resample.c; nearest: Geometry.c. Checked bit by bit against Pillow.

import { isA } from '../support/kinds.js';
import type { Steps } from '../support/steps.js';
import type { Pixels } from './pixels.js';

interface Filter {
  /** Distance from which the weight is 0, in pixels of the smaller image. */
  support: number;
  weight(distance: number): number;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

const box: Filter = { support: 0.5, weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) };

const bilinear: Filter = { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) };

/** The constants are float32 in Pillow. */
const hamming: Filter = {
  support: 1,
  weight: (x) => {
    if (x === 0) return 1;
    if (Math.abs(x) >= 1) return 0;
    return sinc(Math.abs(x)) * (Math.fround(0.54) + Math.fround(0.46) * Math.cos(Math.abs(x) * Math.PI));
  },
};

/** Cubic convolution (Keys 1981) with a = -1/2. */
const bicubic: Filter = {
  support: 2,
  weight: (distance) => {
    const x = Math.abs(distance);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
  },
};

const lanczos: Filter = { support: 3, weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) };

const nearest = 0;
/** By the values of PIL.Image.Resampling. */
const filters: Readonly<Record<number, Filter>> = { 1: lanczos, 2: bilinear, 3: bicubic, 4: box, 5: hamming };

/** Valid values of `resample`. */
export const resamplings: readonly number[] = [nearest, ...Object.keys(filters).map(Number)];

/** Resizes an image of bytes. `resample` is one of `resamplings`. */
export function* resize(image: Pixels, width: number, height: number, resample: number): Steps<Pixels> {
  const filter = filters[resample];
  if (filter === undefined) return yield* pickNearest(image, width, height);
  const shrinksMore = height < image.height && image.height - height > 2 * (image.width - width);
  const resizing = [resizeRows, resizeColumns];
  if (shrinksMore) resizing.reverse();
  let out = image;
  // The order affects the rounding between the two. Pillow 13 starts with the columns if that saves work;
  // earlier versions always start with the rows.
  for (const once of resizing) out = yield* once(out, once === resizeRows ? width : height, filter);
  return out;
}

/** Resizes an image whose numbers are not rounded: float32. */
export function* resizeFloats(image: Pixels, width: number, height: number, resample: number): Steps<Pixels> {
  const filter = filters[resample];
  if (filter === undefined) return yield* pickNearest(image, width, height);
  const { channels } = image;
  let data = image.data;
  if (width !== image.width) data = yield* resizeAxis(data, image.width, width, channels, filter);
  if (height !== image.height) data = yield* resizeAxis(data, image.height, height, width * channels, filter);
  return { data, width, height, channels };
}

/** Resizes one axis, of whose elements each has `inner` numbers. */
function* resizeAxis(
  data: Pixels['data'],
  from: number,
  to: number,
  inner: number,
  filter: Filter,
): Steps<Float32Array<ArrayBuffer>> {
  const { first, count, weights, stride } = tapsOf(from, to, filter, Float64Array, (weight) => weight);
  const lines = data.length / (from * inner);
  const out = new Float32Array(lines * to * inner);
  for (let line = 0; line < lines; line++) {
    for (let i = 0; i < to; i++) {
      if (i % 64 === 0) yield;
      const start = (line * from + (first[i] as number)) * inner;
      for (let k = 0; k < inner; k++) {
        let sum = 0;
        for (let j = 0; j < (count[i] as number); j++) {
          sum += (data[start + j * inner + k] as number) * (weights[i * stride + j] as number);
        }
        out[(line * to + i) * inner + k] = sum;
      }
    }
  }
  return out;
}

const fractionBits = 22; // 32 less 8 for the value and 2 for filters that overshoot
const half = 1 << (fractionBits - 1);

/** For each output the first input and the number of inputs, and all weights in sequence. */
interface Taps<Weights> {
  first: Int32Array;
  count: Int32Array;
  weights: Weights;
  /** Where the next output's weights start. */
  stride: number;
}

function tapsOf<Weights extends Int32Array | Float64Array>(
  from: number,
  to: number,
  filter: Filter,
  Numbers: new (length: number) => Weights,
  rounded: (weight: number) => number,
): Taps<Weights> {
  const scale = from / to;
  const stretch = Math.max(scale, 1);
  const support = filter.support * stretch;
  const stride = Math.ceil(support) * 2 + 1;
  const taps = { first: new Int32Array(to), count: new Int32Array(to), weights: new Numbers(to * stride), stride };
  const exact = new Float64Array(stride);
  for (let i = 0; i < to; i++) {
    const center = (i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(from, Math.trunc(center + support + 0.5)) - first;
    let sum = 0;
    for (let j = 0; j < count; j++) {
      const weight = filter.weight((j + first - center + 0.5) * (1 / stretch));
      exact[j] = weight;
      sum += weight;
    }
    taps.first[i] = first;
    taps.count[i] = count;
    for (let j = 0; j < count; j++) taps.weights[i * stride + j] = rounded((exact[j] as number) / (sum || 1));
  }
  return taps;
}

/** Rounds to nearest, halves away from zero. */
function fixedPoint(weight: number): number {
  return Math.trunc(weight * (1 << fractionBits) + (weight < 0 ? -0.5 : 0.5));
}

function* resizeRows(image: Pixels, width: number, filter: Filter): Steps<Pixels> {
  if (width === image.width) return image;
  const { data, height, channels } = image;
  const { first, count, weights, stride } = tapsOf(image.width, width, filter, Int32Array, fixedPoint);
  const out = new Uint8ClampedArray(width * height * channels);
  let to = 0;
  for (let y = 0; y < height; y++) {
    yield;
    const row = y * image.width * channels;
    for (let x = 0; x < width; x++) {
      const from = row + (first[x] as number) * channels;
      const taps = count[x] as number;
      for (let c = 0; c < channels; c++) {
        let sum = half;
        for (let j = 0; j < taps; j++) {
          sum += (data[from + j * channels + c] as number) * (weights[x * stride + j] as number);
        }
        out[to++] = sum >> fractionBits;
      }
    }
  }
  return { data: out, width, height, channels };
}

function* resizeColumns(image: Pixels, height: number, filter: Filter): Steps<Pixels> {
  if (height === image.height) return image;
  const { data, width, channels } = image;
  const { first, count, weights, stride } = tapsOf(image.height, height, filter, Int32Array, fixedPoint);
  const row = width * channels;
  const out = new Uint8ClampedArray(row * height);
  // Weights sum to 2²², the positive ones even in the widest filter to less than 1.5 · 2²²: times 255 that fits 32
  // bits.
  const sums = new Int32Array(row);
  for (let y = 0; y < height; y++) {
    yield;
    sums.fill(half);
    for (let j = 0; j < (count[y] as number); j++) {
      const weight = weights[y * stride + j] as number;
      const from = ((first[y] as number) + j) * row;
      for (let i = 0; i < row; i++) sums[i] = (sums[i] as number) + (data[from + i] as number) * weight;
    }
    for (let i = 0; i < row; i++) out[y * row + i] = (sums[i] as number) >> fractionBits;
  }
  return { data: out, width, height, channels };
}

function* pickNearest(image: Pixels, width: number, height: number): Steps<Pixels> {
  const { data, channels } = image;
  const [columns, rows] = [nearestOf(image.width, width), nearestOf(image.height, height)];
  const size = width * height * channels;
  const out = isA(data, 'Float32Array') ? new Float32Array(size) : new Uint8ClampedArray(size);
  let to = 0;
  for (const y of rows) {
    yield;
    for (const x of columns) {
      const from = (y * image.width + x) * channels;
      for (let c = 0; c < channels; c++) out[to++] = data[from + c] as number;
    }
  }
  return { data: out, width, height, channels };
}

/** The input pixel at the centre of each output pixel; steps are accumulated, as in Pillow, not multiplied. */
function nearestOf(from: number, to: number): Int32Array {
  const step = from / to;
  const picked = new Int32Array(to);
  let at = step * 0.5;
  for (let i = 0; i < to; i++) {
    picked[i] = Math.min(from - 1, Math.trunc(at));
    at += step;
  }
  return picked;
}
