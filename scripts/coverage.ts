// npm run coverage [-- --lines]: which lines of the C++ library its tests run, counted by clang (preset `coverage`) and
// reported by llvm-cov. Prints the folders and the parsers, with --lines also each line that no test runs; fails below
// 98 % of the parsers' lines, or 90 % of the library's. (Functions that only the compiler runs count as not tested.)

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

import { buildPreset, testPreset } from './build/cmake.js';
import { inProject } from './build/fresh.js';
import { commandOf } from './main.js';
import { onPath } from './toolchain/programs.js';
import { SetupError } from './toolchain/progress.js';

const folder = inProject('build', 'coverage');
const library = inProject('cpp', 'clearformer');
const profiles = join(folder, 'profiles');
const merged = join(folder, 'tests.profdata');

/** What reads the files of strangers: checkpoints, JSON, configurations. */
const parsers =
  /^(weights|loading)\/|^architectures\/(key_table|values|rotary_config)\.|^(models\/config|generation\/generation_config)\./;
const bars = { parsers: 98, library: 90 };

interface Lines {
  count: number;
  covered: number;
}
interface File {
  name: string;
  lines: Lines;
}

/** The output of one of LLVM's tools. */
function output(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (status !== 0) throw new SetupError(`${program}: ${stderr}`);
  return stdout;
}

/** Arguments of llvm-cov: the profile, and every program that wrote to it. */
function programs(): string[] {
  const tests = join(folder, 'tests', 'cpp');
  const names = readdirSync(tests).filter((name) => /^clearformer_\w+_tests$/.test(name));
  const [first = '', ...others] = names.map((name) => join(tests, name));
  return [`-instr-profile=${merged}`, first, ...others.map((other) => `-object=${other}`)];
}

async function runTests(): Promise<void> {
  await buildPreset('coverage');
  rmSync(profiles, { recursive: true, force: true });
  mkdirSync(profiles);
  await testPreset('coverage', { LLVM_PROFILE_FILE: join(profiles, '%p.profraw') });
  const raw = readdirSync(profiles).map((name) => join(profiles, name));
  output('llvm-profdata', ['merge', '-sparse', ...raw, '-o', merged]);
}

function files(): File[] {
  const report = JSON.parse(output('llvm-cov', ['export', '-summary-only', ...programs()])) as {
    data: { files: { filename: string; summary: { lines: Lines } }[] }[];
  };
  return report.data
    .flatMap(({ files }) => files)
    .map(({ filename, summary: { lines } }) => ({ name: relative(library, resolve(filename)), lines }))
    .filter(({ name }) => !name.startsWith('..'));
}

const sum = (all: readonly File[], part: 'count' | 'covered') =>
  all.reduce((total, { lines }) => total + lines[part], 0);

/** Prints a row; whether it is below its bar. */
function isLow(name: string, all: readonly File[], bar = 0): boolean {
  const count = sum(all, 'count');
  const percent = (100 * sum(all, 'covered')) / Math.max(count, 1);
  const low = percent < bar;
  console.log(
    `${percent.toFixed(1).padStart(6)} % of ${String(count).padStart(5)}  ${name}${low ? `: below ${bar} %` : ''}`,
  );
  return low;
}

/** Prints the lines that no test runs. */
function showLines(all: readonly File[]): void {
  const sources = all.map(({ name }) => join(library, name));
  let file = '';
  for (const line of output('llvm-cov', ['show', ...programs(), ...sources]).split('\n')) {
    if (line.startsWith(library)) file = line.slice(library.length + 1);
    if (/^ *\d+\| +0\|/.test(line)) console.log(`${file}${line}`);
  }
}

async function coverage(words: readonly string[]): Promise<void> {
  const missing = ['clang++', 'llvm-profdata', 'llvm-cov'].filter((program) => onPath(program) === undefined);
  if (missing.length > 0) throw new SetupError(`${missing.join(', ')} not found: apt-get install clang llvm.`);
  await runTests();
  const all = files();
  if (words.includes('--lines')) showLines(all);
  for (const room of new Set(all.map(({ name }) => name.replace(/\/.*/, ''))))
    isLow(
      `${room}/`,
      all.filter(({ name }) => name.startsWith(`${room}/`)),
    );
  const reading = all.filter(({ name }) => parsers.test(name));
  for (const file of reading) isLow(file.name, [file]);
  const low = [isLow('all parsers', reading, bars.parsers), isLow('the library', all, bars.library)];
  if (low.includes(true)) throw new SetupError('Too few lines are tested.');
}

export const command = commandOf(coverage, ['--lines']);
