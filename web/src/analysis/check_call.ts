// What the functions that take a model check first.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError, quoted } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, expectArgument, refusedOption } from '../support/options.js';

/** The error `invalid_argument` of the function `call` for an option with whose name the message does not begin. */
export const invalid = (call: string, message: string, option: string): ClearformerError =>
  new ClearformerError('invalid_argument', `${call}: ${message}`, { option });

/** Throws `invalid_argument` for what is no model. */
export function expectModel(call: string, model: unknown): void {
  const { run_with_cache } = (model ?? {}) as PreTrainedModel;
  expectArgument(call, typeof run_with_cache === 'function', 'a model', model);
}

/** Throws `invalid_argument` for what is not the name of one hook point: no pattern. */
export function expectHook(call: string, option: string, hook: unknown): void {
  const isOne = typeof hook === 'string' && !hook.includes('*');
  if (isOne) return;
  throw refusedOption(call, option, `is ${quoted(hook)}, not the name of one hook`);
}

/** `expectModel`, and `checkOptions` for the options. */
export function checkCall(call: string, model: unknown, options: unknown, known: readonly string[]): void {
  expectModel(call, model);
  checkOptions(call, options, known);
}

/** Throws `invalid_argument` for a metric that measures logits, which cannot be differentiated. */
export function expectTerms(call: string, metric: unknown): void {
  if (typeof metric !== 'function') return;
  throw refusedOption(call, 'metric', 'is no term, as of logitDifferenceTerm');
}

/**
 * Throws `invalid_argument` for inputs that are not given, by their name, and `unsupported` for those with a cache, which
 * the first of several passes would extend for the others.
 */
export function expectInputs(call: string, inputs: Readonly<Record<string, ModelInputs>>): void {
  for (const [name, one] of Object.entries(inputs)) {
    expectArgument(`${call}: ${name}`, isObject(one), 'inputs of the model', one);
    if (one.past_key_values == null) continue;
    throw new ClearformerError('unsupported', `${call}: inputs with past_key_values`, { option: 'past_key_values' });
  }
}
