// The two files of a build (scripts/build/split.ts) as instances: the second shares memory and table with the first,
// whose calls of functions in the second go through the table. Until the second is there, its places in the table hold
// imports of the first, named by their index.

/** The second file, compiled, and its bytes, which each thread of a pool compiles for itself. */
export interface SecondPart {
  readonly module: WebAssembly.Module;
  readonly bytes: Uint8Array;
}

/** Reads and compiles it. */
export type GetPart = () => Promise<SecondPart>;

/** wasm-split names these imports by the build and this, and those of the second file by the build. */
const suffix = '.deferred';

/** The digest by which both files name their build, from either. */
export function buildOf(part: WebAssembly.Module): string {
  const rooms = WebAssembly.Module.imports(part).map(({ module }) => module);
  return rooms.find((room) => room.endsWith(suffix))?.slice(0, -suffix.length) ?? rooms[0] ?? '';
}

/** These imports of the first file; `call` gets the index in the table and the arguments. */
export function placeholdersOf(
  first: WebAssembly.Module,
  call: (index: number, given: unknown[]) => unknown,
): WebAssembly.Imports {
  const room = buildOf(first) + suffix;
  const names = WebAssembly.Module.imports(first).flatMap(({ module, name }) => (module === room ? [name] : []));
  return {
    [room]: Object.fromEntries(names.map((name) => [name, (...given: unknown[]) => call(Number(name), given)])),
  };
}

/** The imports of the second file: exports of an instance of the first. */
export function importsOfPart(second: WebAssembly.Module, first: WebAssembly.Exports): WebAssembly.Imports {
  return { [buildOf(second)]: first };
}

/** Memory in which the threads of a pool, which hear nothing more, find the second file: its length, then its bytes. */
export class SharedBytes {
  // WebKitGTK isolates pages, and has shared memory, but no global SharedArrayBuffer.
  constructor(
    readonly memory = new WebAssembly.Memory({ initial: 6, maximum: 6, shared: true })
      .buffer as unknown as SharedArrayBuffer,
  ) {}

  put(bytes: Uint8Array): void {
    new Uint8Array(this.memory, 4).set(bytes);
    new Uint32Array(this.memory, 0, 1)[0] = bytes.byteLength;
  }

  take(): Uint8Array<ArrayBuffer> {
    const [length = 0] = new Uint32Array(this.memory, 0, 1);
    return new Uint8Array(this.memory, 4, length).slice() as Uint8Array<ArrayBuffer>;
  }
}
