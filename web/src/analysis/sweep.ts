// A model run many times, each time with one edit, and what a metric makes of it.

import type { ActivationEdit } from '../models/edits.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { type Metric, measured } from './metric.js';

/** How far it is: runs that are done, of how many. */
export interface SweepProgress {
  done: number;
  total: number;
}

/** What analyses share that run a model once for each head, position or layer. */
export interface SweepOptions {
  /** What is watched. */
  metric: Metric;
  /** Aborting it rejects with its reason; the layer that is being computed is the last. */
  signal?: AbortSignal | undefined;
  /** Called after every pass. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** The metric of a run with each of `total` edits, in their order. */
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
