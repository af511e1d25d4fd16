// The public exports of `clearformer`.

export type { Integrity } from './checkpoint/files.js';
export type { ProgressCallback, ProgressInfo } from './checkpoint/progress.js';
export type { Source, SourceOptions } from './checkpoint/source.js';
export type { CacheLike, CacheOption } from './checkpoint/web_folder.js';
export { AutoModelForCausalLM, type LoadOptions } from './models/auto_models.js';
export type { CausalLM, CausalLMOutput, ForwardOptions, RunWithCacheOptions } from './models/causal_lm.js';
export type {
  GenerateOptions,
  GenerateOutput,
  GenerateStreamOptions,
  GenerationOptions,
  GenerationStep,
} from './models/generation.js';
export type { NameFilter, NamesFilter } from './models/hooks.js';
export type { ModelInputs, PromptInputs } from './models/inputs.js';
export type { KeyValueCache, KeyValueCacheInfo } from './models/key_value_cache.js';
export type { ModelInfo, PreTrainedModel } from './models/pre_trained_model.js';
export type { HookPoint, ModelShape, Variant } from './runtime/border.js';
export type { EngineOptions } from './runtime/start_engine.js';
export type { RuntimeOptions } from './runtime/wasm.js';
export * from './tokenizer.js';
