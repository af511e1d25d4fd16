// Imports point one way only. C++: which room may include which. TypeScript: no rings, the package's rooms in their
// order, and the page imports the package by its name alone.
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';

import { inProject } from './build/fresh.mjs';
import { projectFiles } from './check/files.mjs';
import { main } from './main.mjs';
import { SetupError } from './toolchain/progress.mjs';

// A room and the rooms that it may include; what those include is below it too.
const CPP_BELOW = {
  tensor: [],
  simd: [],
  weights: ['tensor'],
  kernels: ['tensor', 'simd'],
  layers: ['weights', 'kernels'],
  modules: ['layers'],
  models: ['layers'],
  architectures: ['models'],
  loading: ['architectures'],
  generation: ['models'],
  bindings: ['loading', 'generation', 'modules'],
  examples: ['loading', 'generation', 'modules'],
};
// Libraries that only some rooms may name.
const CPP_OWNERS = [
  { pattern: /^(xsimd\/|immintrin\.h|arm_neon\.h|wasm_simd128\.h|cpuid\.h)/, rooms: ['simd'] },
  { pattern: /^rapidjson\//, rooms: ['weights'] },
  { pattern: /^emscripten[./]/, rooms: ['bindings'] },
];
// The package's rooms from the lowest up; those in one line do not know each other's order.
const WEB_ORDER = [
  ['support'],
  ['runtime'],
  ['tensor', 'checkpoint'],
  ['text', 'image'],
  ['models', 'primitives'],
  ['analysis', 'audio', 'inspection'],
  ['pipelines'],
  ['worker', 'thread'],
  ['index'],
  ['inline', 'cli'],
];

function roomsBelow(room) {
  const direct = CPP_BELOW[room] ?? [];
  return new Set([room, ...direct.flatMap((each) => [...roomsBelow(each)])]);
}

function cppRoom(path) {
  return /^(?:cpp\/)?clearformer\/(\w+)\//.exec(path)?.[1] ?? /^cpp\/(bindings|examples)\//.exec(path)?.[1];
}

function checkInclude(file, room, include) {
  const owner = CPP_OWNERS.find(({ pattern }) => pattern.test(include));
  if (owner && !owner.rooms.includes(room)) return [`${file}: only ${owner.rooms.join(', ')} may include <${include}>`];
  const target = cppRoom(include);
  if (!target || roomsBelow(room).has(target)) return [];
  return [`${file}: ${room} must not include ${include}`];
}

async function checkCpp() {
  const files = await projectFiles(/^cpp\/.*\.(cpp|h)$/);
  const faults = files.flatMap((file) => {
    const room = cppRoom(file);
    if (!room) return []; // the public header includes every room
    if (!(room in CPP_BELOW)) return [`${file}: the room ${room} is not known to scripts/check-imports.mjs`];
    const text = readFileSync(inProject(file), 'utf8');
    const includes = [...text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm)].map((match) => match[1]);
    return includes.flatMap((include) => checkInclude(file, room, include));
  });
  return { count: files.length, faults };
}

const IMPORT =
  /(?:^|[;{}\s])(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|\s)import\s*\(?\s*['"]([^'"]+)['"]/gm;

function importsOf(file) {
  const text = readFileSync(inProject(file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2]);
}

/** The project's file that a relative import means, or undefined for a package. */
function resolveImport(file, specifier, files) {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.normalize(posix.join(dirname(file), specifier));
  const candidates = [path, path.replace(/\.js$/, '.ts'), `${path}.ts`, `${path}/index.ts`];
  return candidates.find((each) => files.has(each)) ?? path;
}

function reaches(graph, from, isTarget, seen = new Set()) {
  for (const next of graph.get(from) ?? []) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (isTarget(next)) return [from, next];
    const rest = reaches(graph, next, isTarget, seen);
    if (rest) return [from, ...rest];
  }
  return undefined;
}

const webRoom = (file) => /^web\/src\/(\w+)/.exec(file)?.[1];
const names = (path) => path.map((file) => file.replace('web/src/', '')).join(' -> ');

function checkOrder(graph) {
  const faults = [];
  for (const file of graph.keys()) {
    const level = WEB_ORDER.findIndex((rooms) => rooms.includes(webRoom(file)));
    if (level < 0) continue;
    const higher = WEB_ORDER.slice(level + 1).flat();
    const path = reaches(graph, file, (other) => higher.includes(webRoom(other)));
    if (path) faults.push(`web/src: against the order of rooms: ${names(path)}`);
  }
  return faults;
}

async function checkPackage() {
  const files = new Set(await projectFiles(/^web\/src\/.*\.ts$/));
  const graph = new Map();
  const faults = [];
  for (const file of files) {
    const targets = importsOf(file).map((each) => resolveImport(file, each, files));
    graph.set(file, targets.filter(Boolean));
    const outside = graph
      .get(file)
      .filter((target) => !target.startsWith('web/src/') && !target.startsWith('build/wasm-'));
    faults.push(...outside.map((target) => `${file}: must not import ${target}`));
  }
  const rings = [...files].map((file) => reaches(graph, file, (other) => other === file)).filter(Boolean);
  const distinct = new Map(rings.map((ring) => [[...new Set(ring)].sort().join(), ring]));
  faults.push(...[...distinct.values()].map((ring) => `web/src: a ring: ${names(ring)}`));
  return { count: files.size, faults: [...faults, ...checkOrder(graph)] };
}

async function checkPage() {
  const files = new Set(await projectFiles(/^web\/demo\/.*\.(ts|js|mjs)$/));
  const faults = [...files].flatMap((file) =>
    importsOf(file)
      .map((each) => resolveImport(file, each, files))
      .filter((target) => target && !target.startsWith('web/demo/'))
      .map((target) => `${file}: imports ${target}; the page imports the package by its name alone`),
  );
  return { count: files.size, faults };
}

export async function checkImports() {
  const parts = [await checkCpp(), await checkPackage(), await checkPage()];
  const faults = parts.flatMap((part) => part.faults);
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  const [cpp, web, page] = parts.map((part) => part.count);
  return `${cpp} C++ files, ${web} of the package, ${page} of the page`;
}

await main(import.meta, async () => console.log(await checkImports()));
