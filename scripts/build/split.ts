// The builds of the WASM as several files each: what runs texts through the most used models, and parts, which are loaded
// with the first call that needs them (needed_parts.ts). Binaryen's wasm-split moves functions to the parts, instances of
// which share memory and table with the first file and fill the places of the table that they left. The parts are the
// same for every build, since the builds differ in their kernels, which stay in the first file.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { type PartName, partNames, partsFor, typesOfFirst } from '../../web/src/runtime/needed_parts.js';
import { roomOfParts, startOfParts } from '../../web/src/runtime/parts.js';
import { query, run, SetupError, step } from '../toolchain/progress.js';
import type { WasmTools } from '../toolchain.js';
import { type FileName, moveConstants } from './constants_of_parts.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { namedByOrder } from './function_order.js';

/** A file of a build; `program` is its path without extension. */
export const fileOf = (program: string, name: FileName): string => `${program}.${name}.wasm`;
/** All of them. */
export const filesOf = (program: string): string[] =>
  (['first', ...partNames] as const).map((name) => fileOf(program, name));

const types = String.raw`(?:\w+ )?clearformer::`; // with the type of what an instantiated template returns
const hidden = String.raw`(?:bindings::|kernels::)?(?:\(anonymous namespace\)::)?`;
const architectures = readdirSync(inProject('cpp/clearformer/architectures')).map((file) => basename(file, '.cpp'));

/** Functions of the parts although other files have calls of them, or pointers to them; the first match decides. */
const named: Record<PartName, readonly RegExp[]> = {
  second: [
    RegExp(`^${types}.*(?:[bB]ackward|[gG]radient|_back\\(|::back\\(clearformer)`),
    RegExp(`^clearformer::${hidden}(?:Optimizer|optimizer_|AdamW|Sgd)`),
    RegExp(
      `^std::\\w+::__shared_ptr_emplace<clearformer::${hidden}(?:OpenOptimizer|OpenGradient|PanelGradient|GradientRows)`,
    ),
    /^(?:.* )?clearformer::modules::/,
    /^clearformer::log_softmax\(.*__invoke\(/,
    /^clearformer::(?:\w+::unembed|TowerRun::refuse_samples)\(/,
    /^clearformer::(?:kernels::PackedMatrix|\(anonymous namespace\)::OffsetRows)::set_row\(/,
    RegExp(`^clearformer::${hidden}(?:dot|scaled_dot|general|additive|distance)\\(clearformer::${hidden}ScoringCall`),
    /^clearformer::(?:AdditiveScore::|MultiHeadAttention::with_extra\()/,
  ],
  // A trace without captures and edits only lists the hook points.
  hooks: [
    /^clearformer::bindings::(?:Observation::(?:read|tell)|lists_of|function_of|cache_copy)/,
    /^clearformer::(?:Trace::(?:run_edits|capture_parts)|Tower::\w+_hooks)\(/,
    /^clearformer::\w+::(?:hidden_states|attentions)\(/,
    /^clearformer::(?:apply\(clearformer::Edit|region_of\(|basis_of\(|reduced\()/,
    /^clearformer::(?:EditAxes|EditNoise|Operand|SelectedRegion|RegionWalk)::/,
  ],
  families: [
    /^(?:.*\W)?clearformer::(?:DualEncoderModel|EncoderDecoderModel)\b/,
    /^clearformer::(?:ImageEmbedding|AudioEmbedding|WaveformEmbedding(?:Config)?|Patch(?:Embedding|Config)|DisentangledScores|RelativeTable)::/,
    /^clearformer::(?:ShortConvolution|GatedDeltaRule|PositionMixer|PastRows|DeltaState|OutputGate)::/,
    // Called by functions of `second`, too: only with a model of this part.
    /^clearformer::kernels::wasm::delta_rule\(/,
    /^clearformer::(?:TextEmbedding::(?:drop_tokens|clear_rows)|TowerRun::place|EncoderOnlyModel::add_images|adopt_frequencies)\(/,
    /^clearformer::(?:ProbeAttention::(?!~)|AddNorm::multiply_rows\()/,
    RegExp(`^clearformer::${hidden}(?:take_sinusoids|count_unmasked|mean_of)\\(`),
    /^clearformer::MixtureOfExperts::|^std::\w+::__shared_ptr_emplace<clearformer::(?:MixtureOfExperts|(?:Image|Audio|Waveform)Embedding)/,
    /^clearformer::(?:Decoder::(?:Decoder|forward\w*)|DecoderBlock::(?:DecoderBlock|forward))\(/,
    /^clearformer::(?:read_(?:gptj|vit|clip)_like|read_image_encoder)\(/,
    /^clearformer::(?:interpolate_positions|prepend_tokens|relative_position_bias|sinusoidal_encoding|alibi_\w+)\(/,
    RegExp(`^clearformer::${hidden}(?:taps_of|cubic|Buckets|BucketRows|bias_for|slopes|Sinusoid)\\b`),
    RegExp(
      `^clearformer::${hidden}(?:fill_padded|filter_rows|convolve|ChannelNorm|multiply_taps|tap_scales|multiply_all|set_row|mixer_floats|add_past)\\(`,
    ),
    RegExp(`^clearformer::${hidden}(?:activate|take_columns|rows_of_heads|keep_last|sequences_of|norm_of)\\(`),
    RegExp(`^clearformer::${hidden}(?:rows_that_chose|(?:gather|scatter|weigh|zero)_rows)\\(`),
    RegExp(`^clearformer::(?:${architectures.filter((name) => !typesOfFirst.includes(name)).join('|')})::read_`),
  ],
};
/** Kernels that only one part calls, in which the builds do not differ: they fuse no products with sums. */
const sameKernels =
  'delta_rule|delta_rule_backward|add_column_sums|adamw_step|sgd_step|norm_scale_gradient|squared_distance_gradient|softmax_derivative';
/** Of these, what stays in the first file: the other kernels. */
const ofFirst = RegExp(`^clearformer::kernels::wasm::(?!(?:${sameKernels})\\()`);
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

// What may stand for an equal function of another class, since the optimiser keeps one of them: it follows its callers.
const perhapsShared = /::~|DecoderBlock::.*\$_\d/;
// A loop's body, which is a function of its own, and the function that it is written in.
const bodyOfLoop = /^void clearformer::parallel_(?:for|ranges)<(.*)::(?:\$_\d+|'lambda\d*')(?:::|>)/;

/** The file of a function by its name: of one of the border by its call, which JavaScript makes. */
function fileByName(name: string, { reachable }: Called): FileName {
  const call = reachable ? functionOfCall.exec(name)?.[1] : undefined;
  if (call !== undefined) return partsFor(call as never, {})[0] ?? 'first';
  if (ofFirst.test(name) || ofEveryPass.test(name)) return 'first';
  const of = bodyOfLoop.exec(name)?.[1] ?? name;
  const part = partNames.find((each) => named[each].some((pattern) => pattern.test(of)));
  return part === undefined || (part !== 'second' && perhapsShared.test(of)) ? 'first' : part;
}

/** The functions of each part: those by name, and what only functions of this part call. */
function functionsOfParts(functions: ReadonlyMap<string, Called>): Record<PartName, string[]> {
  const files = new Map([...functions].map(([name, called]) => [name, fileByName(name, called)] as const));
  for (let moved = true; moved; ) {
    moved = false;
    for (const [name, { reachable, callers }] of functions) {
      if (reachable || ofFirst.test(name) || files.get(name) !== 'first') continue;
      const [file = 'first', ...others] = new Set(
        [...callers].filter((each) => each !== name).map((each) => files.get(each)),
      );
      if (file === 'first' || others.length > 0) continue;
      files.set(name, file);
      moved = true;
    }
  }
  const of = (part: PartName) => [...files].flatMap(([name, file]) => (file === part ? [name] : []));
  return { second: of('second'), hooks: of('hooks'), families: of('families') };
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
  // In one order whatever the build, so that what becomes of the parts is the same.
  const sorted = `${program}.sorted.wasm`;
  const sort = ['--print-call-graph', '--reorder-functions-by-name', '--debuginfo', '-o', sorted];
  const graph = await run(join(binaryen, 'wasm-opt'), [whole, ...features, ...sort]);
  const sections = Object.entries(functionsOfParts(functionsIn(graph.stdout)));
  const manifest = `${program}.parts.txt`;
  writeFileSync(manifest, sections.map(([part, functions]) => [part, ...functions].join('\n')).join('\n\n'));
  const first = fileOf(program, 'first');
  const labels = [`--import-namespace=${build}`, `--placeholder-namespace-prefix=${build}`, '--export-prefix=%'];
  await run(join(binaryen, 'wasm-split'), [
    '--multi-split',
    sorted,
    ...features,
    `--manifest=${manifest}`,
    ...labels,
    `--out-prefix=${program}.`,
    `--output=${first}`,
  ]);
  const optimise = async (file: string, ...passes: readonly string[]): Promise<void> => {
    writeFileSync(file, namedByOrder(readFileSync(file)));
    const order = '--reorder-functions-by-name';
    await run(join(binaryen, 'wasm-opt'), [file, ...features, ...passes, order, '-o', file]);
  };
  // What the split left behind, such as types and locals of functions that are in another file.
  for (const part of partNames) await optimise(fileOf(program, part), '-Oz', '--converge');
  // The last step of -Oz, which takes effect in the program that writes the file.
  await optimise(first, '--optimize-level=2', '--shrink-level=2', '--optimize-stack-ir');
  await moveConstants(`${program}.map`, (name) => fileOf(program, name), binaryen);
}

function requireSameParts(programs: readonly string[]): void {
  for (const part of partNames) {
    const files = programs.map((program) => readFileSync(fileOf(program, part)));
    if (files.every((file) => files[0]?.equals(file))) continue;
    throw new SetupError(
      `The files ${part} of the builds differ. Either a function of them contains a kernel: those with their names, which ` +
        'wasm-split writes with -g, show which, and ofFirst (scripts/build/split.ts) has to match it, so that it stays in ' +
        'the first. Or only addresses differ: static variables that one build alone has moved all behind them.',
    );
  }
}

function requireRoom(program: string): void {
  const bytes = partNames.reduce((sum, part) => sum + statSync(fileOf(program, part)).size, startOfParts);
  if (bytes <= roomOfParts) return;
  throw new SetupError(
    `The parts of ${program} have ${bytes} bytes: more than roomOfParts (web/src/runtime/parts.ts).`,
  );
}

/** Splits the builds if one has changed. */
export async function splitModules(programs: readonly string[], { root, env }: WasmTools): Promise<void> {
  const home = await query(join(root, 'em-config'), ['BINARYEN_ROOT'], { env });
  const whole = programs.map((program) => `${program}.wasm`);
  const sources = [
    ...['split', 'constants_of_parts', 'function_order', 'wasm_binary'].map((name) => `scripts/build/${name}.ts`),
    ...['needed_parts', 'parts'].map((name) => `web/src/runtime/${name}.ts`),
  ];
  const recipe = {
    stamp: inProject('build/split.stamp'),
    digest: digestOf([...whole, ...sources.map((name) => inProject(name))]),
    outputs: programs.flatMap(filesOf),
  };
  await unlessFresh(recipe, async () => {
    const build = digestOf(whole).slice(0, 12);
    for (const program of programs)
      await step(`Splitting ${program}.wasm`, () => split(program, build, join(home, 'bin')));
    requireSameParts(programs);
    programs.forEach(requireRoom);
  });
}
