// A sweep over interventions of one edit each, for analyses that name them by head, position or layer.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { type SweepOptions, sweepFor } from './sweep.js';

/** The metric of a run with each of `total` edits, in order, for the function `call`. */
export async function swept(
  call: string,
  model: PreTrainedModel,
  base: ModelInputs,
  { metric, signal, progress }: SweepOptions,
  total: number,
  at: (index: number) => ActivationEdit,
): Promise<number[]> {
  const { values } = await sweepFor(call, model, {
    base,
    metric,
    signal,
    progress,
    interventions: { length: total, at },
  });
  return values;
}
