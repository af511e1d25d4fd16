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
    if (open && both && fits && costOf(both, limits) <= costOf(open, limits) + costOf(single, limits)) {
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
