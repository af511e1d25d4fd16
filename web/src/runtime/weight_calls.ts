// The part of border.ts about weights: those of models and adapters, read and changed.

import type { Bounds, Call, Handle, Loose, Nothing, Texts } from './calls.js';
import type { TensorIn, TensorOut } from './tensors.js';
import type { ParameterInfo, WeightProcessing } from './weights.js';

/** What an adapter adds to the weight of a linear layer: scale · B · A. */
export interface AdapterUpdate {
  /** The checkpoint's tensor. */
  weight: string;
  /** The matrices are the tensors `name`.lora_A.weight and `name`.lora_B.weight. */
  name: string;
  scale: number;
}

/** All options of both kinds of optimiser. */
export interface OptimizerArguments extends Texts<'adapter'> {
  model: Handle;
  kind: 'AdamW' | 'SGD';
  parameters: string[];
  schedule: string;
  warmup_steps: number;
  steps: number;
  lr: number;
  beta1: number;
  beta2: number;
  eps: number;
  momentum: number;
  dampening: number;
  weight_decay: number;
  nesterov: boolean;
}

/** The calls of the core for weights: adapters, optimisers. */
export interface WeightCalls {
  /** The tensors that a model with this config takes from a checkpoint, as transformers saves them. */
  checkpoint_tensors: Call<
    { config: string; config_name: string } & Texts<'task'>,
    { tensors: { name: string; dims: number[] }[] }
  >;
  /**
   * `with_synonyms`: with what a weight is called in each of the ways that transformers has for the architecture, and the
   * inputs of the linear layer whose weight it is (0: of none). `frequencies`: of rotary positions, which are no weights, if
   * the file holds them.
   */
  parameter_list: Call<
    { model: Handle } & Texts<'adapter'> & Loose<{ with_synonyms?: boolean }>,
    { parameters: (ParameterInfo & { synonyms?: string[]; inputs?: number })[]; frequencies?: TensorOut<'float32'> }
  >;
  parameter_read: Call<
    { model: Handle; name: string } & Bounds & WeightProcessing & Texts<'adapter'>,
    TensorOut<'float32'>
  >;
  parameter_edit: Call<
    { model: Handle; name: string; op: string; value: TensorIn } & Bounds & Loose<{ right?: TensorIn }>,
    { edits: number }
  >;
  parameter_undo: Call<{ model: Handle } & Loose<{ count?: number }>, { edits: number }>;
  adapter_add: Call<{ model: Handle; adapter: string; checkpoint: Handle; updates: AdapterUpdate[] }, Nothing>;
  adapter_use: Call<{ model: Handle; adapters: { adapter: string; scale: number }[] }, Nothing>;
  adapter_remove: Call<{ model: Handle; adapter: string }, Nothing>;
  optimizer_create: Call<OptimizerArguments, { optimizer: Handle; numbers: number }>;
  optimizer_clip: Call<{ optimizer: Handle; max_norm: number }, { norm: number }>;
  optimizer_step: Call<{ optimizer: Handle; lr: number }, { lr: number }>;
  composition_scores: Call<{ model: Handle; layer: number; mode: string } & WeightProcessing, TensorOut<'float32'>>;
}
