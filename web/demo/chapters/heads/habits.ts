// Finding heads: the attention pattern that each head matches, and how the answer changes when it is ablated.

import {
  ablateHeads,
  type DetectedHeads,
  detectHeads,
  type HeadAblation,
  type HeadKind,
  logitDifference,
} from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { pieceOf } from '../../book/odds.js';
import { remembered } from '../../book/remembered.js';
import type { Piece } from '../../book/token_texts.js';
import type { Subject } from './reading.js';

export const kinds = [
  'previous_token',
  'first_token',
  'duplicate_token',
  'induction',
] as const satisfies readonly HeadKind[];

/** A head whose score is lower has no such habit. */
export const habitFrom = 0.4;

const found = new Map<string, Promise<DetectedHeads>>();

/** Scores of all heads on a random token sequence repeated once, with a fixed seed. */
export function habits(book: Book, { given, stack }: Subject): Promise<DetectedHeads> {
  const find = (): Promise<DetectedHeads> => detected(book, given.model, stack);
  if (given.model === 'own') return find(); // another model may use this name
  return remembered(found, `${given.model} ${stack}`, find);
}

async function detected(book: Book, name: string, stack: Subject['stack']): Promise<DetectedHeads> {
  const { model } = await book.shelf.model(name);
  return detectHeads(model, { threshold: 0, ...(stack === 'encoder' && { hook: 'encoder.*.attn.hook_pattern' }) });
}

export interface Need {
  readonly ablation: HeadAblation;
  /** The most probable token, and the runner-up that it is compared with. */
  readonly best: Piece;
  readonly second: Piece;
}

/** How much the logit difference of the two most probable tokens changes when each head is ablated. */
export async function need(book: Book, { given, stack }: Subject, signal?: AbortSignal): Promise<Need> {
  const shelved = await book.shelf.model(given.model);
  const { model } = shelved;
  const { logits } = await book.shelf.pass(given, { names: [`${stack}.0.hook_resid_pre`] });
  const [best = 0, second = 0] = largest(logits.slice(0, -1).data, 2);
  const ablation = await ablateHeads(model, given.inputs, {
    metric: logitDifference(best, second),
    op: 'zero',
    signal,
    ...(stack === 'encoder' && { hook: 'encoder.*.attn.hook_z' }),
  });
  return { ablation, best: pieceOf(shelved, best), second: pieceOf(shelved, second) };
}
