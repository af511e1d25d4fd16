// The results of `inspect` and `validate`. All of it can be serialised as JSON.

import type { SourceOptions } from '../checkpoint/source.js';
import type { CacheType, ModelKind, ModelShape, PipelineName, WeightType } from '../runtime/border.js';
import type { ErrorCode } from '../support/error.js';

/** Options of an inspection. */
export interface InspectOptions extends SourceOptions {
  /**
   * The intended use: a pipeline or a task of the core; default: feature-extraction for a language model whose outputs
   * modules.json pools (sentence-transformers), else what config.json names.
   */
  task?: string | undefined;
  /** An abort signal: ends all downloads, and the call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** A problem: an `error` prevents the intended use of the folder, a `warning` does not. */
export interface Problem {
  /** The code of the error that loading rejects with. */
  code: ErrorCode;
  severity: 'error' | 'warning';
  message: string;
  /** The file concerned, if it is a single one. */
  file?: string;
}

/** A tensor of the safetensors files, from its header. */
export interface StoredTensor {
  name: string;
  /** In the file: "F32", "BF16", … */
  dtype: string;
  shape: number[];
  file: string;
}

/** The files of the tokenizer. */
export interface TokenizerFiles {
  /** The file that is read; `sentencepiece` by itself is not. */
  kind: 'tokenizer.json' | 'vocab.txt' | 'vocab.json' | 'sentencepiece';
  files: string[];
}

/** Keys and values of a generation, in bytes per sequence, without padding to vector width. */
export interface CacheBytes {
  /** Per position of the generated text, including the prompt; LFM2's convolutions keep their last inputs beside. */
  per_position: number;
  /** Per position of the encoder's input; 0 without an encoder. */
  per_source_position: number;
  /** Of any length: the states of Qwen3.5's delta rules, as they are and before the latest call; absent: none. */
  per_sequence?: number;
}

/** What a folder holds, what its model needs, and its problems. */
export interface Inspection {
  /** Whether none of the problems is an error. */
  valid: boolean;
  /** `model_type` of config.json, even if it is not supported; null if there is none. */
  model_type: string | null;
  /** The classes that config.json names. */
  architectures: string[];
  /** The kind of model; null (like the next four) if the architecture is not supported. */
  kind: ModelKind | null;
  /** The task it is loaded for, by the core's name: "causal-lm". */
  task: string | null;
  /** The pipeline for that task. */
  pipeline: PipelineName | null;
  /** All pipelines that this architecture has a head for. */
  pipelines: PipelineName[];
  /** Sizes, as in the `cfg` of the loaded model. */
  cfg: ModelShape | null;
  input_modalities: ('text' | 'image' | 'audio')[];
  tokenizer: TokenizerFiles | null;
  /** Names of the files that configure the preprocessing of images or audio. */
  processor: string[];
  /** The files of the folder that were considered, with their sizes; null if the server does not give one. */
  files: { name: string; bytes: number | null }[];
  /** Files with weights in unsupported formats, if the folder can be listed or has no others. */
  other_formats: string[];
  /** Number of elements of all stored tensors; without safetensors, of those the model needs. */
  parameters: number | null;
  /** Bytes of the stored tensors by dtype in the file. */
  bytes: Record<string, number>;
  /**
   * Bytes of the loaded weights by the `dtype` they are loaded in. An output layer that the file holds beside the
   * embedding table it is tied to is counted: loading compares the two, and releases one if they are equal.
   */
  memory: Record<WeightType, number> | null;
  /**
   * Bytes at the peak of a call, by `dtype`, with one thread: the weights; for a prompt of 512 tokens (or as many as
   * the model reads) the activations, and its keys, values and those of 64 new tokens, in fp32; for other models one
   * such text, image or recording, and its outputs; of a table that the file holds twice, one. The WebAssembly memory
   * itself begins with 17 MB and grows by up to 8 MB more than that.
   */
  peak: Record<WeightType, number> | null;
  /**
   * The `dtype` with most bits whose `peak` fits into the memory of a WebAssembly instance (4 GB); null if there is
   * none, or if not all headers could be read.
   */
  fits: WeightType | null;
  /** Of the key/value cache by the `cache_dtype` of loading; null for models that do not generate tokens. */
  cache: Record<CacheType, CacheBytes> | null;
  tensors: StoredTensor[];
  /** Tensors that the model needs and the files lack. */
  missing_tensors: string[];
  /** Tensors that the model does not use. */
  unexpected_tensors: string[];
  problems: Problem[];
}
