// The measured times as series of the plot, on request with onnxruntime-web's attention beside ours, and why it is not
// there if it is not, or why a series ends early.

import { filled } from '../../book/markup.js';
import type { words } from '../../words/en/cost.js';
import { kinds, works } from './counting.js';
import { onnxruntimeBytes, openOnnxruntime } from './onnxruntime.js';
import type { Series } from './plot.js';
import { lengths, longest, type Measured, measure, type Timed } from './timing.js';

const order: readonly Timed[] = ['self_attention', 'onnxruntime', 'recurrent', 'convolutional'];
const hues: Record<Timed, Series['hue']> = {
  self_attention: 'q',
  onnxruntime: 'stream',
  recurrent: 'k',
  convolutional: 'v',
};

type Labels = (typeof words)['labels'];

export interface Times {
  readonly series: readonly Series[];
  /** Bytes of onnxruntime-web to load; undefined where it is not offered. */
  readonly offered: number | undefined;
  /** What is to be said about onnxruntime-web, if it was asked for. */
  readonly note: string;
  /** Which series ended before the longest text, in sentences. */
  readonly ended: string;
}

interface Request {
  readonly d: number;
  readonly k: number;
  /** Whether onnxruntime-web is asked for. */
  readonly beside: boolean;
  readonly labels: Labels;
}

async function measured({ d, k, beside, labels }: Request, signal: AbortSignal): Promise<[Measured, string]> {
  if (!beside) return [await measure(d, k, signal), ''];
  try {
    const peer = await openOnnxruntime();
    signal.throwIfAborted();
    if (!peer) return [await measure(d, k, signal), labels.besideAbsent];
    const result = await measure(d, k, signal, peer);
    const values = { version: peer.version, difference: result.difference.toExponential(1) };
    return [result, filled(labels.besideNote, values)];
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return [await measure(d, k, signal), filled(labels.besideFailed, { message })];
  }
}

/** Sentences on the series that ended before the longest text. */
export const endsOf = (series: readonly Series[], { endedEarly }: Pick<Labels, 'endedEarly'>): string =>
  series
    .map(({ name, points }) => ({ name, n: points.at(-1)?.n ?? 0, ms: longest }))
    .filter(({ n }) => n !== lengths.at(-1))
    .map((end) => filled(endedEarly, end))
    .join(' ');

/** What is said below the times; in class mode a note takes the place of how they are measured. */
export const saidOf = ({ ended, note }: Times, { timeNote }: Pick<Labels, 'timeNote'>, inClass: boolean): string =>
  [ended, note && inClass ? '' : timeNote].filter(Boolean).join(' ');

export async function timesOf(request: Request, signal: AbortSignal): Promise<Times> {
  const { d, k, labels } = request;
  const offered = await onnxruntimeBytes();
  const [{ times }, note] = await measured(request, signal);
  const counts = await Promise.all(lengths.map((length) => works(length, d, k)));
  const workOf = (name: Timed): number[] => {
    const kind = kinds.indexOf(name === 'onnxruntime' ? 'self_attention' : name);
    return counts.map((row) => row[kind]?.multiply_adds ?? Number.NaN);
  };
  const series = order
    .filter((name) => times[name].length > 0)
    .map((name) => ({ name: labels[name], hue: hues[name], points: times[name], work: workOf(name) }));
  return { series, offered, note, ended: endsOf(series, labels) };
}
