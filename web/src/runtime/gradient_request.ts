// What a pass is differentiated with respect to, and what is found (gradient.h of the core).

import type { FunctionIn, SentHook } from './observation_request.js';
import type { TensorIn, TensorOut } from './tensors.js';

/** A term of a metric: Σ weights ⊙ value, of an output or a hook point. */
export interface ReadOutIn {
  name: string;
  weights: TensorIn;
}

/** With respect to what. */
export interface GradientRequest {
  /** Hook points and inputs, weights, and edits by their number, functions first, whose gradients are sought. */
  wanted?: string[];
  wanted_weights?: string[];
  wanted_edits?: number[];
  bwd_hooks?: FunctionIn[] | SentHook[];
}

/** Gradients by hook point or input, by weight, and those of edits' values. */
export interface GradientsFound {
  grad: NamedTensors;
  weights: NamedTensors;
  edits: TensorOut<'float32'>[];
}

/** Tensors by name. */
export type NamedTensors = Record<string, TensorOut<'float32'>>;
