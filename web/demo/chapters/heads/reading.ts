// What chapter 6 shows: attention maps and outputs of all heads of one layer, the attention output added to the stream,
// and the next-token probabilities, without edits and with heads ablated.

import { Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import type { EditSpec } from '../../book/edits.js';
import { type Odds, oddsOf } from '../../book/odds.js';
import { activation, type PassInputs } from '../../book/shelf.js';
import { sorter } from '../../book/sorter.js';
import type { Piece } from '../../book/token_texts.js';

/** At most this many tokens of a map are shown. */
export const mostTokens = 10;
export const translator = 'marian-tiny-en-fr';

/** A model with its inputs, and one of its stacks. */
export interface Subject {
  readonly given: PassInputs;
  readonly tokens: readonly Piece[];
  readonly of: number;
  readonly focus: number;
  readonly stack: 'blocks' | 'encoder';
  readonly layers: number;
  readonly heads: number;
  /** Key/value heads; fewer than heads in grouped-query attention. */
  readonly keyHeads: number;
  readonly width: number;
  readonly model: number;
}

export interface Reading extends Subject {
  readonly layer: number;
  /** `shown` tokens from `from` on are shown. */
  readonly from: number;
  readonly shown: number;
  /** Whether each head of this layer is ablated. */
  readonly off: readonly boolean[];
  readonly specs: readonly EditSpec[];
  /** [query, key] of each head, and its output, [pos, d_head]. */
  readonly patterns: readonly Tensor<'float32'>[];
  readonly taken: readonly Tensor<'float32'>[];
  /** [pos, head · d_head], [pos, d_model]. */
  readonly joined: Tensor<'float32'>;
  readonly out: Tensor<'float32'>;
  readonly odds: readonly Odds[];
}

/** The letters for the sorter, else the reader's sentence. */
export async function subjectOf(book: Book, name: string, letters: string): Promise<Subject> {
  const { model } = await book.shelf.model(name);
  const sentence = await book.sentence(name, Number.POSITIVE_INFINITY, name === sorter ? letters : book.text);
  const both = model.cfg.kind === 'encoder-decoder';
  const cfg = both ? { ...model.cfg, ...(model.cfg.encoder as typeof model.cfg) } : model.cfg;
  const start = { decoder_input_ids: [[Number(model.cfg.decoder_start_token_id ?? 0)]] };
  return {
    given: both ? { ...sentence.inputs, inputs: { ...sentence.inputs.inputs, ...start } } : sentence.inputs,
    tokens: sentence.tokens,
    of: sentence.of,
    focus: name === sorter ? sentence.ids.length - 1 : sentence.focus,
    stack: both ? 'encoder' : 'blocks',
    layers: cfg.n_layers,
    heads: cfg.n_heads,
    keyHeads: Number(cfg.n_key_value_heads),
    width: cfg.d_head,
    model: cfg.d_model,
  };
}

export async function read(book: Book, subject: Subject, layer: number, specs: readonly EditSpec[]): Promise<Reading> {
  const { given, stack, heads, tokens, focus } = subject;
  const block = `${stack}.${layer}`;
  const names = ['attn.hook_pattern', 'attn.hook_z', 'hook_attn_out'].map((leaf) => `${block}.${leaf}`);
  const clean = await book.shelf.pass(given, { names });
  const edits = await book.edits(given, specs);
  const now = edits.length === 0 ? clean : await book.shelf.pass(given, { names, edits });
  const from = Math.max(0, Math.min(focus - Math.ceil(mostTokens / 2), tokens.length - mostTokens));
  const shown = Math.min(mostTokens, tokens.length);
  const part = [from, from + shown] as const;
  const map = activation(now, `${block}.attn.hook_pattern`);
  const z = activation(now, `${block}.attn.hook_z`);
  const hook = `${block}.attn.hook_z`;
  return {
    ...subject,
    layer,
    from,
    shown,
    specs,
    off: Array.from({ length: heads }, (_, head) => specs.some((spec) => silences(spec, hook, head))),
    patterns: Array.from({ length: heads }, (_, head) => map.slice(0, head, part, part)),
    taken: Array.from({ length: heads }, (_, head) => z.slice(0, part, head)),
    joined: flattened(z.slice(0, part)),
    out: activation(now, `${block}.hook_attn_out`).slice(0, part),
    odds: await oddsOf(await book.shelf.model(given.model), clean, now),
  };
}

export const silences = (spec: EditSpec, hook: string, head: number): boolean =>
  spec.hook === hook && spec.head === head && spec.pos === undefined && spec.op === 'zero';

/** [pos, head, d_head] with the heads concatenated, [pos, head · d_head]. */
function flattened(z: Tensor<'float32'>): Tensor<'float32'> {
  const [positions = 0, heads = 0, width = 0] = z.dims;
  return new Tensor('float32', z.data, [positions, heads * width]);
}
