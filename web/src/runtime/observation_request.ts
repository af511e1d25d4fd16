// What a caller captures and edits in a forward pass, as the core reads it (cpp/bindings/observation.cpp).

import type { HookName } from './hook_names.js';
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

/** A captured part in the core's form: one hook point, indices as lists, a reduction over axes. */
export interface PartIn {
  hook: string;
  rows?: number[];
  heads?: number[];
  positions?: number[];
  key_positions?: number[];
  features?: number[];
  reduction?: string;
  over?: string[];
  k?: number;
}

/** A caller's function: receives the values and returns the edited ones, or null if it failed. */
export interface FunctionIn {
  hook: string;
  call(name: string, value: TensorOut<'float32'>): Float32Array | null;
}

/** A caller's function for a model in a worker: its source, or the URL and the export of its module. */
export interface SentFunction {
  /** The URL of hook_functions.js, the code that makes functions (models/received_functions.ts), for workers without it. */
  part: string | undefined;
  /** Starts messages: "run_with_hooks: fwd_hooks[0]". */
  what: string;
  source?: string;
  module?: string;
  export?: string;
  /** Packed by models/sent_functions.ts. */
  constants: unknown;
}

/** A function at a hook point, as it is sent to a worker. */
export interface SentHook {
  hook: HookName;
  sent: SentFunction;
}

/** What to capture and edit in a forward pass; functions are sent to a worker, which makes `FunctionIn` of them. */
export interface ObservationRequest extends OutputRequest {
  names?: string[];
  parts?: PartIn[];
  edits?: EditIn[];
  fwd_hooks?: FunctionIn[] | SentHook[];
}
