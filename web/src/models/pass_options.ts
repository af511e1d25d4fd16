// Options of a forward pass, and of one that is looked into, edited or differentiated.

import type { CapturePart } from './capture_parts.js';
import type { ForwardHook } from './edits.js';
import type { DifferentiableMetric } from './gradient_metric.js';
import type { NamesFilter } from './hooks.js';
import type { EditOptions, StopOptions } from './observation.js';

/** Options of a forward pass. */
export interface ForwardOptions {
  output_attentions?: boolean | undefined;
  output_hidden_states?: boolean | undefined;
  /** Return `past_key_values`. Default false, since their memory is held until they are disposed of. */
  use_cache?: boolean | undefined;
  /**
   * Compute logits of these positions only: of the last so many (0: of all), or of a list, in its order, negative from
   * the end. For models that predict the next token; all logits of a long text take much time and memory.
   */
  logits_to_keep?: number | readonly number[] | undefined;
  /** An abort signal: the call rejects with its reason, once the current layer is computed. */
  signal?: AbortSignal | undefined;
}

/** Options of `run_with_hooks`. */
export interface RunWithHooksOptions extends EditOptions, StopOptions, Pick<ForwardOptions, 'logits_to_keep'> {
  /** A metric to be differentiated, see `backward`: for `cache.grad` of `run_with_cache`, and for `bwd_hooks`. */
  metric?: DifferentiableMetric | undefined;
  /** Functions called with the metric's gradient at activations, see `backward`. */
  bwd_hooks?: readonly ForwardHook[] | undefined;
  /**
   * `loss`: return that of a language model predicting its own `input_ids` (an encoder-decoder: its
   * `decoder_input_ids`), a scalar, in place of the logits. Tokens that their attention mask hides are not counted, nor
   * those that are predicted from a hidden one before.
   */
  return_type?: 'logits' | 'loss' | undefined;
  signal?: AbortSignal | undefined;
}

/** Options of `run_with_cache`. */
export interface RunWithCacheOptions extends RunWithHooksOptions {
  /** The activations to capture; default: all that the pass reaches. */
  names_filter?: NamesFilter | undefined;
  /**
   * The part of them that is kept, or several for different hook points: selected indices, reductions, the largest
   * numbers. It is computed in the core, and nothing else is copied. Gradients of a `metric` are whole.
   */
  select?: CapturePart | readonly CapturePart[] | undefined;
}

/** @internal The names of the options of `run_with_hooks`. */
export const hookOptions: readonly string[] = [
  'edits',
  'fwd_hooks',
  'bwd_hooks',
  'metric',
  'return_type',
  'start_at_layer',
  'stop_at_layer',
  'logits_to_keep',
  'signal',
];
