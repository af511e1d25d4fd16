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

// wasm-split names these imports by the build and the part, and those of a part by the build.
const roomOf = (build: string, part: PartName): string => `${build}.${part}`;
const building = /^[0-9a-f]{12}(?=$|\.)/;

/** The digest by which all files of a build name it, from any. */
export function buildOf(file: WebAssembly.Module): string {
  const rooms = WebAssembly.Module.imports(file).map(({ module }) => building.exec(module)?.[0]);
  return rooms.find((build) => build !== undefined) ?? '';
}

/** These imports of the first file; `call` gets the part, the index in the table and the arguments. */
export function placeholdersOf(
  first: WebAssembly.Module,
  call: (part: PartName, index: number, given: unknown[]) => unknown,
): WebAssembly.Imports {
  const build = buildOf(first);
  const imports = WebAssembly.Module.imports(first);
  const placesOf = (part: PartName) => {
    const names = imports.flatMap(({ module, name }) => (module === roomOf(build, part) ? [name] : []));
    return names.map((name) => [name, (...given: unknown[]) => call(part, Number(name), given)] as const);
  };
  return Object.fromEntries(partNames.map((part) => [roomOf(build, part), Object.fromEntries(placesOf(part))]));
}

/** The imports of a part: exports of an instance of the first file. */
export function importsOfPart(part: WebAssembly.Module, first: WebAssembly.Exports): WebAssembly.Imports {
  return { [buildOf(part)]: first };
}

/** Memory in which the threads of a pool, which hear nothing more, find the parts: start and length of each, then their bytes. */
export class SharedParts {
  // WebKitGTK isolates pages, and has shared memory, but no global SharedArrayBuffer.
  constructor(
    readonly memory = new WebAssembly.Memory({ initial: 6, maximum: 6, shared: true })
      .buffer as unknown as SharedArrayBuffer,
  ) {}

  put({ name, bytes }: CorePart): void {
    const ends = partNames.map((part) => this.#place(part)).map(([start = 0, length = 0]) => start + length);
    const start = Math.max(8 * partNames.length, ...ends);
    new Uint8Array(this.memory, start).set(bytes);
    this.#place(name).set([start, bytes.byteLength]);
  }

  take(name: PartName): Uint8Array<ArrayBuffer> {
    const [start = 0, length = 0] = this.#place(name);
    return new Uint8Array(this.memory, start, length).slice() as Uint8Array<ArrayBuffer>;
  }

  #place(name: PartName): Uint32Array {
    return new Uint32Array(this.memory, 8 * partNames.indexOf(name), 2);
  }
}
