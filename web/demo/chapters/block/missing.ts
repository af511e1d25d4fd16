// The prediction without each sublayer of each block: one forward pass per ablation.

import { softmax, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { pieceOf } from '../../book/odds.js';
import type { Piece } from '../../book/token_texts.js';
import type { Subject } from './reading.js';

/** The hooks of what the sublayers of a block add to the stream. */
const allBoxes = ['hook_attn_out', 'hook_cross_attn_out', 'hook_mlp_out'] as const;
export type Box = (typeof allBoxes)[number];

export interface Missing {
  /** The most probable token of the intact model, and its probability. */
  readonly answer: Piece;
  readonly share: number;
  readonly boxes: readonly Box[];
  /** Its probability without a sublayer, [block, sublayer], and the most probable token then. */
  readonly shares: Tensor<'float32'>;
  readonly says: readonly (readonly Piece[])[];
}

export const boxesOf = ({ hooks, stack }: Subject): Box[] => allBoxes.filter((leaf) => hooks.has(`${stack}.0.${leaf}`));

export async function missing(book: Book, subject: Subject, signal?: AbortSignal): Promise<Missing> {
  const { given, stack, shape } = subject;
  const shelved = await book.shelf.model(given.model);
  const names = [`${stack}.0.hook_resid_pre`];
  const odds = async (edits: Parameters<typeof book.shelf.pass>[1]['edits']): Promise<Float32Array> => {
    signal?.throwIfAborted();
    const { logits } = await book.shelf.pass(given, { names, ...(edits && { edits }) });
    return (await softmax(logits.slice(0, -1))).data;
  };
  const all = await odds(undefined);
  const [answer = 0] = largest(all, 1);
  const boxes = boxesOf(subject);
  const shares = new Float32Array(shape.layers * boxes.length);
  const says: Piece[][] = [];
  for (let layer = 0; layer < shape.layers; layer++) {
    const row: Piece[] = [];
    for (const [i, box] of boxes.entries()) {
      const without = await odds([{ hook: `${stack}.${layer}.${box}`, op: 'zero' }]);
      shares[layer * boxes.length + i] = without[answer] ?? 0;
      row.push(pieceOf(shelved, largest(without, 1)[0] ?? 0));
    }
    says.push(row);
  }
  return {
    ...{ answer: pieceOf(shelved, answer), share: all[answer] ?? 0, boxes, says },
    shares: new Tensor('float32', shares, [shape.layers, boxes.length]),
  };
}
