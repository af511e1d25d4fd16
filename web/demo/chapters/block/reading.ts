// What chapter 7 shows: the residual stream before and after every sublayer, without edits and with sublayers ablated.

import { ClearformerError, type PreTrainedModel, type Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import type { EditSpec } from '../../book/edits.js';
import { type Odds, oddsOf } from '../../book/odds.js';
import { activation, type Pass, type PassInputs } from '../../book/shelf.js';
import { sorter } from '../../book/sorter.js';
import type { Piece } from '../../book/token_texts.js';
import { within } from '../../book/within.js';
import { isPlanned, type Part, type Plan, planOf } from './plan.js';

export const translator = 'marian-tiny-en-fr';
/** At most this many tokens are shown. */
export const mostTokens = 10;

interface Shape {
  readonly layers: number;
  readonly model: number;
  readonly hidden: number;
  readonly gated: boolean;
  readonly activation: string;
  readonly norm: string;
}

/** A model with its inputs, and one of its stacks. */
export interface Subject {
  readonly name: string;
  readonly given: PassInputs;
  readonly stack: 'blocks' | 'encoder' | 'decoder';
  readonly tokens: readonly Piece[];
  readonly of: number;
  readonly focus: number;
  readonly shape: Shape;
  readonly hooks: ReadonlySet<string>;
}

export interface Depth {
  /** The hook, and what precedes it: the input, the sublayer whose output was added, or a norm. */
  readonly hook: string;
  readonly layer: number;
  readonly kind: 'in' | 'attention' | 'cross' | 'mlp' | 'norm';
}

export interface Reading extends Subject {
  readonly layer: number;
  readonly plan: Plan;
  readonly from: number;
  readonly shown: number;
  readonly specs: readonly EditSpec[];
  readonly edited: boolean;
  readonly odds: readonly Odds[];
  /** The depths of the stream in the edited pass. */
  readonly depths: readonly Depth[];
  readonly now: Pass;
  readonly clean: Pass;
}

/** `who` is a model's name, with `.encoder` or `.decoder` for an encoder-decoder. */
export async function subjectOf(book: Book, who: string, letters: string): Promise<Subject> {
  const [name = '', side] = who.split('.');
  const shelved = await book.shelf.model(name);
  const { model } = shelved;
  const both = model.cfg.kind === 'encoder-decoder';
  const sentence = await book.sentence(name, Number.POSITIVE_INFINITY, name === sorter ? letters : book.text);
  const stack = !both ? 'blocks' : side === 'decoder' ? 'decoder' : 'encoder';
  const hooks = new Set<string>(model.hooks().map((hook) => hook.name));
  const about = { name, stack, hooks, shape: shapeOf(model, stack) } as const;
  if (!both)
    return { ...about, given: sentence.inputs, tokens: sentence.tokens, of: sentence.of, focus: sentence.focus };
  const start = Number(model.cfg.decoder_start_token_id ?? 0);
  const written = stack === 'decoder' ? await beginning(book, sentence.inputs) : [start];
  const inputs = { ...sentence.inputs.inputs, decoder_input_ids: [written] };
  const given = { model: name, key: `${sentence.inputs.key}>${written.join()}`, inputs };
  if (stack === 'encoder') return { ...about, given, tokens: sentence.tokens, of: sentence.of, focus: sentence.focus };
  const tokens = shelved.texts?.pieces(written) ?? [];
  const asked = Number(book.address.get('q') ?? Number.NaN);
  const focus = Number.isNaN(asked) ? tokens.length - 1 : within(asked, tokens.length);
  return { ...about, given, tokens, of: tokens.length, focus };
}

/** The first half of the model's own translation, as the decoder's input. */
async function beginning(book: Book, { model, inputs }: PassInputs): Promise<number[]> {
  const { writer } = await book.shelf.model(model);
  if (!writer) return [];
  const ids = Array.from((await writer.generate(inputs, { do_sample: false, num_beams: 1 })).slice(0).data, Number);
  return ids.slice(0, Math.max(1, Math.ceil((ids.length - 1) / 2)));
}

function shapeOf({ cfg }: PreTrainedModel, stack: Subject['stack']): Shape {
  const own = stack === 'encoder' ? { ...cfg, ...(cfg.encoder as typeof cfg) } : cfg;
  return {
    layers: own.n_layers,
    model: own.d_model,
    hidden: Number(own.d_mlp),
    gated: own.gated_mlp === true,
    activation: String(cfg.act_fn),
    norm: String(own.normalization_type),
  };
}

const streamLeaves = ['hook_resid_pre', 'hook_resid_mid', 'hook_resid_mid_cross', 'hook_resid_post'] as const;
const kindOf: Readonly<Record<string, Depth['kind']>> = {
  hook_resid_mid: 'attention',
  hook_resid_mid_cross: 'cross',
  hook_resid_post: 'mlp',
  hook_normalized_resid_post: 'norm',
};

/**
 * Where the stream can be read: before the first block, after every addition, and after a norm at the end of a block.
 */
function depthsOf({ stack, shape, hooks }: Subject): Depth[] {
  const depths: Depth[] = [{ hook: `${stack}.0.hook_resid_pre`, layer: 0, kind: 'in' }];
  for (let layer = 0; layer < shape.layers; layer++) {
    for (const leaf of [...streamLeaves.slice(1), 'hook_normalized_resid_post']) {
      const hook = `${stack}.${layer}.${leaf}`;
      if (hooks.has(hook)) depths.push({ hook, layer, kind: kindOf[leaf] ?? 'in' });
    }
  }
  return depths;
}

const otherBlocks =
  'the diagram is of blocks in which attention adds to the stream before the feed-forward network reads it, each behind a norm; this model’s read the stream at once, or have their norms elsewhere';

export async function read(book: Book, subject: Subject, layer: number, specs: readonly EditSpec[]): Promise<Reading> {
  const { given, stack, tokens, focus, hooks } = subject;
  const block = `${stack}.${layer}`;
  if (!isPlanned(hooks, block)) throw new ClearformerError('unsupported', otherBlocks);
  const plan = planOf(hooks, block);
  const depths = depthsOf(subject);
  const leaves = plan.parts.flatMap(({ id, kind }) =>
    kind === 'norm' ? [id, id.replace('hook_normalized', 'hook_scale')] : [id],
  );
  const inside = leaves.map((leaf) => `${block}.${leaf}`);
  const names = [...new Set([...depths.map(({ hook }) => hook), ...inside])];
  const clean = await book.shelf.pass(given, { names });
  const edits = await book.edits(given, specs);
  const now = edits.length === 0 ? clean : await book.shelf.pass(given, { names, edits });
  const shown = Math.min(mostTokens, tokens.length);
  const from = Math.max(0, Math.min(focus - Math.ceil(mostTokens / 2), tokens.length - shown));
  const odds = await oddsOf(await book.shelf.model(given.model), clean, now);
  return { ...subject, layer, plan, from, shown, specs, edited: edits.length > 0, odds, depths, now, clean };
}

/** The rows of the tokens shown, [pos, features]. */
export function rowsOf({ now, from, shown }: Reading, hook: string): Tensor<'float32'> {
  return activation(now, hook).slice(0, [from, from + shown]);
}

/** The Euclidean norm of a vector, √Σx². */
export const lengthOf = (row: ArrayLike<number>): number => Math.hypot(...Array.from(row));

export const partOf = ({ plan }: Reading, id: string): Part =>
  plan.parts.find((part) => part.id === id) ??
  plan.parts.find(({ kind }) => kind === 'attention') ??
  (plan.parts[0] as Part);

/** Whether an edit ablates a whole sublayer. */
export const takesOut = (spec: EditSpec, hook: string): boolean =>
  spec.hook === hook && spec.op === 'zero' && spec.head === undefined && spec.pos === undefined;
