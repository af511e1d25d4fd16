// Parts of activations: what a capture selects and reduces in the core, so that only that is copied.

import type { HookPoint, PartIn, TensorOut } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { toCache } from '../tensor/activation_cache.js';
import { toTensor } from '../tensor/tensor_output.js';
import { keepIndices } from './captured_indices.js';
import { chosenIn, type EditSelection, selections } from './edits.js';
import { type NamesFilter, resolveCaptured } from './hooks.js';

/** An axis of activations: rows of the batch, heads, positions (of queries), positions of keys, the last axis. */
export type ActivationAxis = keyof EditSelection;

/** The part of an activation that is captured, as NumPy indices; then reduced, if that is asked for. */
export interface CapturePart extends EditSelection {
  /** The hook points, of those captured; default: all. A hook point may be in one part only. */
  hook?: NamesFilter | undefined;
  /**
   * Over the axes `over`, which are dropped: the mean, the largest number (NaN if there is one), the square root of the
   * sum of squares.
   */
  reduction?: 'mean' | 'max' | 'norm' | undefined;
  /**
   * The largest numbers along the one axis `over`, in descending order; all, if there are fewer. Their indices in the
   * whole activation, for positions in the whole sequence, are `capturedIndices(cache, name)`.
   */
  top_k?: number | undefined;
  over?: ActivationAxis | readonly ActivationAxis[] | undefined;
}

const known = ['hook', ...selections.map(([name]) => name), 'reduction', 'top_k', 'over'];

/** The part of a hook point, and what the core is asked for. */
interface Asked {
  part: CapturePart;
  point: HookPoint;
  request: PartIn;
}

/** Converts parts for the core, one per hook point of `points`. */
export function partsIn(
  call: string,
  given: CapturePart | readonly CapturePart[],
  points: readonly HookPoint[],
): Map<string, Asked> {
  const parts = new Map<string, Asked>();
  if (points.length === 0 && [given].flat().length > 0) throw invalid(`${call}: select, but nothing is captured`);
  for (const [index, part] of ([given].flat() as CapturePart[]).entries()) {
    const what = Array.isArray(given) ? `select[${index}]` : 'select';
    checkOptions(`${call}: ${what}`, part ?? null, known);
    const { hook, reduction, top_k, over } = part;
    if (reduction !== undefined && top_k !== undefined) throw invalid(`${what}: either reduction or top_k`);
    if (top_k !== undefined && !(Number.isSafeInteger(top_k) && top_k > 0)) {
      throw invalid(`${what}: top_k must be a whole number > 0, it is ${textOf(top_k)}`);
    }
    const reduces =
      top_k === undefined
        ? reduction !== undefined && { reduction: textOf(reduction) }
        : { reduction: 'top_k', k: top_k };
    const asked = {
      ...chosenIn(what, part),
      ...reduces,
      ...(over !== undefined && { over: [over].flat() as string[] }),
    };
    for (const point of resolveCaptured(`${what}.hook`, points, hook)) {
      if (parts.has(point.name)) throw invalid(`${what}: ${point.name} is in another part as well`);
      parts.set(point.name, { part, point, request: { hook: point.name, ...asked } });
    }
  }
  return parts;
}

/** What the core returns of a pass that captures. */
export interface CapturedOut {
  captured?: Record<string, TensorOut<'float32'>>;
  indices?: Record<string, TensorOut<'int32'>>;
}

/**
 * What was captured, without the axes that a number selected or a reduction was over (a row with its beams keeps its
 * axis).
 */
export function capturedParts({ captured = {}, indices = {} }: CapturedOut, parts: ReadonlyMap<string, Asked>) {
  for (const [name, { part, point }] of parts) {
    const reduced = part.reduction === undefined ? [] : [part.over ?? []].flat();
    const gone = selections.flatMap(([option, , axis]) =>
      typeof part[option] === 'number' || reduced.includes(option) ? [axis(point.axes)] : [],
    );
    for (const out of [captured[name], indices[name]]) {
      // Of a generation, a row may be several: its beams.
      if (out !== undefined) out.dims = out.dims.filter((extent, axis) => extent !== 1 || !gone.includes(axis));
    }
  }
  const found = Object.entries(indices).map(([name, out]) => [name, toTensor(out).to('int64')]);
  return keepIndices(toCache(captured), Object.fromEntries(found));
}

const invalid = (message: string) => new ClearformerError('invalid_argument', message, { option: 'select' });
