// The files of a build (scripts/build/split.ts) as instances: the parts share memory and table with the first file,
// whose calls of functions in a part go through the table. Until the part is there, its places in the table hold imports
// of the first file, named by their index.

import { type PartName, partNames } from './needed_parts.js';

/** A part, compiled, and its bytes, which each thread of a pool compiles for itself. */
export interface CorePart {
  readonly name: PartName;
  readonly module: WebAssembly.Module;
  readonly bytes: Uint8Array;
}

/** Reads and compiles it. */
export type GetPart = (name: PartName) => Promise<CorePart>;

// wasm-split names these imports by the build, 12 digits, and the part, and those of a part by the build.

/** The digest by which all files of a build name it, from any. */
export function buildOf(file: WebAssembly.Module): string {
  const builds = WebAssembly.Module.imports(file).map(({ module }) => module.slice(0, 12));
  return builds.find(({ length }) => length === 12) ?? '';
}

/** These imports of the first file; `call` gets the part, the index in the table and the arguments. */
export function placeholdersOf(
  first: WebAssembly.Module,
  call: (part: PartName, index: number, given: unknown[]) => unknown,
): WebAssembly.Imports {
  const rooms: WebAssembly.Imports = {};
  for (const { module, name } of WebAssembly.Module.imports(first)) {
    const part = partNames.find((each) => module.endsWith(`.${each}`));
    if (part === undefined) continue;
    rooms[module] ??= {};
    rooms[module][name] = (...given: unknown[]) => call(part, Number(name), given);
  }
  return rooms;
}

/** The imports of a part: exports of an instance of the first file. */
export function importsOfPart(part: WebAssembly.Module, first: WebAssembly.Exports): WebAssembly.Imports {
  return { [buildOf(part)]: first };
}

/** Bytes of the memory in which the threads of a pool find all parts; the build refuses more (scripts/build/split.ts). */
export const roomOfParts = 2 ** 20;

/** Where the parts begin in it: behind the place of each. */
export const startOfParts = 8 * partNames.length;

/** Start and length of a part in the memory in which the threads of a pool, which hear nothing more, find them. */
export function placeIn(memory: SharedArrayBuffer, name: PartName): Uint32Array {
  return new Uint32Array(memory, 8 * partNames.indexOf(name), 2);
}

/** A part's bytes in that memory (SharedParts of thread_pool.ts). */
export function partIn(memory: SharedArrayBuffer, name: PartName): Uint8Array<ArrayBuffer> {
  const [start = 0, length = 0] = placeIn(memory, name);
  return new Uint8Array(memory, start, length).slice() as Uint8Array<ArrayBuffer>;
}
