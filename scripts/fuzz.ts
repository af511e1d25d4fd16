// npm run fuzz [-- target … options]: runs the fuzzers of tests/fuzz (libFuzzer with AddressSanitizer and
// UndefinedBehaviorSanitizer; needs clang) and those of tests/web/fuzz (fast-check). Inputs that increase coverage are
// kept in build/fuzz-corpus as seeds of the next run.
// Targets: container, config, index, interventions, model, options, typescript; default: all.
// Options:
//   --seconds N   per target; default 60
//   --runs N      executions per target instead, or multiples of the usual number of samples for typescript
// Prints executions and coverage; on a finding it names the input and exits with code 1.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { buildPreset } from './build/cmake.js';
import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { type Command, reportErrors } from './main.js';
import { onPath } from './toolchain/programs.js';
import { SetupError, step } from './toolchain/progress.js';

const natives = ['container', 'config', 'index', 'interventions', 'model', 'options'] as const;
const targets = [...natives, 'typescript'] as const;
type Target = (typeof targets)[number];

interface Options {
  chosen: readonly Target[];
  seconds: number;
  runs?: number;
}

interface Finished {
  target: Target;
  executions: number | undefined;
  features: number | undefined;
  seconds: number;
  failed: boolean;
}

function count(option: string, word: string | undefined): number {
  const number = Number(word);
  if (Number.isInteger(number) && number > 0) return number;
  throw new SetupError(`${option} needs a whole number > 0, not ${word ?? 'nothing'}.`);
}

function readArguments(words: readonly string[]): Options {
  let options: Options = { chosen: [], seconds: 60 };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const target = targets.find((each) => each === word);
    if (target !== undefined) options = { ...options, chosen: [...options.chosen, target] };
    else if (word === '--seconds') options = { ...options, seconds: count(word, rest.shift()) };
    else if (word === '--runs') options = { ...options, runs: count(word, rest.shift()) };
    else throw new SetupError(`Unknown: ${word}. There is: ${targets.join(', ')}, --seconds N, --runs N.`);
  }
  return options.chosen.length > 0 ? options : { ...options, chosen: targets };
}

const corpus = (...parts: string[]) => inProject('build', 'fuzz-corpus', ...parts);
const program = (name: string) => inProject('build', 'fuzz', 'tests', 'fuzz', `clearformer_fuzz_${name}`);

async function buildNative(): Promise<void> {
  if (onPath('clang++') === undefined) {
    throw new SetupError(
      'The C++ fuzzers need clang++, which brings libFuzzer: apt-get install clang. Without it: typescript.',
    );
  }
  await buildPreset('fuzz', ['clearformer_fuzz']);
  await step('Writing seeds and dictionaries', async () => {
    const { status, stderr } = spawnSync(program('seeds'), [corpus()], { encoding: 'utf8' });
    if (status !== 0) throw new SetupError(stderr);
  });
}

// Earlier findings, which tests/cpp/fuzz replays, are seeds as well.
function folders(target: Target): string[] {
  const findings = inProject('tests', 'fuzz', 'findings', target);
  return [corpus(target, 'kept'), corpus(target, 'seeds'), ...(existsSync(findings) ? [findings] : [])];
}

/** The number after `label` in libFuzzer's last line that has one. */
const told = (text: string, label: RegExp) => [...text.matchAll(label)].map(([, number]) => Number(number)).at(-1);

function runNative(target: Target, { seconds, runs }: Options): Finished {
  for (const folder of ['kept', 'found']) mkdirSync(corpus(target, folder), { recursive: true });
  const before = new Set(readdirSync(corpus(target, 'found')));
  const start = Date.now();
  const args = [
    ...folders(target),
    `-dict=${corpus(target, 'dictionary')}`,
    `-artifact_prefix=${corpus(target, 'found')}/`,
    ...(runs === undefined ? [`-max_total_time=${seconds}`] : [`-runs=${runs}`]),
    ...['-timeout=120', '-rss_limit_mb=4096', '-max_len=16384', '-print_final_stats=1', '-verbosity=1'],
  ];
  // Allocations of absurd sizes fail, as they do without the sanitizer.
  const limits = 'allocator_may_return_null=1:max_allocation_size_mb=1024';
  const env = { ...process.env, ASAN_OPTIONS: limits, UBSAN_OPTIONS: 'print_stacktrace=1' };
  const { status, stderr } = spawnSync(program(target), args, { encoding: 'utf8', env, maxBuffer: 2 ** 30 });
  const failed = status !== 0;
  if (failed) console.error(stderr.split('\n').slice(-60).join('\n'));
  for (const name of readdirSync(corpus(target, 'found'))) {
    if (!before.has(name)) console.error(`\n${target}: this input broke a promise: ${corpus(target, 'found', name)}`);
  }
  return {
    target,
    executions: told(stderr, /stat::number_of_executed_units: (\d+)/g) ?? told(stderr, /^#(\d+)/gm),
    features: told(stderr, /\bft: (\d+)/g),
    seconds: (Date.now() - start) / 1000,
    failed,
  };
}

interface Round {
  executions: number;
  seconds: number;
  failed: boolean;
}

/**
 * The samples of tests/web/fuzz, that many times the usual number, or fewer if time runs out; different ones each time.
 */
function drawTypeScript(times: number, until: number): Round {
  const env = {
    ...process.env,
    CLEARFORMER_FUZZ_TIMES: String(times),
    CLEARFORMER_FUZZ_UNTIL: String(until),
    CLEARFORMER_FUZZ_SEED: String(Date.now() % 2 ** 31),
  };
  const start = Date.now();
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--project', 'ts', '--testTimeout', '100000000', 'tests/web/fuzz'];
  const result = spawnSync(process.execPath, args, { cwd: inProject(), encoding: 'utf8', env, maxBuffer: 2 ** 30 });
  const draws = [...result.stdout.matchAll(/^.*fuzz .*: (\d+) runs, seed.*$/gm)];
  for (const [line] of draws) console.log(line);
  const failed = result.status !== 0;
  if (failed) console.error(`${result.stdout}\n${result.stderr}`);
  const executions = draws.reduce((sum, [, number]) => sum + Number(number), 0);
  return { executions, seconds: (Date.now() - start) / 1000, failed };
}

/** Repeated rounds; the duration of each determines the number of samples for the remaining time. */
function runTypeScript({ seconds, runs }: Options): Finished {
  const told = (all: Round) => ({ target: 'typescript' as const, features: undefined, ...all });
  if (runs !== undefined) return told(drawTypeScript(runs, Number.POSITIVE_INFINITY));
  const all: Round = { executions: 0, seconds: 0, failed: false };
  const until = Date.now() + seconds * 1000;
  for (let times = 1; !all.failed && seconds - all.seconds > Math.min(seconds / 10, 5); ) {
    const round = drawTypeScript(times, until);
    all.executions += round.executions;
    all.seconds += round.seconds;
    all.failed = round.failed;
    times = Math.max(1, ((seconds - all.seconds) / round.seconds) * times);
  }
  return told(all);
}

function table(results: readonly Finished[]): string {
  const rows = results.map(({ target, executions, features, seconds, failed }) =>
    [target, executions ?? '?', features ?? '', `${Math.round(seconds)} s`, failed ? 'FAILED' : 'nothing found'].join(
      ' | ',
    ),
  );
  return ['target | executions | features | time | result', '--- | --- | --- | --- | ---', ...rows].join('\n');
}

async function fuzz(words: readonly string[]): Promise<void> {
  const options = readArguments(words);
  const native = options.chosen.filter((target) => target !== 'typescript');
  if (native.length > 0) await buildNative();
  if (options.chosen.includes('typescript')) await steps.package();
  const results: Finished[] = [];
  for (const target of options.chosen) {
    await step(`Fuzzing ${target}`, async () => {
      results.push(target === 'typescript' ? runTypeScript(options) : runNative(target, options));
    });
  }
  console.log(`\n${table(results)}`);
  if (results.some(({ failed }) => failed)) process.exitCode = 1;
}

export const command: Command = (words) => reportErrors(() => fuzz(words));
