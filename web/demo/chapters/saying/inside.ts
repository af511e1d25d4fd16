// The logit lens at the last positions, and logit attribution: the components that a logit is the sum of.

import { logitAttribution, logitLens, softmax, Tensor } from 'clearformer';
import { largest } from '../../book/largest.js';
import { pieceOf } from '../../book/odds.js';
import type { Piece } from '../../book/token_texts.js';
import type { Prompt } from './odds.js';

/** Positions shown by the lens. */
const mostPositions = 9;

export interface Lens {
  readonly from: number;
  /** The most probable token and its probability, [layer][position], the input first. */
  readonly cells: readonly (readonly { readonly token: string; readonly probability: number }[])[];
  /** The probability of the model's own answer at the last position after each layer. */
  readonly answer: Piece;
  readonly rise: Tensor<'float32'>;
}

export async function lens({ shelved, given, tokens }: Prompt, signal: AbortSignal): Promise<Lens> {
  const from = Math.max(0, tokens.length - mostPositions);
  const pos = Array.from({ length: tokens.length - from }, (_, i) => from + i);
  const odds = await softmax(await logitLens(shelved.model, given.inputs, { pos, signal }));
  const [layers = 0] = odds.dims;
  const at = (layer: number, position: number): Float32Array => odds.slice(layer, 0, position).data;
  const last = pos.length - 1;
  const [answer = 0] = largest(at(layers - 1, last), 1);
  const cells = Array.from({ length: layers }, (_, layer) =>
    pos.map((_, position) => {
      const row = at(layer, position);
      const [best = 0] = largest(row, 1);
      return { token: pieceOf(shelved, best).text, probability: row[best] ?? 0 };
    }),
  );
  const rise = Float32Array.from({ length: layers }, (_, layer) => at(layer, last)[answer] ?? 0);
  return { from, cells, answer: pieceOf(shelved, answer), rise: new Tensor('float32', rise, [1, layers]) };
}

interface Part {
  readonly label: string;
  readonly value: number;
}

export interface Attribution {
  readonly answer: Piece;
  readonly other: Piece;
  /** The sum of the parts: the logit difference of the answer and the other token. */
  readonly lead: number;
  readonly parts: readonly Part[];
  /** [layer, head], and [layer, 1] for the feed-forward networks. */
  readonly heads: Tensor<'float32'>;
  readonly networks: Tensor<'float32'>;
}

/** Contributions to the logit difference of the two most probable tokens. */
export async function attribution(
  { shelved, given }: Prompt,
  logits: Float32Array,
  signal?: AbortSignal,
): Promise<Attribution> {
  const { model } = shelved;
  const [best = 0, second = 0] = largest(logits, 2);
  const found = await logitAttribution(model, given.inputs, { tokens: best, incorrect_tokens: second, signal });
  const parts = found.labels
    .map((label, i) => ({ label, value: found.contributions.data[i] ?? 0 }))
    .filter(({ label, value }) => label !== 'bias' || value !== 0); // of models that have none
  const of = (label: string): number => parts.find((part) => part.label === label)?.value ?? 0;
  const { n_layers, n_heads } = model.cfg;
  const heads = Array.from({ length: n_layers * n_heads }, (_, at) =>
    of(`L${Math.floor(at / n_heads)}H${at % n_heads}`),
  );
  const networks = Array.from({ length: n_layers }, (_, layer) => of(`${layer}_mlp_out`));
  return {
    ...{ answer: pieceOf(shelved, best), other: pieceOf(shelved, second), lead: found.logits.data[0] ?? 0, parts },
    heads: new Tensor('float32', Float32Array.from(heads), [n_layers, n_heads]),
    networks: new Tensor('float32', Float32Array.from(networks), [n_layers, 1]),
  };
}
