// Resampling: a band-limited signal is a sum of sinc functions, one per sample, and can be evaluated anywhere.
//   y(t) = Σ_j x_j·h(t - j),  h(t) = 2·f·sinc(2·f·t)·w(t),  w the Kaiser window, f half the width of the pass band
// For a ratio L/M of the rates in lowest terms there are L sets of weights (phases), each normalised to sum to 1.
// Quality: flat to 0.001 dB up to 88 % of the lower of the two Nyquist frequencies, attenuated by at least 110 dB above
// that frequency, so that aliasing is inaudible.
// Source: Kaiser 1974 (window and its β); Crochiere and Rabiner 1983, Multirate Digital Signal Processing.

import { ClearformerError, textOf } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { expectArgument } from '../support/options.js';
import { atOnce, type Steps } from '../support/steps.js';

const attenuation = 110; // dB; Kaiser's formula is accurate to a few
const crossings = 64; // zero crossings of the sinc on each side, in samples of the lower rate
const beta = 0.1102 * (attenuation - 8.7);
/** Width of the transition band as a fraction of the lower rate; it ends at half of that rate. */
const transition = (attenuation - 7.95) / (14.36 * 2 * crossings);
const perSample = 1024; // table entries per sample of the lower rate; the interpolation error is 4e-7
const mostWeights = 2 ** 23; // weights to keep; unusual ratios have more and recompute theirs
const mostProducts = 2 ** 37; // multiplications of one call: some two minutes
const productsInStep = 2 ** 16;
const weightCost = 32; // a weight takes as long as so many multiplications
const mostRatio = 256; // of the rates: the cost per sample grows with it

/**
 * Resamples `samples` from one rate to another, both in hertz; the duration is kept, with the length rounded up.
 * Outside the input there is silence. Throws `invalid_argument` for rates that are not integers > 0, `unsupported` if
 * one is more than 256 times the other, or for so many samples that it would take minutes.
 */
export function resample_audio(samples: Float32Array, from: number, to: number): Float32Array {
  expectArgument('resample_audio', isA(samples, 'Float32Array'), 'a Float32Array', samples);
  return atOnce(resampled(samples, from, to));
}

/** Throws `invalid_argument` for what is no rate. */
export function checkRate(rate: unknown): void {
  if (Number.isInteger(rate) && (rate as number) > 0) return;
  throw new ClearformerError('invalid_argument', `sampling rates are whole numbers > 0, not ${textOf(rate)}`, {
    option: 'sampling_rate',
  });
}

/** The same in steps. */
export function* resampled(samples: Float32Array, from: number, to: number): Steps<Float32Array> {
  for (const rate of [from, to]) checkRate(rate);
  if (from === to) return samples;
  if (Math.max(from / to, to / from) > mostRatio) {
    const range = `${Math.ceil(to / mostRatio)} to ${to * mostRatio}`;
    throw new ClearformerError('unsupported', `sound of ${from} hertz at ${to}: it must be of ${range}`);
  }
  const divisor = greatestCommonDivisor(from, to);
  const [up, down] = [to / divisor, from / divisor];
  const stretch = Math.max(1, from / to); // input samples per sample of the lower rate
  const reach = Math.ceil(crossings * stretch);
  const length = Math.ceil((samples.length * to) / from);
  const isKept = up * 2 * reach <= mostWeights;
  if (length * 2 * reach * (isKept ? 1 : weightCost) > mostProducts) {
    const what = `sound of ${samples.length} samples at ${from} hertz`;
    throw new ClearformerError('unsupported', `${what} is too long to be brought to ${to}: cut it`);
  }
  const out = new Float32Array(length);
  let products = 0;
  const phases: (Float64Array | undefined)[] = [];
  for (let i = 0; i < out.length; i++) {
    const phase = (i * down) % up;
    const weights = phases[phase] ?? weightsAt(phase / up, stretch, reach);
    if (isKept) phases[phase] = weights;
    const first = Math.floor((i * down) / up) - reach + 1;
    let sum = 0;
    const end = Math.min(weights.length, samples.length - first);
    for (let j = Math.max(0, -first); j < end; j++) sum += (samples[first + j] as number) * (weights[j] as number);
    out[i] = sum;
    products += weights.length;
    if (products < productsInStep) continue;
    products = 0;
    yield;
  }
  return out;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Weights of the 2·reach inputs around a point `fraction` of the way between two samples. */
function weightsAt(fraction: number, stretch: number, reach: number): Float64Array {
  const weights = new Float64Array(2 * reach);
  let sum = 0;
  for (let j = 0; j < weights.length; j++) {
    const weight = impulseResponse(Math.abs(j - reach + 1 - fraction) / stretch);
    weights[j] = weight;
    sum += weight;
  }
  return weights.map((weight) => weight / sum);
}

let table: Float64Array | undefined;

/** h at a distance in samples of the lower rate, from a table. */
function impulseResponse(distance: number): number {
  table ??= makeTable();
  const at = distance * perSample;
  const index = Math.floor(at);
  if (index >= crossings * perSample) return 0;
  const [left, right] = [table[index] as number, table[index + 1] as number];
  return left + (right - left) * (at - index);
}

function makeTable(): Float64Array {
  const pass = 1 - transition; // twice the centre of the transition band
  return Float64Array.from({ length: crossings * perSample + 1 }, (_, i) => {
    const t = i / perSample;
    const angle = Math.PI * pass * t;
    const window = bessel(beta * Math.sqrt(Math.max(0, 1 - (t / crossings) ** 2))) / bessel(beta);
    return (i === 0 ? 1 : Math.sin(angle) / angle) * window;
  });
}

/** The modified Bessel function I₀, by its power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
