// Next-token probabilities without and with the edits, and their bars beside a figure.

import { softmax } from 'clearformer';
import { percent } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { largest } from './largest.js';
import { filled } from './markup.js';
import type { Pass, Shelved } from './shelf.js';
import type { Piece } from './token_texts.js';

export interface Odds {
  readonly piece: Piece;
  readonly before: number;
  readonly now: number;
}

/** A candidate token's text; its id for a model without a tokenizer. */
export const pieceOf = ({ texts }: Shelved, id: number): Piece =>
  texts?.alone(id) ?? { id, text: `${id}`, label: `${id}`, special: false };

/** The odds of those tokens that `chosen` takes, of the top token before the edits and the best after them. */
async function oddsAt(
  shelved: Shelved,
  [clean, now]: readonly [Pass, Pass],
  count: number,
  chosen: (first: number, best: readonly number[]) => Iterable<number>,
): Promise<Odds[]> {
  const before = (await softmax(clean.logits.slice(0, -1))).data;
  const after = now === clean ? before : (await softmax(now.logits.slice(0, -1))).data;
  const [first = 0] = largest(before, 1);
  const ids = chosen(first, largest(after, count));
  return Array.from(ids, (id) => ({ piece: pieceOf(shelved, id), before: before[id] ?? 0, now: after[id] ?? 0 }));
}

/** The seven most probable next tokens after the edits; always includes the top token before. */
export const oddsOf = (shelved: Shelved, clean: Pass, now: Pass): Promise<Odds[]> =>
  oddsAt(shelved, [clean, now], 7, (first, best) => (best.includes(first) ? best : [...best.slice(0, -1), first]));

/** The top token before the edits, then the `count` best after them; none of a model that predicts no token. */
export async function leadingOdds(shelved: Shelved, clean: Pass, now: Pass, count: number): Promise<Odds[]> {
  const { texts, model } = shelved;
  const { dims } = clean.logits;
  if (!texts || dims.length !== 3 || dims.at(-1) !== model.cfg.d_vocab) return [];
  return oddsAt(shelved, [clean, now], count, (first, best) => new Set([first, ...best]));
}

/** The top token before and after the edits. */
export function leaders(odds: readonly Odds[]): { before: Odds | undefined; now: Odds | undefined } {
  const top = (of: (one: Odds) => number): Odds | undefined => [...odds].sort((a, b) => of(b) - of(a))[0];
  return { before: top((one) => one.before), now: top((one) => one.now) };
}

interface OddsView {
  readonly odds: readonly Odds[];
  readonly edited: boolean;
  /** False while the class guesses: only the probabilities before the edits are shown. */
  readonly revealed: boolean;
  readonly narrow: boolean;
  /** Class mode. */
  readonly large: boolean;
  readonly labels: { readonly nextWord: string; readonly guess: string; readonly was: string };
}

/** Bars of the probabilities, with those before the edits. */
export function oddsBars({ odds, edited, narrow, large, labels, ...given }: OddsView): TemplateResult {
  const revealed = given.revealed || !edited;
  const shown = revealed ? odds : [...odds].sort((a, b) => b.before - a.before);
  const items = shown.slice(0, narrow ? 3 : large ? 6 : shown.length).map(({ piece, now, before }) => ({
    label: piece.label,
    value: revealed ? now : before,
    note: edited && revealed ? filled(labels.was, { share: percent(before) }) : undefined,
  }));
  return html`<p class="caption">${revealed ? labels.nextWord : labels.guess}</p>
    <cf-bars readonly source="softmax(logits[0, -1])" label=${labels.nextWord} max="1" .items=${items}></cf-bars>`;
}
