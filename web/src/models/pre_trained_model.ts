// What every model has in common: its shape, its hook points, what it runs on, and giving its memory back.

import type { Folder } from '../checkpoint/folder.js';
import type { Handle, HookPoint, ModelShape, Variant } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { Callable } from '../support/callable.js';
import { ClearformerError } from '../support/error.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';
import { readTokenizer, type TokenizerLoadOptions } from '../tokenizer/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../tokenizer/tokenizer.js';

/** What a model runs on. */
export interface ModelInfo {
  /** Version of the C++ core. */
  version: string;
  /** The WASM build in use, and whether it uses relaxed SIMD. */
  simd: Variant;
  relaxed: boolean;
  /** Threads that compute, and why not more. */
  threads: { used: number; reason: string };
  /** Whether it runs in a worker. */
  worker: boolean;
  /** Size of the .wasm file, of the core's memory as of the last call, and of the weights in it. */
  wasmBytes: number;
  heapBytes: number;
  weightsBytes: number;
}

/** @internal A model as it was loaded. */
export interface LoadedModel {
  engine: Engine;
  handle: Handle;
  cfg: ModelShape;
  config: Record<string, unknown>;
  generationConfig: Record<string, unknown>;
  unexpectedTensors: readonly string[];
  hooks: readonly HookPoint[];
  build: { version: string; simd: Variant };
  weightsBytes: number;
  folder: Folder;
  fileOptions: TokenizerLoadOptions;
}

/** A model in an instance of the core that is its own. Call it, then `dispose()` of it. */
export abstract class PreTrainedModel<Arguments extends readonly unknown[], Result> extends Callable<
  Arguments,
  Result
> {
  /** The model's shape, in TransformerLens's spelling. */
  readonly cfg: ModelShape;
  /** config.json as it was read. */
  readonly config: Record<string, unknown>;
  /** Defaults of generation: generation_config.json, over the special tokens of config.json. */
  readonly generation_config: Record<string, unknown>;
  /** Tensors of the checkpoint that this architecture has no use for. */
  readonly unexpected_tensors: readonly string[];
  readonly #loaded: LoadedModel;
  readonly #lease: Lease;
  #tokenizer: Promise<PreTrainedTokenizer | undefined> | undefined;

  /** @internal */
  constructor(loaded: LoadedModel) {
    super();
    this.#loaded = loaded;
    this.cfg = loaded.cfg;
    this.config = loaded.config;
    this.generation_config = loaded.generationConfig;
    this.unexpected_tensors = loaded.unexpectedTensors;
    const { engine } = loaded;
    this.#lease = new Lease('this model', this, () => engine.close());
  }

  /** The points of the forward pass that `run_with_cache` can capture, with their dims. */
  hooks(): HookPoint[] {
    return this.#loaded.hooks.map((hook) => ({ ...hook, dims: [...hook.dims] }));
  }

  /** What the model runs on and how much memory it holds. */
  info(): ModelInfo {
    const { engine, build, weightsBytes } = this.#loaded;
    return {
      version: build.version,
      simd: build.simd,
      relaxed: build.simd === 'relaxed',
      threads: { used: 1, reason: 'this version computes in one thread' },
      worker: engine.remote,
      wasmBytes: engine.wasmBytes,
      heapBytes: this.#lease.released ? 0 : engine.heapBytes,
      weightsBytes,
    };
  }

  /** Gives all memory back, at once; calls that are under way reject with `disposed`. */
  dispose(): Promise<void> {
    return this.#lease.release();
  }
  [disposeSymbol](): void {
    void this.dispose();
  }
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }

  /** @internal The engine and the model's handle in it; throws `disposed`. */
  protected open(): { engine: Engine; model: Handle } {
    this.#lease.check();
    return { engine: this.#loaded.engine, model: this.#loaded.handle };
  }

  /** @internal The tokenizer beside the model, read when first asked for; undefined when there is none. */
  protected ownTokenizer(): Promise<PreTrainedTokenizer | undefined> {
    const { folder, fileOptions } = this.#loaded;
    this.#tokenizer ??= readTokenizer(folder, fileOptions).catch((thrown: unknown) => {
      if (thrown instanceof ClearformerError && thrown.code === 'file_not_found') return undefined;
      this.#tokenizer = undefined; // the next call tries again
      throw thrown;
    });
    return this.#tokenizer;
  }
}
