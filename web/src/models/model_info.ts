// What a model runs on, and the memory it uses.

import type { CacheType, MemoryUse, WeightType } from '../runtime/border.js';
import type { BuildInfo, Variant } from '../runtime/build_info.js';
import { type Engine, noMemory } from '../runtime/engine.js';

/** Runtime information of a model. */
export interface ModelInfo {
  /** Version of the C++ core. */
  version: string;
  /** The WASM build in use: with or without relaxed SIMD. */
  simd: Variant;
  relaxed: boolean;
  /**
   * The width of the integers that the products of `q8` and `q4` of several rows sum: 8 with an instruction for dot
   * products of bytes, 16 where the processor has none or the build does not use it. The results have the same bits.
   */
  dotBits: 8 | 16;
  /** Number of threads, and why not more. */
  threads: { used: number; reason: string };
  /** Whether it runs in a worker. */
  worker: boolean;
  /**
   * Size of the .wasm file with the parts of the core that are loaded, of the core's memory as of the last call, and of
   * the weights in it.
   */
  wasmBytes: number;
  heapBytes: number;
  weightsBytes: number;
  /** The format of the weights of linear layers. */
  dtype: WeightType;
  /** The format of keys and values in the cache. */
  cache_dtype: CacheType;
  /** The model's part of heapBytes as of the last call, in bytes. */
  memory: MemoryUse;
}

interface RunningModel {
  engine: Engine;
  build: BuildInfo;
  dtype: WeightType;
  cache_dtype: CacheType;
}

/** @internal That of a model, which may have been released. */
export function infoOf({ engine, build, dtype, cache_dtype }: RunningModel, released: boolean): ModelInfo {
  const memory = released ? noMemory : engine.memory;
  return {
    version: build.version,
    simd: build.simd,
    relaxed: build.simd === 'relaxed',
    dotBits: build.dot_bits,
    threads: { ...engine.threads },
    worker: engine.remote,
    wasmBytes: engine.wasmBytes,
    heapBytes: released ? 0 : engine.heapBytes,
    weightsBytes: memory.weights,
    dtype,
    cache_dtype,
    memory: { ...memory },
  };
}
