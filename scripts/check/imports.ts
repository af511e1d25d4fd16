// Import directions. C++: which folder may include which. TypeScript: no cycles, the package's folders in their
// order, and the page imports the package only by its name.

import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';
import { projectFiles } from './files.js';

// A folder and the folders that it may include, transitively.
const cppBelow: Readonly<Record<string, readonly string[]>> = {
  tensor: [],
  simd: [],
  kernels: ['tensor', 'simd'],
  weights: ['kernels'],
  layers: ['weights'],
  modules: ['layers'],
  models: ['layers'],
  architectures: ['models'],
  loading: ['architectures'],
  generation: ['models'],
  bindings: ['loading', 'generation', 'modules'],
  examples: ['loading', 'generation', 'modules'],
};
// Libraries that only some folders may include.
const cppOwners = [
  { pattern: /^(xsimd\/|immintrin\.h|arm_neon\.h|wasm_simd128\.h|cpuid\.h)/, rooms: ['simd'] },
  { pattern: /^rapidjson\//, rooms: ['weights'] },
  { pattern: /^emscripten[./]/, rooms: ['bindings'] },
];
// The package's folders from the lowest up; those in one line must not import each other.
const webOrder = [
  ['support'],
  ['runtime'],
  ['tensor', 'checkpoint'],
  ['text', 'image'],
  ['models'],
  ['primitives'], // modules are edited like models
  ['analysis', 'audio', 'inspection'],
  ['pipelines'],
  ['worker', 'hook_functions'],
  ['index', 'elements', 'tokenizer', 'chat_template'],
  ['node'],
  ['whole', 'cli'],
];

function roomsBelow(room: string): Set<string> {
  const direct = cppBelow[room] ?? [];
  return new Set([room, ...direct.flatMap((each) => [...roomsBelow(each)])]);
}

function cppRoom(path: string): string | undefined {
  return /^(?:cpp\/)?clearformer\/(\w+)\//.exec(path)?.[1] ?? /^cpp\/(bindings|examples)\//.exec(path)?.[1];
}

function checkInclude(file: string, room: string, include: string): string[] {
  const owner = cppOwners.find(({ pattern }) => pattern.test(include));
  if (owner && !owner.rooms.includes(room)) return [`${file}: only ${owner.rooms.join(', ')} may include <${include}>`];
  const target = cppRoom(include);
  if (!target || roomsBelow(room).has(target)) return [];
  return [`${file}: ${room} must not include ${include}`];
}

interface Part {
  /** Number of files checked. */
  count: number;
  faults: string[];
}

async function checkCpp(): Promise<Part> {
  const files = await projectFiles(/^cpp\/.*\.(cpp|h)$/);
  const faults = files.flatMap((file) => {
    const room = cppRoom(file);
    if (!room) return []; // the public header includes every folder
    if (!(room in cppBelow)) return [`${file}: the room ${room} is not known to scripts/check/imports.ts`];
    const text = readFileSync(inProject(file), 'utf8');
    const includes = [...text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm)].map(([, name = '']) => name);
    return includes.flatMap((include) => checkInclude(file, room, include));
  });
  return { count: files.length, faults };
}

const importPattern =
  /(?:^|[;{}\s])(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|\s)import\s*\(?\s*['"]([^'"]+)['"]/gm;

function importsOf(file: string): string[] {
  const text = readFileSync(inProject(file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...text.matchAll(importPattern)].map(([, from, bare]) => from ?? bare ?? '');
}

/** The project's file of a relative import, or undefined for a package. */
function resolveImport(file: string, specifier: string, files: ReadonlySet<string>): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.normalize(posix.join(dirname(file), specifier));
  const candidates = [path, path.replace(/\.js$/, '.ts'), `${path}.ts`, `${path}/index.ts`];
  return candidates.find((each) => files.has(each)) ?? path;
}

/** The project's files that a file imports. */
function targetsOf(file: string, files: ReadonlySet<string>): string[] {
  return importsOf(file).flatMap((each) => resolveImport(file, each, files) ?? []);
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** A path of imports from a file to one with `isTarget`, if there is one. */
function reaches(
  graph: Graph,
  from: string,
  isTarget: (file: string) => boolean,
  seen = new Set<string>(),
): string[] | undefined {
  for (const next of graph.get(from) ?? []) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (isTarget(next)) return [from, next];
    const rest = reaches(graph, next, isTarget, seen);
    if (rest) return [from, ...rest];
  }
  return undefined;
}

const webRoom = (file: string): string => /^web\/src\/(\w+)/.exec(file)?.[1] ?? '';
const names = (path: readonly string[]): string => path.map((file) => file.replace('web/src/', '')).join(' -> ');

function checkOrder(graph: Graph): string[] {
  const faults: string[] = [];
  for (const file of graph.keys()) {
    const room = webRoom(file);
    const level = webOrder.findIndex((rooms) => rooms.includes(room));
    if (level < 0) faults.push(`${file}: the room ${room} is not known to scripts/check/imports.ts`);
    const lower = [room, ...webOrder.slice(0, Math.max(0, level)).flat()];
    const path = reaches(graph, file, (other) => other.startsWith('web/src/') && !lower.includes(webRoom(other)));
    if (path) faults.push(`web/src: against the order of rooms: ${names(path)}`);
  }
  return faults;
}

async function checkPackage(): Promise<Part> {
  const files = new Set(await projectFiles(/^web\/src\/.*\.ts$/));
  const graph = new Map<string, string[]>();
  const faults: string[] = [];
  for (const file of files) {
    const targets = targetsOf(file, files);
    graph.set(file, targets);
    const outside = targets.filter((target) => !target.startsWith('web/src/') && !target.startsWith('build/wasm'));
    faults.push(...outside.map((target) => `${file}: must not import ${target}`));
  }
  const rings = [...files].flatMap((file) => [reaches(graph, file, (other) => other === file) ?? []]);
  const distinct = new Map(rings.map((ring) => [[...new Set(ring)].sort().join(), ring]));
  const found = [...distinct.values()].filter(({ length }) => length > 0);
  faults.push(...found.map((ring) => `web/src: a ring: ${names(ring)}`));
  return { count: files.size, faults: [...faults, ...checkOrder(graph)] };
}

// The page's folders, and those that a file there must not import. Chapters are loaded by their table when opened.
const pageAbove: Readonly<Record<string, readonly string[]>> = {
  words: ['book', 'chapters', 'shell'],
  book: ['chapters', 'shell'],
  chapters: ['shell'],
};
const pageTable = 'web/demo/book/chapters.ts';
/** Measures the items of tests/bench in the reader's browser. */
const benchPage = 'web/demo/bench/';
const pageRoom = (file: string): string => /^web\/demo\/(\w+)\//.exec(file)?.[1] ?? '';

function checkPageRooms(file: string, targets: readonly string[]): string[] {
  if (file === pageTable) return [];
  const above = pageAbove[pageRoom(file)] ?? [];
  const wrong = targets.filter((target) => above.includes(pageRoom(target)));
  return wrong.map((target) => `${file}: ${pageRoom(file)} must not import ${target}`);
}

async function checkPage(): Promise<Part> {
  const files = new Set(await projectFiles(/^web\/demo\/.*\.(ts|js|mjs)$/));
  const upward = [...files].flatMap((file) => checkPageRooms(file, targetsOf(file, files)));
  const faults = [...files].flatMap((file) =>
    targetsOf(file, files)
      .filter((target) => !target.startsWith('web/demo/'))
      .filter((target) => !(file.startsWith(benchPage) && target.startsWith('tests/bench/')))
      .map((target) => `${file}: imports ${target}; the page imports the package by its name alone`),
  );
  return { count: files.size, faults: [...faults, ...upward] };
}

export async function checkImports(): Promise<string> {
  const [cpp, web, page] = [await checkCpp(), await checkPackage(), await checkPage()];
  const parts = [cpp, web, page];
  const faults = parts.flatMap((part) => part.faults);
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  return `${cpp.count} C++ files, ${web.count} of the package, ${page.count} of the page`;
}
