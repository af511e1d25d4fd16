// What a caller captures and edits in a forward pass, as the core reads it (cpp/bindings/observation.cpp).

import type { TensorIn, TensorOut } from './tensors.js';

/** Outputs requested besides the logits. */
export interface OutputRequest {
  output_attentions?: boolean;
  output_hidden_states?: boolean;
}

/** An edit in the core's form: one hook point, indices as lists, the value with all axes. */
export interface EditIn {
  hook: string;
  op: string;
  rows?: number[];
  heads?: number[];
  positions?: number[];
  key_positions?: number[];
  features?: number[];
  value?: TensorIn;
  min?: TensorIn;
  max?: TensorIn;
  seed?: number;
}

/** A caller's function: receives the values and returns the edited ones, or null if it failed. */
export interface FunctionIn {
  hook: string;
  call(name: string, value: TensorOut<'float32'>): Float32Array | null;
}

/** What to capture and edit in a forward pass. */
export interface ObservationRequest extends OutputRequest {
  names?: string[];
  edits?: EditIn[];
  fwd_hooks?: FunctionIn[];
}
