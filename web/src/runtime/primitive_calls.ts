// The part of border.ts about attention pooling and modules.

import type { Call, Handle, Loose } from './calls.js';
import type { GradientRequest, GradientsFound, NamedTensors } from './gradient_request.js';
import type { ObservationRequest, OutputRequest } from './observation_request.js';
import type { TensorIn, TensorOut } from './tensors.js';

/** One term of a mask; a mask is the conjunction of a list of them. */
export type MaskTerm =
  | { kind: 'causal'; past: number }
  | { kind: 'allow' | 'ignore'; data: Uint8Array; dims: number[] }
  | { kind: 'additive'; data: Float32Array; dims: number[] }
  | { kind: 'valid_lens'; data: Int32Array; dims: number[] };

/** The result for a query whose keys are all masked. */
export type EmptyRow = 'zeros' | 'uniform';

/** The matrix that attention_pooling returns with its output. */
export type KeptScores = 'raw_scores' | 'softcapped_scores' | 'masked_scores' | 'weights';

export type PoolingArguments = {
  query: TensorIn;
  key: TensorIn;
  value: TensorIn;
  enable_gqa: boolean;
  /** See scoring.h of the core: a scoring function and its parameters; numbers are scalars. */
  score: string;
  parameters: Record<string, TensorIn>;
} & Loose<{ mask?: MaskTerm[]; softcap?: number; empty_row?: EmptyRow; keep?: KeptScores }>;

/** Options that can be serialised as JSON. */
export type PlainOptions = Readonly<Record<string, unknown>>;

/** A call of a module. */
export interface ModuleArguments extends Omit<ObservationRequest, keyof OutputRequest> {
  module: Handle;
  tensors: Record<string, TensorIn>;
  masks: Record<string, MaskTerm[]>;
}

/** The output; `legends` are the names of the axes of what was captured. */
export interface ModuleValue {
  output: TensorOut<'float32'>;
  captured?: NamedTensors;
  indices?: Record<string, TensorOut<'int32'>>;
  legends: Record<string, string>;
}

/** The calls of the core for attention pooling and modules. */
export interface PrimitiveCalls {
  attention_pooling: Call<PoolingArguments, { output: TensorOut<'float32'>; kept?: TensorOut<'float32'> }>;
  /** The gradients of the operands and of the scoring function's tensors. */
  attention_pooling_backward: Call<
    PoolingArguments & { grad_output: TensorIn },
    Record<'query' | 'key' | 'value', TensorOut<'float32'>> & NamedTensors
  >;
  module_create: Call<
    { kind: string; options: PlainOptions } & ({ tensors: Record<string, TensorIn> } | { checkpoint: Handle }),
    { module: Handle }
  >;
  module_forward: Call<ModuleArguments, ModuleValue>;
  module_backward: Call<
    ModuleArguments & GradientRequest & { grad_output: TensorIn },
    ModuleValue & GradientsFound & { inputs: NamedTensors }
  >;
}
