// The types of the bindings of the C++ core: the arguments and result of every function of the WASM module. The
// implementation is cpp/bindings.

import type { ClearformerWarning } from '../support/config.js';
import type { ErrorCode } from '../support/error.js';
import type { BuildInfo } from './build_info.js';
import type { Call, Handle, Loose, Nothing, Texts } from './calls.js';
import type { Complexity } from './complexity.js';
import type { GradientRequest, GradientsFound, NamedTensors, ReadOutIn } from './gradient_request.js';
import type { HookName } from './hook_names.js';
import type { EditIn, FunctionIn, ObservationRequest, OutputRequest, PartIn, SentHook } from './observation_request.js';
import type {
  EmptyRow,
  KeptScores,
  MaskTerm,
  ModuleArguments,
  PlainOptions,
  PrimitiveCalls,
} from './primitive_calls.js';
import type { TensorData, TensorIn, TensorOut, TensorType } from './tensors.js';
import type { WeightCalls } from './weight_calls.js';
import type { CacheType, MemoryUse, ParameterInfo, WeightProcessing, WeightType } from './weights.js';

export type {
  CacheType,
  EditIn,
  EmptyRow,
  FunctionIn,
  Handle,
  KeptScores,
  MaskTerm,
  MemoryUse,
  ModuleArguments,
  ObservationRequest,
  OutputRequest,
  ParameterInfo,
  PartIn,
  PlainOptions,
  ReadOutIn,
  SentHook,
  TensorData,
  TensorIn,
  TensorOut,
  TensorType,
  WeightProcessing,
  WeightType,
};

/** A point of the forward pass that can be captured; letters in `dims` stand for sizes known only at run time. */
export interface HookPoint {
  name: HookName;
  dims: (string | number)[];
  /** The names of the axes, in the same order: `batch`, `pos`, `head`, `d_head`, … */
  axes: string[];
  dtype: string;
  /** Computed only where a filter names it, see `hooks()`. */
  on_request?: boolean;
}

/** The four kinds of model. */
export type ModelKind = 'encoder-only' | 'decoder-only' | 'encoder-decoder' | 'dual-encoder';

/** The tasks of `pipeline`; the core decides which one a config.json implies (models/config.cpp). */
export type PipelineName =
  | 'audio-classification'
  | 'automatic-speech-recognition'
  | 'feature-extraction'
  | 'fill-mask'
  | 'image-classification'
  | 'image-feature-extraction'
  | 'question-answering'
  | 'sentence-similarity'
  | 'summarization'
  | 'text-classification'
  | 'text-generation'
  | 'text-ranking'
  | 'text2text-generation'
  | 'token-classification'
  | 'translation'
  | 'zero-shot-classification'
  | 'zero-shot-image-classification';

/** The shape of a model, with TransformerLens' names (`n_layers`, `d_model`, …) plus `model_type`. */
export interface ModelShape {
  model_type: string;
  kind: ModelKind;
  /** The task it was loaded for: "causal-lm", … */
  task: string;
  n_layers: number;
  n_heads: number;
  d_model: number;
  d_head: number;
  d_vocab: number;
  n_ctx: number;
  [key: string]: unknown;
}

/** What to keep of a generation step. */
export interface StepRequest {
  output_scores?: boolean;
  output_logits?: boolean;
}

/** A result in the middle of a step: scores [row, vocabulary], which the next call passes back changed. */
export type HeldStep = { held_scores: TensorOut<'float32'> };

/** The value of a generation option. The core rejects unknown names. */
export type OptionValue = boolean | number | string | null | readonly OptionValue[];

/** Inputs of a model with Hugging Face's names (ModelInputs of the core's models/model.h). */
export interface RunInputs {
  input_ids?: TensorIn;
  attention_mask?: TensorIn;
  token_type_ids?: TensorIn;
  position_ids?: TensorIn;
  decoder_input_ids?: TensorIn;
  decoder_attention_mask?: TensorIn;
  decoder_position_ids?: TensorIn;
  pixel_values?: TensorIn;
  input_features?: TensorIn;
  input_values?: TensorIn;
  inputs_embeds?: TensorIn;
  decoder_inputs_embeds?: TensorIn;
  residual?: TensorIn;
  interpolate_pos_encoding?: boolean;
  past_key_values?: Handle;
}

/** Calls that may return `pending` between two steps and are then repeated, or repeated with `abandon`. */
export interface Paced {
  yield_after_ms?: number;
  abandon?: boolean;
}

export interface ForwardArguments extends RunInputs, ObservationRequest, Paced {
  model: Handle;
  use_cache?: boolean;
  stop_at_layer?: number | undefined;
  start_at_layer?: number | undefined;
  logits_to_keep?: number[];
}

/** A forward pass and the gradients of a metric, the sum of its terms (gradient.h of the core). */
export interface GradientArguments extends Omit<ForwardArguments, 'use_cache'>, GradientRequest {
  losses?: { labels: TensorIn; label_smoothing: number; weight: number }[];
  /** Row, position and token of each logit, and their weights. */
  logit_places?: TensorIn;
  logit_weights?: TensorIn;
  output_terms?: ReadOutIn[];
  hook_terms?: ReadOutIn[];
  /** Logits of a language model are not among the outputs, and never in memory as a whole. */
  omit_logits?: boolean;
  /** "auto", "keep" or "recompute", see Gradient::Memory of the core. */
  memory?: string;
}

export interface GradientValue extends GradientsFound {
  outputs: NamedTensors;
  lists?: Lists;
  captured?: NamedTensors;
  value: number;
}

type Lists = Record<string, TensorOut<'float32'>[]>;

export interface ForwardValue {
  outputs: Record<string, TensorOut<'float32'>>;
  lists?: Lists;
  past_key_values?: Handle;
  captured?: Record<string, TensorOut<'float32'>>;
  indices?: Record<string, TensorOut<'int32'>>;
}

export interface StepValue {
  done: boolean;
  token_ids: TensorOut<'int32'>;
  beam_indices?: TensorOut<'int32'>;
  beam_scores?: TensorOut<'float32'>;
  scores?: TensorOut<'float32'>;
  logits?: TensorOut<'float32'>;
  lists?: Lists;
  captured?: Record<string, TensorOut<'float32'>>;
  indices?: Record<string, TensorOut<'int32'>>;
}

/** The initial tokens of a generation's sequences, and the options needed in JavaScript. */
export interface GenerationValue {
  generation: Handle;
  prompt: TensorOut<'int32'>;
  /** Number of sequences, several per prompt. */
  num_sequences: number;
  num_beams: number;
  eos_token_ids: number[];
  warning?: ClearformerWarning;
}

export interface ModelValue {
  model: Handle;
  cfg: ModelShape;
  /** Those that texts are generated with. */
  special_tokens: Record<'bos_token_id' | 'pad_token_id' | 'decoder_start_token_id', number | null> & {
    eos_token_id: number[];
  };
  unexpected_tensors: string[];
  /** `HookPoint[]` as JSON. */
  hooks: string;
}

type NormArguments = { x: TensorIn; axes: number; eps: number } & Loose<{ weight?: TensorIn; bias?: TensorIn }>;

type Convolution = { stride: number; dilation: number; groups: number; padding: number; padding_behind: number };

/** The layout of sinusoids: see positional_encoding.h of the core. */
type Sinusoid = { d_model: number } & Loose<{ base?: number; layout?: string }>;
type Buckets = { num_buckets: number; max_distance: number; bidirectional: boolean };
type Span = { queries: number; keys: number; query_offset: number };

/** See log_mel_spectrogram.h of the core; without `num_samples` audio is neither truncated nor padded. */
export type LogMelOptions = {
  feature_size: number;
  sampling_rate: number;
  hop_length: number;
  n_fft: number;
  padding_value: number;
} & Loose<{ num_samples?: number }>;

/** See logit_directions.h of the core: vectors [N, d_model] or [N, head, d_head], bias [N]. */
export interface Directions {
  vectors: TensorOut<'float32'>;
  bias: TensorOut<'float32'>;
}

/** See log_mel_fbank.h of the core. */
export type LogMelFbankOptions = {
  num_mel_bins: number;
  sampling_rate: number;
  max_length: number;
  mean: number;
  std: number;
} & Loose<{ do_normalize?: boolean }>;

/** Every exported function: its argument object and the value of its result. */
export interface Border extends WeightCalls, PrimitiveCalls {
  optimizer_backward: Call<
    RunInputs & Paced & { optimizer: Handle; labels: TensorIn; label_smoothing: number },
    { loss: number }
  >;
  build_info: Call<Nothing, BuildInfo & { heap_bytes: number; most_heap_bytes: number }>;
  memory_use: Call<Nothing, MemoryUse>;
  checkpoint_open: Call<
    { dtype: WeightType } & Texts<'config' | 'config_name' | 'task' | 'index' | 'index_name'>,
    { checkpoint: Handle }
  >;
  checkpoint_index: Call<{ text: string; name: string }, { files: string[]; total_size: number | null }>;
  checkpoint_begin_file: Call<{ checkpoint: Handle; name: string; bytes: number }, Nothing>;
  checkpoint_window: Call<{ checkpoint: Handle }, { pointer: number; length: number }>;
  checkpoint_commit: Call<{ checkpoint: Handle; length: number }, Nothing>;
  checkpoint_end_file: Call<{ checkpoint: Handle }, Nothing>;
  /**
   * `facts` is JSON: the core's part of `Inspection` without `cfg`, `readable`, the files with a valid header, and
   * `same_tensors`, names of tensors that loading takes for one.
   */
  inspect: Call<
    { files: { name: string; bytes: number; start: Uint8Array }[]; dtype?: WeightType | undefined } & Texts<
      'config' | 'index' | 'generation_config' | 'task'
    >,
    { facts: string; cfg?: ModelShape }
  >;
  model_check: Call<{ config: string; config_name: string; task?: string }, Nothing>;
  model_create: Call<
    { checkpoint: Handle; config: string; config_name: string; cache_dtype: CacheType } & Texts<
      'generation_config' | 'task'
    >,
    ModelValue
  >;
  model_forward: Call<ForwardArguments, ForwardValue>;
  model_gradient: Call<GradientArguments, GradientValue>;
  model_unembed: Call<{ model: Handle; x: TensorIn; normalize: boolean }, TensorOut<'float32'>>;
  model_logit_directions: Call<{ model: Handle; tokens: TensorIn }, Directions>;
  model_head_directions: Call<{ model: Handle; layer: number; cross: boolean; directions: TensorIn }, Directions>;
  sentence_pooling: Call<{ x: TensorIn; mask: TensorIn; modes: string[] }, TensorOut<'float32'>>;
  sentence_pooling_backward: Call<
    { x: TensorIn; mask: TensorIn; modes: string[]; grad_output: TensorIn },
    TensorOut<'float32'>
  >;
  unit_vectors: Call<{ x: TensorIn }, TensorOut<'float32'>>;
  unit_vectors_backward: Call<{ x: TensorIn; grad_output: TensorIn }, TensorOut<'float32'>>;
  cache_info: Call<{ cache: Handle }, { batch: number; length: number; capacity: number; bytes: number }>;
  cache_crop: Call<{ cache: Handle; length: number }, Nothing>;
  cache_copy: Call<Record<'cache' | 'length' | 'first_layer' | 'more', number> & { rows: number[] }, { cache: Handle }>;
  generation_create: Call<
    RunInputs &
      ObservationRequest & {
        model: Handle;
        options: Record<string, OptionValue>;
        generation_config?: string | undefined; // what has precedence over the one that the model was created with
        past_key_values?: Handle | undefined;
        hold_scores?: boolean; // each step returns twice, first a HeldStep
      },
    GenerationValue
  >;
  generation_step: Call<StepRequest & Paced & { generation: Handle; changed_scores?: TensorIn }, StepValue | HeldStep>;
  generation_end: Call<{ generation: Handle; rows: TensorIn }, { done: boolean }>;
  generation_result: Call<
    { generation: Handle },
    { sequences: TensorOut<'int32'>; sequences_scores?: TensorOut<'float32'>; beam_indices?: TensorOut<'int32'> }
  >;
  generation_cache: Call<{ generation: Handle }, { past_key_values: Handle }>;
  softmax: Call<{ x: TensorIn; axis: number }, TensorOut<'float32'>>;
  log_softmax: Call<{ x: TensorIn; axis: number }, TensorOut<'float32'>>;
  masked_softmax: Call<{ x: TensorIn } & Loose<{ mask?: MaskTerm[]; empty_row?: EmptyRow }>, TensorOut<'float32'>>;
  matmul: Call<{ x: TensorIn; y: TensorIn }, TensorOut<'float32'>>;
  bmm: Call<{ x: TensorIn; y: TensorIn }, TensorOut<'float32'>>;
  layer_norm: Call<NormArguments, TensorOut<'float32'>>;
  rms_norm: Call<Omit<NormArguments, 'bias'>, TensorOut<'float32'>>;
  activation: Call<{ x: TensorIn; kind: string }, TensorOut<'float32'>>;
  softplus: Call<{ x: TensorIn; beta: number; threshold: number }, TensorOut<'float32'>>;
  gated: Call<{ x: TensorIn; kind: string; axis: number }, TensorOut<'float32'>>;
  conv1d: Call<Convolution & { x: TensorIn; weight: TensorIn } & Loose<{ bias?: TensorIn }>, TensorOut<'float32'>>;
  /** Of x, or of the product x·y. */
  svd: Call<{ x: TensorIn } & Loose<{ y?: TensorIn }>, Record<'u' | 's' | 'vh', TensorOut<'float32'>>>;
  sinusoidal_encoding: Call<Sinusoid & { positions: TensorIn }, TensorOut<'float32'>>;
  shift_matrix: Call<Sinusoid & { delta: number }, TensorOut<'float32'>>;
  distinct_encodings: Call<Sinusoid & { count: number }, number>;
  learned_encoding: Call<{ table: TensorIn; positions: TensorIn }, TensorOut<'float32'>>;
  alibi_slopes: Call<{ num_heads: number }, TensorOut<'float32'>>;
  alibi_bias: Call<Span & { num_heads: number }, TensorOut<'float32'>>;
  relative_position_bucket: Call<Buckets & { relative_positions: TensorIn }, TensorOut<'int32'>>;
  relative_position_bias: Call<Buckets & Span & { table: TensorIn }, TensorOut<'float32'>>;
  rotary: Call<
    { x: TensorIn; positions: TensorIn; options: PlainOptions; interleaved: boolean } & Loose<{ rotary_dim?: number }>,
    TensorOut<'float32'>
  >;
  rotary_embedding: Call<
    { x: TensorIn; cos_cache: TensorIn; sin_cache: TensorIn; interleaved: boolean } & Loose<{
      position_ids?: TensorIn;
      num_heads?: number;
      rotary_embedding_dim?: number;
    }>,
    TensorOut<'float32'>
  >;
  patch_embedding: Call<
    { images: TensorIn; weight: TensorIn; drop_remainder: boolean } & Loose<{ bias?: TensorIn }>,
    TensorOut<'float32'>
  >;
  prepend_tokens: Call<{ tokens: TensorIn; x: TensorIn }, TensorOut<'float32'>>;
  interpolate_positions: Call<
    { table: TensorIn; rows: number; columns: number; new_rows: number; new_columns: number },
    TensorOut<'float32'>
  >;
  complexity: Call<
    { kind: string; sequence_length: number; d_model: number } & Loose<{
      kernel_size?: number;
      neighbourhood?: number;
    }>,
    Complexity
  >;
  log_mel_fbank: Call<LogMelFbankOptions & Paced & { samples: TensorIn }, TensorOut<'float32'>>;
  log_mel_spectrogram: Call<LogMelOptions & Paced & { samples: TensorIn }, TensorOut<'float32'>>;
  release: Call<{ handle: Handle }, Nothing>;
  /** Only in the builds with shared memory. */
  threads_prepare: Call<{ threads: number }, { entry: number; failed: number; slots: number[]; end: number }>;
  threads_use: Call<{ threads: number; caller_may_sleep: boolean }, Nothing>;
}

export type BorderName = keyof Border;
export type ArgumentsOf<N extends BorderName> = Border[N]['arguments'];
export type ValueOf<N extends BorderName> = Border[N]['value'];

/** The result of every function. */
export type Answer<V> = { ok: true; value: V } | { ok: false; error: { code: ErrorCode; message: string } };

/**
 * The instance created by the Emscripten glue. HEAPU8 is replaced whenever the memory grows: read it again each time.
 */
export type CoreModule = { readonly HEAPU8: Uint8Array } & {
  [N in BorderName]: (given: ArgumentsOf<N>) => Answer<ValueOf<N>>;
};

/** The glue's factory, with the options this package uses. */
export type CreateCore = (options: {
  wasmMemory: WebAssembly.Memory;
  instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): void;
}) => Promise<CoreModule>;
