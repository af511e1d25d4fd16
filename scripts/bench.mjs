// npm run bench [-- part … options]: measures clearformer beside its peers, and writes the table and the plot.
// Parts: matmul, attention, roofline (both of them), minilm, gpt2, vit, see-through, startup, scaling, native; without
// any, all.
// Options:
//   --engine chromium|node|native   default: chromium for all, node for products and attention, native for "native"
//   --threads 1|2                   default: 1; "scaling" measures models with 2 as well
//   --only TEXT                     only items whose id holds TEXT
//   --rounds N                      rounds of A B A B …; default 7
//   --quick                         3 short rounds, to see that everything runs; its results are not kept
//   --prepare                       installs, builds and makes models, and measures nothing
//   --report                        writes table and plot from what was measured, and measures nothing
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inProject } from './build/fresh.mjs';
import { nodeFlags } from './node_flags.mjs';
import { ensureModules } from './npm_modules.mjs';
import { onPath } from './toolchain/programs.mjs';
import { run, SetupError, step } from './toolchain/progress.mjs';

/** Reads the command line; throws SetupError for what is not known. */
async function readArguments(words) {
  const { ENGINES, PARTS } = await import('../tests/bench/plan.mjs');
  const options = { parts: [], rounds: 7, budget: 100, keep: true };
  const wanted = (name, value, known) => {
    if (!known.includes(value)) throw new SetupError(`${name}: there is ${known.join(', ')}.`);
    return value;
  };
  const readers = {
    '--engine': (next) => ({ engine: wanted('--engine', next(), ENGINES) }),
    '--threads': (next) => ({ threads: Number(wanted('--threads', next(), ['1', '2'])) }),
    '--only': (next) => ({ only: next() }),
    '--rounds': (next) => ({ rounds: Math.max(1, Number.parseInt(next(), 10) || 7) }),
    '--quick': () => ({ rounds: 3, budget: 20, keep: false }),
    '--prepare': () => ({ prepare: true }),
    '--report': () => ({ report: true }),
  };
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift();
    if (readers[word])
      Object.assign(
        options,
        readers[word](() => rest.shift()),
      );
    else options.parts.push(wanted(word, word, PARTS));
  }
  return options;
}

/** Runs one plan on its cores: one thread on the first, two on the first two, where the machine lets us choose. */
async function measure(plan) {
  const taskset = plan.free ? undefined : onPath('taskset');
  const cores = plan.threads === 1 ? '0' : `0-${plan.threads - 1}`;
  const pinned = taskset ? `cores ${cores}` : 'not pinned';
  const program = [
    process.execPath,
    ...nodeFlags,
    inProject('tests/bench/run.mjs'),
    JSON.stringify({ ...plan, pinned }),
  ];
  const [command, ...args] = taskset ? [taskset, '-c', cores, ...program] : program;
  await run(command, args, { cwd: inProject(), show: true });
}

async function bench(words) {
  await ensureModules();
  const options = await readArguments(words);
  const { writeReport } = await import('../tests/bench/report/write.mjs');
  if (options.report) return writeReport();
  const { prepareEngines, preparePaths } = await import('../tests/bench/prepare.mjs');
  const { plansOf } = await import('../tests/bench/plan.mjs');
  const plans = plansOf(options);
  if (plans.length === 0) throw new SetupError('No item is selected.');
  await prepareEngines(plans.map(({ engine }) => engine));
  for (const plan of plans) {
    const { items, ...setting } = plan;
    const prepared = [];
    for (const item of items) prepared.push({ id: item.id, paths: await preparePaths(item.contenders(setting)) });
    if (options.prepare) continue;
    const { engine, threads } = setting;
    await step(`Measuring in ${engine}, ${threads} thread(s)`, () => measure({ ...setting, items: prepared }));
  }
  return writeReport();
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await bench(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
