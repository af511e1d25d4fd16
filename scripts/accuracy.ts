// npm run accuracy [-- checkpoint …]: compares fp16, q8, q4, llama.cpp's Q4_0 and rounded key/value caches with fp32 on
// the trained checkpoints, on more inputs than the tests use. Fails if a threshold is missed. For all checkpoints it rewrites the table of
// web/examples/dtypes.md.

import { readFileSync, writeFileSync } from 'node:fs';

import type { Measured } from './accuracy/measure.js';
import type { SettingName } from './accuracy/settings.js';
import type { SubjectName } from './accuracy/subjects.js';
import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { commandOf } from './main.js';
import { fetchCheckpoints } from './models/checkpoints.js';
import { SetupError } from './toolchain/progress.js';

const page = inProject('web/examples/dtypes.md');
const [begin, end] = ['<!-- measured -->', '<!-- end -->'];
const names: readonly SubjectName[] = [
  'stories260K',
  'gpt-nano-sort',
  'vit-mnist',
  'marian-tiny-en-fr',
  'all-MiniLM-L6-v2',
  'whisper-tiny',
];

/** A row of the table. */
interface Row extends Measured {
  name: string;
}

function percent(share: number | undefined, digits = 1): string {
  return share === undefined ? '' : `${(100 * share).toFixed(digits)} %`;
}

function digits(value: number | undefined, count: number): string {
  return value === undefined ? '' : value.toPrecision(count);
}

function signed(share: number | undefined): string {
  if (share === undefined) return '';
  return `${share < 0 ? '' : '+'}${percent(share, 2)}`;
}

const columns: readonly (readonly [string, (row: Row) => string])[] = [
  ['checkpoint', ({ name }) => name],
  ['format', ({ dtype }) => dtype],
  ['weights, MB', ({ bytes }) => (bytes / 1e6).toFixed(2)],
  ['logits: RMS error', ({ rms }) => digits(rms, 2)],
  ['largest', ({ largest }) => digits(largest, 2)],
  ['of a spread of', ({ spread }) => digits(spread, 2)],
  ['same top token', ({ top }) => percent(top, 2)],
  ['perplexity', ({ perplexity }) => signed(perplexity)],
  ['over tokens', ({ tokens }) => (tokens === undefined ? '' : tokens.toLocaleString('en'))],
  ['same top token there', ({ topOfText }) => percent(topOfText, 2)],
  ['greedy text', ({ greedy }) => percent(greedy)],
  ['smallest cosine', ({ cosine }) => (cosine === undefined ? '' : cosine.toFixed(5))],
];

function tableOf(results: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = results.map((result) => line(columns.map(([, cell]) => cell(result))));
  return [line(columns.map(([title]) => title)), line(columns.map(() => '---')), ...rows].join('\n');
}

async function accuracy(asked: readonly SubjectName[]): Promise<void> {
  await steps.wasm();
  await steps.package();
  await fetchCheckpoints();
  const { measure } = await import('./accuracy/measure.js');
  const { missedBars } = await import('./accuracy/bars.js');
  const { settings } = await import('./accuracy/settings.js');
  const compared = Object.keys(settings) as SettingName[];
  const results: Row[] = [];
  const missed: string[] = [];
  for (const name of asked.length > 0 ? asked : names) {
    const measured = await measure(inProject(), name, { compared, extent: 'whole' });
    results.push(...measured.map((result) => ({ name, ...result })));
    missed.push(...missedBars(measured).map((why) => `${name}: ${why}`));
    console.log(`${name}: done`);
  }
  const table = tableOf(results);
  console.log(table);
  if (missed.length > 0) throw new SetupError(missed.join('\n'));
  if (asked.length > 0) return;
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  writeFileSync(page, `${text.slice(0, from)}\n${table}\n${text.slice(to)}`);
}

export const command = commandOf(accuracy, names);
