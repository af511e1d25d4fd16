// What `inspect` and `validate` tell about a folder. All of it is JSON.

import type { SourceOptions } from '../checkpoint/source.js';
import type { ModelKind, ModelShape, PipelineName, WeightType } from '../runtime/border.js';
import type { ErrorCode } from '../support/error.js';

/** How a folder is looked at. */
export interface InspectOptions extends SourceOptions {
  /** What the model would be loaded for: a pipeline or a task of the core; default: what config.json names. */
  task?: string | undefined;
  /** Aborting it ends all downloads and rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** What is wrong: with an `error` the folder cannot be used for what it is, with a `warning` it can. */
export interface Problem {
  /** As of the error that loading rejects with. */
  code: ErrorCode;
  severity: 'error' | 'warning';
  message: string;
  /** The file concerned, where it is one. */
  file?: string;
}

/** A tensor of the safetensors files, as its header tells it. */
export interface StoredTensor {
  name: string;
  /** In the file: "F32", "BF16", … */
  dtype: string;
  shape: number[];
  file: string;
}

/** What a text becomes ids with. */
export interface TokenizerFiles {
  /** The file that is read; `sentencepiece` alone is not. */
  kind: 'tokenizer.json' | 'vocab.txt' | 'vocab.json' | 'sentencepiece';
  files: string[];
}

/** Keys and values of a generation, in bytes, for each sequence: before rows are filled up to the machine's vectors. */
export interface CacheBytes {
  /** Of each position of the text that is generated, prompt included. */
  per_position: number;
  /** Of each position that an encoder read; 0 without one. */
  per_source_position: number;
}

/** What a folder holds, what the model in it needs, and what is wrong with it. */
export interface Inspection {
  /** Whether no problem is an error. */
  valid: boolean;
  /** `model_type` of config.json, also where it is not supported; null where there is none. */
  model_type: string | null;
  /** The classes that config.json names. */
  architectures: string[];
  /** The shape of model; null (as the next four) where the architecture is not supported. */
  kind: ModelKind | null;
  /** What it is loaded for, in the core's words: "causal-lm". */
  task: string | null;
  /** The pipeline that does that. */
  pipeline: PipelineName | null;
  /** All pipelines that this architecture has a head for. */
  pipelines: PipelineName[];
  /** Sizes, as the `cfg` of the model once it is loaded. */
  cfg: ModelShape | null;
  input_modalities: ('text' | 'image' | 'audio')[];
  tokenizer: TokenizerFiles | null;
  /** Names of the files that say how images or sounds become numbers. */
  processor: string[];
  /** Files of the folder that were looked at, with their sizes; null where a server does not say. */
  files: { name: string; bytes: number | null }[];
  /** Files with weights in formats that are not read, where the folder can be listed or has no others. */
  other_formats: string[];
  /** Elements of all stored tensors; without safetensors: of those the model takes. */
  parameters: number | null;
  /** Bytes of the stored tensors by the dtype of the file. */
  bytes: Record<string, number>;
  /** Bytes of the weights once they are loaded, by the `dtype` they are loaded in. */
  memory: Record<WeightType, number> | null;
  /** Null for models that generate no tokens. */
  cache: CacheBytes | null;
  tensors: StoredTensor[];
  /** Tensors that the model needs and that are not there. */
  missing_tensors: string[];
  /** Tensors that the model does not use. */
  unexpected_tensors: string[];
  problems: Problem[];
}
