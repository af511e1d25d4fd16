// Sweeps: the metric of a model under each of thousands of interventions, in one call. What the interventions share is
// computed once: layers below the first edited one, positions before it, and the logits that the metric does not read;
// the rest is packed into batches. Every result has the bits of a pass of its own.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { ClearformerError } from '../../support/error.js';
import { checkOptions, refusedOption } from '../../support/options.js';
import { expectModel, invalid } from '../check_call.js';
import { type Metric, measured, readsOf, type TensorMetric } from '../metric.js';
import type { Intervention, Interventions } from './intervention.js';
import { scheduled } from './schedule.js';

/** Progress: completed runs and their total. */
export interface SweepProgress {
  done: number;
  total: number;
}

/** Options common to analyses that run a model once per head, position or layer. */
export interface SweepOptions {
  /** The metric to evaluate. */
  metric: Metric | TensorMetric;
  /** An abort signal: the call rejects with its reason, once the current layer is computed. */
  signal?: AbortSignal | undefined;
  /** Called after every run. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** One model, several with the same weights, or a function that loads one, which is called `workers` times. */
export type SweepModels = PreTrainedModel | readonly PreTrainedModel[] | (() => Promise<PreTrainedModel>);

/** The metric under the intervention with this index. */
export interface SweepResult {
  index: number;
  value: number;
}

/** Options of sweep. */
export interface SweepCallOptions extends SweepOptions {
  /** The inputs of all runs. */
  base: ModelInputs;
  /** An edit, or a list of edits in force together, for each run: an array, or `{ length, at(index) }`. */
  interventions: readonly Intervention[] | Interventions;
  /** Edits in force in all runs, before those of the intervention. */
  edits?: readonly ActivationEdit[] | undefined;
  /** The positions whose logits the metric receives. Default: those that `logitDifference` reads, else all. */
  logits_to_keep?: number | readonly number[] | undefined;
  /** Values known from an earlier call, in the order of the interventions; null: to compute. */
  resume?: readonly (number | null | undefined)[] | undefined;
  /** Called with each result, in the order they are computed. */
  onResult?: ((result: SweepResult) => void) | undefined;
  /** Only of a function: how many models to load with it; they are disposed of at the end. Default 2. */
  workers?: number | undefined;
}

/** The result of sweep. */
export interface Sweep {
  /** The metric without interventions. */
  base: number;
  /** The metric under each intervention, in their order. */
  values: number[];
}

const shared = ['metric', 'signal', 'base', 'interventions', 'edits', 'logits_to_keep', 'resume', 'workers'];

/** 128 MiB of numbers. */
const mostValues = 2 ** 24;
/** As many as there can be threads. */
const mostWorkers = 64;

/**
 * Runs the model on `base` once per intervention and resolves to the metric of each: as `run_with_hooks` with the
 * same edits, bit for bit. Keys and values of a shared prefix are copied, so memory for some rows of the cache is
 * needed. Resumes with the values that `onResult` reported before an abort. Rejects like `run_with_hooks`, with
 * `invalid_argument` for a metric that returns no number and `resume` of another length, and with the signal's reason.
 */
export async function sweep(models: SweepModels, options: SweepCallOptions): Promise<Sweep> {
  checkOptions('sweep', options ?? null, [...shared, 'onResult', 'progress']);
  return sweepFor('sweep', models, options);
}

/** `sweep` for another function, which its errors name. */
export async function sweepFor(call: string, models: SweepModels, options: SweepCallOptions): Promise<Sweep> {
  const { onResult, progress, resume = [], interventions } = checked(call, options);
  if (interventions.length > mostValues) {
    const problem = `the values of ${interventions.length} interventions are kept, at most ${mostValues}; sweep_stream keeps none`;
    throw new ClearformerError('out_of_memory', `${call}: ${problem}`, { option: 'interventions' });
  }
  let base = Number.NaN;
  const values = Array.from({ length: interventions.length }, (_, at) => resume[at] ?? Number.NaN);
  let done = resume.filter((value) => value != null).length;
  const stream = results(call, models, options, (value) => {
    base = value;
  });
  for await (const result of stream) {
    values[result.index] = result.value;
    onResult?.(result);
    progress?.({ done: ++done, total: values.length });
  }
  return { base, values };
}

/**
 * The same as a stream: yields each result as soon as it is computed, in no particular order. Leaving the loop ends the
 * runs.
 */
export async function* sweep_stream(
  models: SweepModels,
  options: Omit<SweepCallOptions, 'onResult' | 'progress'>,
): AsyncGenerator<SweepResult, void, undefined> {
  checkOptions('sweep_stream', options ?? null, shared);
  yield* results('sweep_stream', models, options, () => {});
}

async function* results(
  call: string,
  models: SweepModels,
  options: SweepCallOptions,
  onBase: (value: number) => void,
): AsyncGenerator<SweepResult, void, undefined> {
  const { metric, interventions, edits = [], resume, base, signal } = checked(call, options);
  const { all, release } = await opened(call, models, options.workers);
  let run: Awaited<ReturnType<typeof scheduled>> | undefined;
  try {
    const reads = options.logits_to_keep === undefined ? readsOf(all[0] as PreTrainedModel, metric) : undefined;
    const logits_to_keep = reads?.positions ?? options.logits_to_keep;
    const measure = reads?.of ?? metric;
    const wanted = (index: number) => resume?.[index] == null;
    run = await scheduled(all, { base, edits, logits_to_keep, signal, interventions, wanted });
    onBase(await measured(call, measure, run.base.logits));
    for await (const { index, logits } of run.rows()) yield { index, value: await measured(call, measure, logits) };
  } finally {
    await run?.base.cache?.dispose();
    await release();
  }
}

function checked(call: string, options: SweepCallOptions): SweepCallOptions {
  const { metric, interventions, resume } = options;
  if (typeof metric !== 'function') throw refusedOption(call, 'metric', 'must be a function of the logits');
  if (
    !Number.isSafeInteger(interventions?.length) ||
    interventions.length < 0 ||
    typeof interventions.at !== 'function'
  ) {
    throw refusedOption(call, 'interventions', 'must be an array of edits, or { length, at(index) }');
  }
  const isKnown = (value: unknown) => value == null || typeof value === 'number';
  if (
    resume !== undefined &&
    !(Array.isArray(resume) && resume.length === interventions.length && resume.every(isKnown))
  ) {
    throw refusedOption(call, 'resume', `needs ${interventions.length} values or nulls`);
  }
  return options;
}

async function opened(call: string, models: SweepModels, given: number | undefined) {
  if (typeof models === 'function' && !('cfg' in models)) {
    const workers = given ?? 2;
    if (!Number.isSafeInteger(workers) || workers < 1 || workers > mostWorkers) {
      throw invalid(call, `workers: ${workers}, not 1 to ${mostWorkers}`, 'workers');
    }
    const loading = Array.from({ length: workers }, async () => {
      const model = await models();
      expectModel(call, model);
      return model;
    });
    const loaded = await Promise.allSettled(loading);
    const all = loaded.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const release = async () => void (await Promise.all(all.map((model) => model.dispose())));
    const failed = loaded.find((one) => one.status === 'rejected');
    if (failed === undefined) return { all, release };
    await release();
    throw failed.reason;
  }
  const all = [models].flat() as PreTrainedModel[];
  if (given !== undefined) throw refusedOption(call, 'workers', 'needs a function');
  if (all.length === 0) throw invalid(call, 'no models', 'models');
  for (const model of all) expectModel(call, model);
  return { all, release: async () => {} };
}
