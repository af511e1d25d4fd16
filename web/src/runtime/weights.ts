// A model's weights as the core describes them, and their memory.

/** The format of the weights of linear layers, whatever the file contains. */
export type WeightType = 'fp32' | 'fp16' | 'q8' | 'q4';
/** Formats of keys and values in the cache. */
export type CacheType = 'fp32' | 'fp16' | 'q8';

/** Memory in bytes, as of the last call. */
export interface MemoryUse {
  weights: number;
  /** Keys and values of all cached positions, including spare capacity. */
  cache: number;
  /** Memory for activations: as much as the largest input so far needed. */
  workspace: number;
  /** The peak of weights, cache and workspace together. */
  peak: number;
}

/** A tensor of a checkpoint, as the model holds it. */
export interface ParameterInfo {
  /** In the checkpoint, which may have several of the model's matrices in one tensor. */
  name: string;
  /** As in the file. */
  dims: number[];
  /** The format in memory: float16 and bfloat16 of files are fp32 or fp16 here. */
  dtype: WeightType;
  /** Whether it is stored as integers and scales; read, it is dequantised. */
  quantized: boolean;
  /** In memory. */
  bytes: number;
}

/** How weights under TransformerLens' names are processed as they are read. */
export interface WeightProcessing {
  /** The norm before a weight becomes part of it, and of its bias. */
  fold_ln?: boolean | undefined;
  /** What is written to the residual stream has the mean 0 (LayerNorm only). */
  center_writing_weights?: boolean | undefined;
  /** What the adapters in force add is part of a weight, which is read without it otherwise. Also under other names. */
  with_adapters?: boolean | undefined;
}
