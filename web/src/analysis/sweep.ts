// Runs a model many times with one edit each, and evaluates a metric.

import type { ActivationEdit } from '../models/edits.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { type Metric, measured } from './metric.js';

/** Progress: completed runs and their total. */
export interface SweepProgress {
  done: number;
  total: number;
}

/** Options common to analyses that run a model once per head, position or layer. */
export interface SweepOptions {
  /** The metric to evaluate. */
  metric: Metric;
  /** An abort signal: the call rejects with its reason, once the current layer is computed. */
  signal?: AbortSignal | undefined;
  /** Called after every pass. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** The metric of a run with each of `total` edits, in order. */
export async function sweep(
  call: string,
  model: PreTrainedModel,
  inputs: ModelInputs,
  { metric, signal, progress }: SweepOptions,
  total: number,
  editAt: (at: number) => ActivationEdit,
): Promise<number[]> {
  const values: number[] = [];
  while (values.length < total) {
    const logits = await model.run_with_hooks(inputs, { edits: [editAt(values.length)], signal });
    values.push(await measured(call, metric, logits));
    progress?.({ done: values.length, total });
  }
  return values;
}
