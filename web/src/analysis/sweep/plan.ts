// Packs interventions into passes: those that begin at nearby layers and positions become rows of one batch.

import type { Prepared } from './intervention.js';

/** One forward pass: the positions from `position` on, through the layers from `layer` on, for several interventions. */
export interface PlannedPass {
  layer: number;
  position: number;
  members: Prepared[];
}

/** The limits of a pass, and what a base run shares. */
export interface Limits {
  layers: number;
  length: number;
  /** Rows of the base run, which every intervention has. */
  batch: number;
  /** Interventions per pass, for a number of its positions. */
  most(positions: number): number;
}

// In positions of one layer: what a pass costs beside its rows, and the rows that a product of matrices computes in the
// time it takes to read the weights.
const overhead = 8;
const fewest = 16;

function costOf(pass: PlannedPass, { layers, length, batch }: Limits): number {
  const rows = pass.members.length * batch * (length - pass.position);
  return (Math.max(rows, fewest) + overhead) * (layers - pass.layer);
}

function joined(pass: PlannedPass, next: Prepared): PlannedPass {
  return {
    layer: Math.min(pass.layer, next.layer),
    position: Math.min(pass.position, next.position),
    members: [...pass.members, next],
  };
}

// What reads a block's first norm may have inputs of its own or an edited norm; the core refuses both in one pass
// (refuse_norm_edits in layers/separate_heads.h).
const sides = [/ln1\.hook_(scale|normalized)$/, /hook_([qkv]_input|mlp_in)$/] as const;

/** The blocks that are edited on that side. */
const blocksOf = (members: readonly Prepared[], side: RegExp): string[] =>
  members
    .flatMap(({ edits }) => edits.map(({ hook }) => String(hook)))
    .filter((hook) => side.test(hook))
    .map((hook) => hook.replace(side, ''));

/** Whether another intervention cannot be in a pass with these. */
function excludes(members: readonly Prepared[], next: Prepared): boolean {
  return sides.some((side, at) => {
    const own = blocksOf([next], side);
    return own.length > 0 && blocksOf(members, sides[1 - at] as RegExp).some((block) => own.includes(block));
  });
}

/** Passes for these interventions: neighbours, by layer and position, are joined where that costs less. */
export function planned(interventions: readonly Prepared[], limits: Limits): PlannedPass[] {
  const order = [...interventions].sort(
    (one, other) => other.layer - one.layer || other.position - one.position || one.index - other.index,
  );
  const passes: PlannedPass[] = [];
  let open: PlannedPass | undefined;
  for (const next of order) {
    const single = { layer: next.layer, position: next.position, members: [next] };
    const both = open && joined(open, next);
    const fits = both && !next.alone && both.members.length <= limits.most(limits.length - both.position);
    const pays = (one: PlannedPass, two: PlannedPass) =>
      costOf(two, limits) <= costOf(one, limits) + costOf(single, limits);
    if (open && both && fits && pays(open, both) && !excludes(open.members, next)) {
      open.layer = both.layer;
      open.position = both.position;
      open.members.push(next);
      continue;
    }
    passes.push(single);
    open = next.alone ? undefined : single;
  }
  return passes;
}
