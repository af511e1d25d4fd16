// An instance of the WASM core in this thread: calls of its functions, and the guard against using it after a trap.

import createCore from '../../../build/wasm/clearformer-simd128.mjs';
import { ClearformerError, messageOf } from '../support/error.js';
import type { Answer, ArgumentsOf, BorderName, CoreModule, Handle, MemoryUse, ValueOf } from './border.js';
import { noMemory } from './engine.js';
import type { PartName } from './needed_parts.js';
import { importsOfPart, placeholdersOf } from './parts.js';
import { selfTest } from './self_test.js';
import type { CompiledCore } from './wasm.js';

/** The core. Every model has an instance of its own, so that dropping it releases all its memory. */
export class Core {
  readonly #module: CoreModule;
  readonly #exports: WebAssembly.Exports;
  /** The instance's memory, if it is shared with threads. */
  readonly memory: WebAssembly.Memory | undefined;
  #trap: unknown;

  constructor(module: CoreModule, exports: WebAssembly.Exports, memory?: WebAssembly.Memory) {
    this.#module = module;
    this.#exports = exports;
    this.memory = memory;
  }

  /**
   * Creates an instance. Throws `wasm_unavailable` if the engine refuses (mostly for lack of memory), `unsupported` if
   * it computes wrong results.
   */
  static async start(compiled: CompiledCore): Promise<Core> {
    try {
      const core = await instantiate(compiled);
      if (!compiled.tested) selfTest(core);
      compiled.tested = true;
      return core;
    } catch (cause) {
      if (cause instanceof ClearformerError && cause.code === 'unsupported') throw cause;
      throw new ClearformerError('wasm_unavailable', `the WASM core did not start (${messageOf(cause)})`, {}, cause);
    }
  }

  /** Adds the functions of a part of the build: they take their places in the table of the first file. */
  async add(part: WebAssembly.Module): Promise<void> {
    await WebAssembly.instantiate(part, importsOfPart(part, this.#exports));
  }

  /** From now on all calls fail for this reason. */
  stop(why: unknown): void {
    this.#trap ??= why;
  }

  /** Size of the instance's memory in bytes. */
  get heapBytes(): number {
    return this.#module.HEAPU8.byteLength;
  }

  /** Memory used by its objects; nothing after a trap, when it can no longer be called. */
  get use(): MemoryUse {
    return this.#trap === undefined ? this.run('memory_use', {}) : noMemory;
  }

  /** Calls a function. Throws its typed error, or `poisoned` if the instance has trapped, now or earlier. */
  run<N extends BorderName>(name: N, given: ArgumentsOf<N>): ValueOf<N> {
    if (this.#trap !== undefined) throw this.#poisoned(name);
    let answer: Answer<ValueOf<N>>;
    try {
      answer = (this.#module[name] as (given: ArgumentsOf<N>) => Answer<ValueOf<N>>)(given);
    } catch (trap) {
      this.stop(trap ?? 'unknown');
      throw this.#poisoned(name);
    }
    if (answer.ok) return answer.value;
    throw new ClearformerError(answer.error.code, answer.error.message);
  }

  /** Copies bytes of the current file to the checkpoint's window; the only copy of weights in JavaScript. */
  write(checkpoint: Handle, chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.byteLength; ) {
      const window = this.run('checkpoint_window', { checkpoint });
      const length = Math.min(window.length, chunk.byteLength - offset);
      this.#module.HEAPU8.set(chunk.subarray(offset, offset + length), window.pointer >>> 0);
      this.run('checkpoint_commit', { checkpoint, length });
      offset += length;
    }
  }

  #poisoned(name: BorderName): ClearformerError {
    const cause = messageOf(this.#trap);
    return new ClearformerError(
      'poisoned',
      `${name}: the WASM core has stopped (${cause}); dispose of this model and load it anew`,
      {},
      this.#trap,
    );
  }
}

/** In pages of 64 KiB: 16 MiB, and all that 32 bits can address. As declared by the modules (CMakeLists.txt). */
const memorySize = { initial: 256, maximum: 65_536 };

/** The place of a function of a part, called although that was not added (needed_parts.ts). */
function absent(part: PartName, index: number): never {
  throw new Error(`function ${index} of ${part}.js is not loaded`);
}

/** One glue serves every build: they differ in the code of the kernels, and in whether the memory is shared. */
async function instantiate({ module: compiled, shared }: CompiledCore): Promise<Core> {
  const wasmMemory = new WebAssembly.Memory({ ...memorySize, shared });
  let exports: WebAssembly.Exports = {};
  const module = await new Promise<CoreModule>((resolve, reject) => {
    createCore({
      wasmMemory,
      instantiateWasm(imports, done) {
        const started = (instance: WebAssembly.Instance) => {
          exports = instance.exports;
          done(instance);
        };
        const all = { ...imports, ...placeholdersOf(compiled, absent) };
        WebAssembly.instantiate(compiled, all).then(started, reject);
      },
    }).then(resolve, reject);
  });
  return new Core(module, exports, shared ? wasmMemory : undefined);
}
