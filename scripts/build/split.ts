// The builds of the WASM as two files each: what loads and runs models, and all the rest (first_calls.ts), which is loaded
// with the first call that needs it. Binaryen's wasm-split moves functions to the second file, an instance of which shares
// memory and table with the first and fills the places of the table that they left. The second file is the same for every
// build, since the builds differ in their kernels, which stay in the first.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callsOfFirst } from '../../web/src/runtime/first_calls.js';
import { query, run, SetupError, step } from '../toolchain/progress.js';
import type { WasmTools } from '../toolchain.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { namedByOrder } from './function_order.js';

/** The two files of a build; `program` is its path without extension. */
export const partsOf = (program: string): { first: string; second: string } => ({
  first: `${program}.first.wasm`,
  second: `${program}.second.wasm`,
});

const types = String.raw`(?:\w+ )?clearformer::`; // with the type of what an instantiated template returns
const hidden = String.raw`(?:bindings::|kernels::)?(?:\(anonymous namespace\)::)?`;

/** Functions that models run without, although the first file has calls or pointers to them: gradients, modules. */
const ofSecond = [
  RegExp(`^${types}.*(?:[bB]ackward|[gG]radient|_back\\(|::back\\(clearformer)`),
  RegExp(`^clearformer::${hidden}(?:Optimizer|optimizer_|AdamW|Sgd)`),
  RegExp(
    `^std::\\w+::__shared_ptr_emplace<clearformer::${hidden}(?:OpenOptimizer|OpenGradient|PanelGradient|GradientRows)`,
  ),
  /^(?:.* )?clearformer::modules::/,
  /^clearformer::log_softmax\(.*__invoke\(/,
];
/** Of these, what stays in the first file: kernels, in which the builds differ. */
const ofFirst = /^clearformer::kernels::wasm::/;
/** Functions with such names that passes without gradients ask whether there are any. */
const ofEveryPass = /TraceScope::(?:concerns|changes)_back\(/;

const functionOfCall = /^clearformer::bindings::(\w+)\(clearformer::bindings::Arguments const&\)$/;

interface Called {
  /** Whether something else than a direct call can reach it: an export, or a pointer to it. */
  reachable: boolean;
  callers: Set<string>;
}

/** The functions of a program and their callers, from `wasm-opt --print-call-graph`. */
function functionsIn(graph: string): Map<string, Called> {
  const functions = new Map<string, Called>();
  for (const [, name = '', style = '', colour] of graph.matchAll(
    /^ {2}"(.*)" \[style="([^"]*)"(?:, fillcolor="(\w+)")?\];$/gm,
  )) {
    const reachable = functions.get(name)?.reachable || style.includes('rounded') || colour !== 'white';
    functions.set(name, { reachable, callers: new Set() });
  }
  for (const [, caller = '', callee = ''] of graph.matchAll(/^ {2}"(.*)" -> "(.*)";/gm)) {
    functions.get(callee)?.callers.add(caller);
  }
  return functions;
}

/** Whether a function of the border, which JavaScript calls, is in the second file; undefined for other functions. */
function borderSays(name: string, { reachable }: Called): boolean | undefined {
  const call = reachable ? functionOfCall.exec(name)?.[1] : undefined;
  return call === undefined ? undefined : !callsOfFirst.test(call);
}

/** The names of the functions that are moved: what only functions of the second file call follows them. */
function movedOf(functions: ReadonlyMap<string, Called>): Set<string> {
  const named = (name: string): boolean => ofSecond.some((each) => each.test(name)) && !ofEveryPass.test(name);
  const seeds = [...functions].filter(([name, called]) => borderSays(name, called) ?? named(name));
  const moved = new Set(seeds.map(([name]) => name));
  for (let before = 0; before < moved.size; ) {
    before = moved.size;
    for (const [name, { reachable, callers }] of functions) {
      if (!reachable && [...callers].every((caller) => caller === name || moved.has(caller))) moved.add(name);
    }
  }
  return new Set([...moved].filter((name) => !ofFirst.test(name)));
}

// What the builds use (emcc removes the list from its output), without reference types: those would need a second table.
const features = [
  '--mvp-features',
  ...['simd', 'relaxed-simd', 'threads', 'exception-handling', 'bulk-memory', 'bulk-memory-opt', 'mutable-globals'],
  ...['nontrapping-float-to-int', 'sign-ext', 'multivalue'],
].map((each) => (each.startsWith('--') ? each : `--enable-${each}`));

/** `build` is the digest by which the package recognises files of different builds. */
async function split(program: string, build: string, binaryen: string): Promise<void> {
  const whole = `${program}.wasm`;
  // In one order whatever the build, so that what becomes of the second file is the same.
  const sorted = `${program}.sorted.wasm`;
  const sort = ['--print-call-graph', '--reorder-functions-by-name', '--debuginfo', '-o', sorted];
  const graph = await run(join(binaryen, 'wasm-opt'), [whole, ...features, ...sort]);
  const names = `${program}.second.txt`;
  writeFileSync(names, [...movedOf(functionsIn(graph.stdout))].join('\n'));
  const { first, second } = partsOf(program);
  const labels = [`--import-namespace=${build}`, `--placeholder-namespace-prefix=${build}`, '--export-prefix=%'];
  await run(join(binaryen, 'wasm-split'), [
    sorted,
    ...features,
    `--split-funcs=@${names}`,
    ...labels,
    `--primary-output=${first}`,
    `--secondary-output=${second}`,
  ]);
  const optimise = async (file: string, ...passes: readonly string[]): Promise<void> => {
    writeFileSync(file, namedByOrder(readFileSync(file)));
    const order = '--reorder-functions-by-name';
    await run(join(binaryen, 'wasm-opt'), [file, ...features, ...passes, order, '-o', file]);
  };
  // What the split left behind, such as types and locals of functions that are in the other file.
  await optimise(second, '-Oz', '--converge');
  // The last step of -Oz, which takes effect in the program that writes the file.
  await optimise(first, '--optimize-level=2', '--shrink-level=2', '--optimize-stack-ir');
}

function requireSameSecond(programs: readonly string[]): void {
  const files = programs.map((program) => readFileSync(partsOf(program).second));
  if (files.every((file) => files[0]?.equals(file))) return;
  throw new SetupError(
    'The second files of the builds differ: a function of them contains a kernel. Those with their names, which wasm-split ' +
      'writes with -g, show which: let ofFirst (scripts/build/split.ts) match it, so that it stays in the first file.',
  );
}

/** Splits the builds if one has changed. */
export async function splitModules(programs: readonly string[], { root, env }: WasmTools): Promise<void> {
  const home = await query(join(root, 'em-config'), ['BINARYEN_ROOT'], { env });
  const whole = programs.map((program) => `${program}.wasm`);
  const sources = ['scripts/build/split.ts', 'scripts/build/function_order.ts', 'web/src/runtime/first_calls.ts'];
  const recipe = {
    stamp: inProject('build/split.stamp'),
    digest: digestOf([...whole, ...sources.map((name) => inProject(name))]),
    outputs: programs.flatMap((program) => Object.values(partsOf(program))),
  };
  await unlessFresh(recipe, async () => {
    const build = digestOf(whole).slice(0, 12);
    for (const program of programs)
      await step(`Splitting ${program}.wasm`, () => split(program, build, join(home, 'bin')));
    requireSameSecond(programs);
  });
}
