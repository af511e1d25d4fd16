// What a model is made of, once it is loaded.

import type { Folder } from '../checkpoint/folder.js';
import type { CacheType, Handle, HookPoint, ModelShape, WeightType } from '../runtime/border.js';
import type { BuildInfo } from '../runtime/build_info.js';
import type { Engine } from '../runtime/engine.js';
import type { TokenizerLoadOptions } from '../text/auto_tokenizer.js';

/** @internal A loaded model. */
export interface LoadedModel {
  engine: Engine;
  handle: Handle;
  cfg: ModelShape;
  config: Record<string, unknown>;
  generationConfig: Record<string, unknown>;
  unexpectedTensors: readonly string[];
  hooks: readonly HookPoint[];
  build: BuildInfo;
  dtype: WeightType;
  cache_dtype: CacheType;
  folder: Folder;
  fileOptions: TokenizerLoadOptions;
  texts: { config: string; generation: string | undefined };
}
