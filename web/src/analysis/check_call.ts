// What the functions that take a model check first.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { checkOptions, expectArgument } from '../support/options.js';

/** Throws `invalid_argument` for what is no model. */
export function expectModel(call: string, model: unknown): void {
  const { run_with_cache } = (model ?? {}) as PreTrainedModel;
  expectArgument(call, typeof run_with_cache === 'function', 'a model', model);
}

/** The same, and `checkOptions` for the options. */
export function checkCall(call: string, model: unknown, options: unknown, known: readonly string[]): void {
  expectModel(call, model);
  checkOptions(call, options, known);
}
