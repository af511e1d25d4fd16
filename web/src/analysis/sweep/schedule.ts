// Runs the passes of a sweep on one model or several, and returns each result as soon as it is known.

import type { ActivationEdit } from '../../models/edits.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { ClearformerError } from '../../support/error.js';
import { type BaseRequest, type BaseRun, baseRun } from './base_run.js';
import { concernsAllRows, type Interventions, type Prepared, prepared } from './intervention.js';
import { type RowResult, runPass } from './pass.js';
import { type PlannedPass, planned } from './plan.js';

// Interventions planned together, positions in a pass, numbers of logits in a pass, bytes of copied keys and values.
const windowSize = 4096;
const mostPositions = 256;
const mostLogits = 1 << 24;
const mostCacheBytes = 1 << 27;

async function limitsOf({ batch, positions, extent, logits, cache }: BaseRun) {
  const { bytes, capacity } = cache ? await cache.info() : { bytes: 0, capacity: 1 };
  const most = (length: number) => {
    const counts = [
      mostPositions / (batch * length),
      mostLogits / Math.max(1, logits.data.length),
      mostCacheBytes / Math.max(1, (bytes / Math.max(1, capacity)) * positions),
    ];
    return Math.max(1, Math.floor(Math.min(...counts)));
  };
  return { layers: extent.layers, length: positions, batch, most };
}

/** Whether a batch has the rows of an edit; a pass of its own rejects those that it lacks. */
const hasRows = ({ row = [] }: ActivationEdit, batch: number): boolean =>
  [row].flat().every((one) => Number.isInteger(one) && one >= -batch && one < batch);

/** The passes for the interventions that `wanted` names, planned as they are needed. */
function* passes(
  base: BaseRun,
  limits: Parameters<typeof planned>[1],
  interventions: Interventions,
  wanted: (index: number) => boolean,
): Generator<PlannedPass> {
  const ofPairs = base.model.cfg.kind === 'dual-encoder'; // whose logits compare all texts with all images
  const apart = ofPairs || base.edits.some(concernsAllRows);
  for (let first = 0; first < interventions.length; first += windowSize) {
    const open: Prepared[] = [];
    for (let index = first; index < Math.min(first + windowSize, interventions.length); index++) {
      if (!wanted(index)) continue;
      const given = interventions.at(index);
      if (given === undefined) {
        const message = `sweep: there is no intervention ${index} of ${interventions.length}`;
        throw new ClearformerError('invalid_argument', message, { option: 'interventions' });
      }
      const one = prepared(index, given, base.extent);
      open.push({ ...one, alone: one.alone || apart || !one.edits.every((edit) => hasRows(edit, base.batch)) });
    }
    yield* planned(open, limits);
  }
}

/** What a sweep computes. */
export interface Work extends BaseRequest {
  interventions: Interventions;
  wanted(index: number): boolean;
}

/** The base run on the first of the models, and the rows of all interventions in the order they are computed. */
export async function scheduled(models: readonly PreTrainedModel[], work: Work) {
  const [model, ...others] = models as [PreTrainedModel, ...PreTrainedModel[]];
  const first = await baseRun(model, work);
  const queue = passes(first, await limitsOf(first), work.interventions, work.wanted);
  return { base: first, rows: () => rowsOf(first, others, queue, work) };
}

async function* rowsOf(
  first: BaseRun,
  others: readonly PreTrainedModel[],
  queue: Generator<PlannedPass>,
  work: Work,
): AsyncGenerator<RowResult> {
  const ready: RowResult[] = [];
  const ended = new AbortController();
  const signal = work.signal ? AbortSignal.any([work.signal, ended.signal]) : ended.signal;
  let wake = () => {};
  let failure: { thrown: unknown } | undefined;
  const run = async (start: () => Promise<BaseRun>) => {
    const base = await start();
    try {
      for (let next = queue.next(); !next.done && failure === undefined; next = queue.next()) {
        signal.throwIfAborted();
        ready.push(...(await runPass(base, next.value, work.capture, signal)));
        wake();
      }
    } finally {
      await base.cache?.dispose();
    }
  };
  const starts = [async () => first, ...others.map((model) => () => baseRun(model, { ...work, signal }, first))];
  let running = starts.length;
  const all = starts.map((start) =>
    run(start)
      .catch((thrown: unknown) => {
        failure ??= { thrown };
      })
      .finally(() => {
        running--;
        wake();
      }),
  );
  try {
    while (ready.length > 0 || running > 0) {
      work.signal?.throwIfAborted();
      const next = ready.shift();
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    if (failure !== undefined) throw (failure as { thrown: unknown }).thrown;
  } finally {
    ended.abort();
    await Promise.all(all);
  }
}
