// npm run bench [-- part … options]: measures clearformer against its peers, and writes the table and the plot.
// Parts: matmul, attention, roofline (both of them), minilm, gpt2, vit, see-through, startup, loading, scaling, native, firefox
// (minilm and gpt2 there); without any, all.
// Options:
//   --engine chromium|firefox|node|native   default: chromium for all, node for products and attention, and the engine
//                                   that a part is named after
//   --threads 1|2                   default: 1; "scaling" measures models with 2 as well
//   --only TEXT                     only items whose id contains TEXT
//   --rounds N                      interleaved rounds A B A B …; default 7
//   --quick                         one product, MiniLM and GPT-2 in 3 short rounds without the slowest peers, three
//                                   minutes; results are only printed, unless --keep is given
//   --without avx-vnni              without these instructions, in the engines that have a flag for it; the results are
//                                   those of a machine of its own
//   --prepare                       installs, builds and makes models, without measuring
//   --report                        writes table and plot from earlier results, without measuring

import { contendersOf } from '../tests/bench/items/contenders.js';
import { type Switch, switches } from '../tests/bench/machine.js';
import { type Choice, engines, type Plan, partNames, plansOf } from '../tests/bench/plan.js';
import { prepareEngines, preparePaths } from '../tests/bench/prepare.js';
import { writeReport } from '../tests/bench/report/write.js';
import type { PreparedPlan } from '../tests/bench/run.js';
import { inProject } from './build/fresh.js';
import { type Command, reportErrors } from './main.js';
import { nodeFlags } from './node_flags.js';
import { onPath } from './toolchain/programs.js';
import { run, SetupError, step } from './toolchain/progress.js';

interface Options extends Choice {
  prepare?: boolean;
  report?: boolean;
}

function oneOf<Word extends string>(name: string, value: string | undefined, known: readonly Word[]): Word {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new SetupError(`${name}: there is ${known.join(', ')}.`);
  return found;
}

const readers: Readonly<Record<string, (next: () => string | undefined) => Partial<Options>>> = {
  '--engine': (next) => ({ engine: oneOf('--engine', next(), engines) }),
  '--threads': (next) => ({ threads: Number(oneOf('--threads', next(), ['1', '2'])) }),
  '--only': (next) => ({ only: next() ?? '' }),
  '--rounds': (next) => ({ rounds: Math.max(1, Number.parseInt(next() ?? '', 10) || 7) }),
  '--quick': () => ({ quick: true, rounds: 3, budget: 50, keep: false }),
  '--keep': () => ({ keep: true }),
  '--without': (next) => ({ without: oneOf('--without', next(), Object.keys(switches) as Switch[]) }),
  '--prepare': () => ({ prepare: true }),
  '--report': () => ({ report: true }),
};

/** Parses the command line; throws SetupError for unknown arguments. */
function readArguments(words: readonly string[]): Options {
  let options: Options = { parts: [], rounds: 7, budget: 100, keep: true };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const read = readers[word];
    if (read) options = { ...options, ...read(() => rest.shift()) };
    else options = { ...options, parts: [...options.parts, oneOf(word, word, partNames)] };
  }
  return options;
}

/** Runs one plan pinned to its cores: one thread on the first, two on the first two, if the machine allows it. */
async function measure({ free, ...plan }: Omit<PreparedPlan, 'pinned'> & Pick<Plan, 'free'>): Promise<void> {
  const taskset = free ? undefined : onPath('taskset');
  const cores = plan.threads === 1 ? '0' : `0-${plan.threads - 1}`;
  const prepared: PreparedPlan = { ...plan, pinned: taskset ? `cores ${cores}` : 'not pinned' };
  const program = [...nodeFlags, inProject('scripts/run.mjs'), 'bench_plan', JSON.stringify(prepared)];
  const [command, args] = taskset
    ? [taskset, ['-c', cores, process.execPath, ...program]]
    : [process.execPath, program];
  await run(command, args, { cwd: inProject(), show: true });
}

async function bench(words: readonly string[]): Promise<void> {
  const options = readArguments(words);
  if (options.report) return writeReport();
  const plans = plansOf(options);
  if (plans.length === 0) throw new SetupError('No item is selected.');
  await prepareEngines(plans.map(({ engine }) => engine));
  for (const { items, ...setting } of plans) {
    const prepared: PreparedPlan['items'] = [];
    for (const item of items) {
      const paths = await preparePaths(contendersOf(item, setting, setting));
      prepared.push({ id: item.id, paths: paths.map((path) => path ?? null) });
    }
    if (options.prepare) continue;
    const { engine, threads } = setting;
    await step(`Measuring in ${engine}, ${threads} thread(s)`, () => measure({ ...setting, items: prepared }));
  }
  return writeReport();
}

export const command: Command = (words) => reportErrors(() => bench(words));
