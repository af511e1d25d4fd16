// The results of npm run real-sizes: kept in git by processor, model, dtype and engine, and written as a table. A run
// replaces what it measured.

import { readFileSync, writeFileSync } from 'node:fs';
import { inProject } from '../../../scripts/build/fresh.js';
import { type PublishedName, published, publishedNames } from './configurations.js';
import type { Measured, SizesEngine } from './measure.js';
import type { Dtype } from './subject.js';

/** One measurement, or why there is none. */
export interface SizesResult {
  model: PublishedName;
  dtype: Dtype;
  where: SizesEngine;
  /** The machine's processor, and the day of the measurement. */
  cpu: string;
  date: string;
  /** What `inspect` says: bytes at the peak of such a call. */
  expected: number;
  measured?: Measured;
  refused?: string;
}

const kept = inProject('tests/bench/sizes/results.json');
const page = inProject('web/examples/models.md');
const [begin, end] = ['<!-- sizes: begin -->', '<!-- sizes: end -->'];
const order: readonly Dtype[] = ['fp32', 'fp16', 'q8', 'q4'];

const megabytes = (bytes: number | undefined): string => (bytes === undefined ? '–' : String(Math.round(bytes / 1e6)));
const keyOf = ({ cpu, model, dtype, where }: SizesResult): string => [cpu, model, dtype, where].join();

/** One line on a result. */
export function noteOf({ measured, refused, ...told }: SizesResult): string {
  if (measured === undefined) return refused ?? '';
  const { load, prefill, decode, loadedBytes, heapBytes, peak, processBytes } = measured;
  return [
    `load ${load.toFixed(1)} s, prefill ${prefill.toFixed(1)}/s, decode ${decode.toFixed(2)}/s`,
    `inspect ${megabytes(told.expected)} MB, objects ${megabytes(peak)}, WASM ${megabytes(loadedBytes)} then ${megabytes(heapBytes)}`,
    `process ${megabytes(processBytes)} MB`,
  ].join('; ');
}

/** Earlier results with a new one, which replaces that of the same processor, model, dtype and engine. */
export function mergedSizes(earlier: readonly SizesResult[], result: SizesResult): SizesResult[] {
  const places = (each: SizesResult): number[] => [
    publishedNames.indexOf(each.model),
    order.indexOf(each.dtype),
    each.where === 'node' ? 0 : 1,
  ];
  const all = [...earlier.filter((each) => keyOf(each) !== keyOf(result)), result];
  const compare = (a: SizesResult, b: SizesResult): number =>
    places(a)
      .map((place, i) => place - (places(b)[i] ?? 0))
      .find((difference) => difference !== 0) ?? a.cpu.localeCompare(b.cpu);
  return all.sort(compare);
}

/** Keeps a result and writes the table of all. */
export function keepSizes(result: SizesResult): void {
  const all = mergedSizes(JSON.parse(readFileSync(kept, 'utf8')), result);
  // One result per line, so that a difference can be read.
  writeFileSync(kept, `[\n${all.map((each) => ` ${JSON.stringify(each)}`).join(',\n')}\n]\n`);
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  writeFileSync(page, `${text.slice(0, from)}\n${sizesTables(all)}\n${text.slice(to)}`);
}

const titles = [
  '',
  'dtype',
  '`inspect`, MB',
  'WASM memory, MB',
  'process, MB',
  'load, s',
  'prompt, tokens/s',
  'new, tokens/s',
  'measured',
];

/** A table for each processor: rows by model and dtype; the values of Node and of Chromium side by side. */
export function sizesTables(results: readonly SizesResult[]): string {
  return [...new Set(results.map(({ cpu }) => cpu))]
    .map((cpu) => sizesTable(results.filter((each) => each.cpu === cpu)))
    .join('\n\n');
}

function sizesTable(results: readonly SizesResult[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = publishedNames.flatMap((model) =>
    order.flatMap((dtype) => {
      const found = (['node', 'chromium'] as const).map((where) =>
        results.find((each) => each.model === model && each.dtype === dtype && each.where === where),
      );
      return found.some((each) => each !== undefined) ? [line(rowOf(model, dtype, found))] : [];
    }),
  );
  return [line(titles), line(titles.map(() => '---')), ...rows, '', conditionsOf(results)].join('\n');
}

function rowOf(model: PublishedName, dtype: Dtype, found: readonly (SizesResult | undefined)[]): string[] {
  const some = found.filter((each) => each !== undefined);
  const told = some[0] as SizesResult;
  const head = [published[model].repository.replace(/.*\//, ''), dtype, megabytes(told.expected)];
  const dates = [...new Set(some.map(({ date }) => date))].sort().join(', ');
  const measured = found.map((each) => each?.measured);
  if (measured.every((each) => each === undefined)) return [...head, 'does not fit', '', '', '', '', dates];
  const pair = (cell: (one: Measured) => string): string =>
    measured.map((one) => (one === undefined ? '–' : cell(one))).join(' / ');
  return [
    ...head,
    pair(({ heapBytes }) => megabytes(heapBytes)),
    pair(({ processBytes }) => megabytes(processBytes)),
    pair(({ load }) => load.toFixed(1)),
    pair(({ prefill }) => prefill.toFixed(prefill < 10 ? 1 : 0)),
    pair(({ decode }) => decode.toFixed(1)),
    dates,
  ];
}

function conditionsOf(results: readonly SizesResult[]): string {
  const measured = results.flatMap(({ measured: one }) => (one === undefined ? [] : [one]));
  const versions = [...new Set(measured.map(({ engine }) => engine))].sort().reverse();
  const loads = measured.map(({ machineLoad }) => machineLoad);
  const busy = loads.length > 0 ? `; the machine's load was ${Math.min(...loads)} to ${Math.max(...loads)}` : '';
  return `${versions.join(' / ')}, one thread of ${results[0]?.cpu}, in Node by processor time${busy}.`;
}
