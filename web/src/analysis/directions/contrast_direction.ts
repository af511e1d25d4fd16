// The direction in which the states of opposite texts differ, for control vectors.
// Source: Zou et al. 2023, "Representation Engineering", arXiv 2310.01405; Vogel 2024, repeng.

import type { FeatureRows } from './features.js';
import { meanRow, principalDirection } from './linear_algebra.js';

/** The direction, [width], of states of positive, negative, positive, … texts. Methods: see ControlVectorOptions. */
export function directionOf({ rows, count, width }: FeatureRows, method: string): Float64Array {
  const pairs = count / 2;
  const state = (at: number, i: number) => rows[at * width + i] as number;
  const differences = Float64Array.from({ length: pairs * width }, (_, at) => {
    const [pair, i] = [Math.floor(at / width), at % width];
    return state(2 * pair, i) - state(2 * pair + 1, i);
  });
  if (method === 'mean_diff') return meanRow(differences, pairs, width);
  const centred = () =>
    rows.map((value, at) => {
      const [pair, i] = [Math.floor(at / (2 * width)), at % width];
      return value - (state(2 * pair, i) + state(2 * pair + 1, i)) / 2;
    });
  const direction =
    method === 'pca_diff' ? principalDirection(differences, pairs, width) : principalDirection(centred(), count, width);
  let votes = 0; // of the pairs, for the direction as it is
  for (let pair = 0; pair < pairs; pair++) {
    let along = 0;
    for (let i = 0; i < width; i++) along += (differences[pair * width + i] as number) * (direction[i] as number);
    votes += Math.sign(along);
  }
  return votes < 0 ? direction.map((value) => -value) : direction;
}
