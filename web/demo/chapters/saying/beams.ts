// A beam search step by step: the beams, the beam that each continues, and their scores.

import { Tensor } from 'clearformer';
import { pieceOf } from '../../book/odds.js';
import { plainSettings } from '../../book/plain_settings.js';
import type { Piece } from '../../book/token_texts.js';
import { type Prompt, writerOf } from './odds.js';

/** Steps shown. */
export const steps = 6;

export interface Node {
  readonly piece: Piece;
  /** The beam of the previous step that it continues. */
  readonly from: number;
  /** Sum of log-probabilities. */
  readonly score: number;
  /** Whether a beam of the last step descends from it, and whether the best one does. */
  readonly alive: boolean;
  readonly best: boolean;
}

export interface Beams {
  /** [step][beam] */
  readonly nodes: readonly (readonly Node[])[];
  readonly scores: Tensor<'float32'>;
  /** The beams of the last step as text, best first. */
  readonly texts: readonly { readonly text: string; readonly score: number }[];
}

interface Step {
  readonly ids: readonly number[];
  readonly from: readonly number[];
  readonly scores: readonly number[];
}

export async function beams(prompt: Prompt, width: number, signal: AbortSignal): Promise<Beams> {
  const writer = writerOf(prompt);
  const { tokenizer } = prompt.shelved;
  const found: Step[] = [];
  // One step more than is shown: in its last step the search finalises its beams.
  const own = { num_beams: width, do_sample: false, max_new_tokens: steps + 1, signal };
  const options = { ...plainSettings(writer), ...own };
  for await (const step of writer.generate_stream(prompt.given.inputs, options)) {
    found.push({
      ids: step.token_ids,
      from: step.beam_indices ?? step.token_ids.map((_, i) => i),
      scores: step.beam_scores ?? [0],
    });
    if (found.length === steps) break;
  }
  const paths = Array.from({ length: width }, (_, beam) => pathTo(found, beam));
  const nodes = found.map(({ ids, from, scores }, at) =>
    ids.map((id, beam) => ({
      piece: pieceOf(prompt.shelved, id),
      from: from[beam] ?? 0,
      score: scores[beam] ?? 0,
      alive: paths.some((path) => path[at] === beam),
      best: paths[0]?.[at] === beam,
    })),
  );
  const last = found.at(-1);
  const text = (path: readonly number[]): string =>
    tokenizer?.decode(found.map(({ ids }, at) => ids[path[at] ?? 0] ?? 0)) ?? path.join(' ');
  return {
    nodes,
    scores: new Tensor('float32', Float32Array.from(found.flatMap(({ scores }) => [...scores])), [found.length, width]),
    texts: paths.map((path, beam) => ({ text: text(path), score: last?.scores[beam] ?? 0 })),
  };
}

/** The ancestors of a beam of the last step, one per step. */
function pathTo(found: readonly Step[], beam: number): number[] {
  const path: number[] = [];
  let at = beam;
  for (let step = found.length - 1; step >= 0; step--) {
    path.unshift(at);
    at = found[step]?.from[at] ?? 0;
  }
  return path;
}
