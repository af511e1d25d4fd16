// Interventions of a sweep, and what each of them needs computed: the first layer and position that it changes.

import { type ActivationEdit, checkEdit, posAxis } from '../../models/edits.js';
import { resolveHooks } from '../../models/hooks.js';
import type { HookPoint } from '../../runtime/border.js';
import type { HookName } from '../../runtime/hook_names.js';

/** Edits that are in force together; an empty list is the base run. */
export type Intervention = ActivationEdit | readonly ActivationEdit[];

/** Interventions by index: an array, or an object that computes them on demand. */
export interface Interventions {
  readonly length: number;
  /** The intervention at that index. */
  at(index: number): Intervention | undefined;
}

/** An intervention and the part of a pass that it needs. */
export interface Prepared {
  index: number;
  edits: readonly ActivationEdit[];
  /** The first layer that it changes; 0 also stands for what comes before the layers, a negative one for the encoder. */
  layer: number;
  /** The first position that it changes. */
  position: number;
  /** Whether it cannot share a batch: it depends on all rows, or its hook has none. */
  alone: boolean;
}

/** The layers and positions of the base run that interventions refer to. */
export interface Extent {
  hooks: readonly HookPoint[];
  /** The beginning of the names of its layers' hooks. */
  stack: string;
  layers: number;
  /** Number of positions, 0 if hooks have different ones. */
  length: number;
  /** Layers of an encoder whose output the stack's layers read. */
  source: number;
}

/** Whether a pass whose encoder has run does not come by a hook: the stack's keys and values of its output are kept. */
const isOfSource = ({ stack, source }: Extent, name: string): boolean =>
  source > 0 && (!name.startsWith(stack) || /cross_attn\.hook_[kv]$/.test(name));

/** The layer of a hook: 0 before the layers, the last one after them, negative for what only the encoder's run changes. */
export function layerOf(extent: Extent, name: HookName): number {
  const { hooks, stack, layers, source } = extent;
  if (isOfSource(extent, name)) return -source;
  const layer = name.startsWith(stack) ? Number.parseInt(name.slice(stack.length), 10) : Number.NaN;
  if (!Number.isNaN(layer)) return layer;
  const first = hooks.findIndex((hook) => hook.name.startsWith(`${stack}0.`));
  return hooks.findIndex((hook) => hook.name === name) < first ? 0 : layers - 1;
}

/**
 * The edits of an intervention one per hook, positions counted from the first. Throws `invalid_argument` for names that
 * no hook has.
 */
export function expanded(what: string, given: Intervention, extent: Extent): ActivationEdit[] {
  const all: readonly ActivationEdit[] = [given].flat();
  return all.flatMap((edit, at) => {
    checkEdit(`sweep: ${what}[${at}]`, edit);
    return resolveHooks(`${what}[${at}].hook`, extent.hooks, edit.hook).map(({ name }) => {
      const { pos } = edit;
      if (pos === undefined || isOfSource(extent, name)) return { ...edit, hook: name };
      const isCounted = (one: unknown) => typeof one === 'number' && one < 0 && one + extent.length >= 0;
      const counted = (one: number) => (isCounted(one) ? one + extent.length : one);
      if (typeof pos === 'number') return { ...edit, hook: name, pos: counted(pos) };
      return { ...edit, hook: name, ...(Array.isArray(pos) && { pos: pos.map(counted) }) }; // the pass rejects others
    });
  });
}

/** The first position that an edit changes: 0 unless it selects some. */
function firstPosition({ pos }: ActivationEdit): number {
  const positions = [pos ?? 0].flat().map((one) => (Number.isInteger(one) ? one : 0)); // the pass rejects others
  return Math.max(0, Math.min(...positions));
}

/** Whether an edit depends on the other rows and positions of the pass, or has an effect on the bits of all of them. */
export const concernsAllRows = ({ hook, op, value }: ActivationEdit): boolean =>
  (op === 'mean' && value === undefined) || (hook as HookName).endsWith('hook_result'); // summed head by head if it is edited

/** Whether the hook of an edit has rows. */
export const hasBatch = ({ hooks }: Extent, { hook }: ActivationEdit): boolean =>
  hooks.find(({ name }) => name === hook)?.axes[0] === 'batch';

/** What an intervention needs computed. */
export function prepared(index: number, given: Intervention, extent: Extent): Prepared {
  const edits = expanded(`interventions[${index}]`, given, extent);
  const axes = edits.map(({ hook }) => extent.hooks.find(({ name }) => name === hook)?.axes ?? []);
  const unplaced = edits.some((edit, at) => concernsAllRows(edit) || posAxis(axes[at] ?? []) < 0);
  const layer = Math.min(extent.layers - 1, ...edits.map(({ hook }) => layerOf(extent, hook as HookName)));
  return {
    index,
    edits,
    layer,
    position: unplaced || layer < 0 ? 0 : Math.max(0, Math.min(extent.length - 1, ...edits.map(firstPosition))),
    alone: edits.some((edit) => concernsAllRows(edit) || !hasBatch(extent, edit)),
  };
}
