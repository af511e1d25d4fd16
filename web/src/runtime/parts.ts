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

/** Memory in which the threads of a pool, which hear nothing more, find the parts: start and length of each, then their bytes. */
export class SharedParts {
  // WebKitGTK isolates pages, and has shared memory, but no global SharedArrayBuffer.
  constructor(
    readonly memory = new WebAssembly.Memory({ initial: 6, maximum: 6, shared: true })
      .buffer as unknown as SharedArrayBuffer,
  ) {}

  put({ name, bytes }: CorePart): void {
    const [last = 0] = this.#place(partNames.length); // where the next part begins
    const start = last || 8 * (partNames.length + 1);
    new Uint8Array(this.memory, start).set(bytes);
    this.#place(partNames.length).set([start + bytes.byteLength]);
    this.#place(partNames.indexOf(name)).set([start, bytes.byteLength]);
  }

  take(name: PartName): Uint8Array<ArrayBuffer> {
    const [start = 0, length = 0] = this.#place(partNames.indexOf(name));
    return new Uint8Array(this.memory, start, length).slice() as Uint8Array<ArrayBuffer>;
  }

  #place(index: number): Uint32Array {
    return new Uint32Array(this.memory, 8 * index, 2);
  }
}
