// The hooks of one head.

import { ClearformerError, type PreTrainedModel } from 'clearformer';
import { within } from '../../book/within.js';

export interface HeadHooks {
  readonly layer: number;
  readonly head: number;
  /** The key/value head that this head shares (grouped-query attention). */
  readonly kvHead: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  /** Whether q and k are normed before rotary positions are applied. */
  readonly normed: boolean;
  /** As used for the scores, i.e. after rotary positions. */
  readonly q: string;
  readonly k: string;
  readonly v: string;
  /** Divided by √d, before the mask. */
  readonly raw: string;
  readonly scores: string;
  readonly pattern: string;
  readonly z: string;
  /** The input of the projections. */
  readonly input: string;
  /** The projections' outputs, before rotary positions. */
  readonly plain: Readonly<Record<'Q' | 'K' | 'V', string>>;
}

/** What a block's projections read: the norm before them, which it scales and shifts, else the stream. */
export function inputHook(names: readonly string[], block: string): string {
  const normed = names.indexOf(`${block}.ln1.hook_normalized`);
  const before = normed >= 0 && normed < names.indexOf(`${block}.attn.hook_q`);
  return `${block}.${before ? 'ln1.hook_normalized' : 'hook_resid_pre'}`;
}

/** Of the layer and head asked for, or of the nearest that the model has: the book's are those of its story model. */
export function headHooks(
  model: Pick<PreTrainedModel, 'cfg' | 'hooks'>,
  askedLayer: number,
  askedHead: number,
): HeadHooks {
  const { cfg } = model;
  const names = model.hooks().map(({ name }) => name as string);
  const [layers, heads] = [cfg.n_layers, cfg.n_heads];
  const [layer, head] = [within(askedLayer, layers), within(askedHead, heads)];
  const stack = ['blocks', 'encoder', 'decoder'].find((one) => names.includes(`${one}.${layer}.attn.hook_pattern`));
  if (stack === undefined) throw new ClearformerError('unsupported', `layer ${layer} of this model has no attention`);
  const of = (name: string): string => `${stack}.${layer}.${name}`;
  const attn = (name: string): string => of(`attn.hook_${name}`);
  const turned = names.includes(attn('rot_q'));
  const kvHeads = Number(cfg.n_key_value_heads ?? heads);
  return {
    layer,
    head,
    kvHead: Math.floor((head * kvHeads) / heads),
    layers,
    heads,
    kvHeads,
    normed: names.some((name) => name.startsWith(of('attn.q_norm.'))),
    q: attn(turned ? 'rot_q' : 'q'),
    k: attn(turned ? 'rot_k' : 'k'),
    v: attn('v'),
    raw: attn('attn_scores_raw'),
    scores: attn('attn_scores'),
    pattern: attn('pattern'),
    z: attn('z'),
    input: inputHook(names, `${stack}.${layer}`),
    plain: { Q: attn('q'), K: attn('k'), V: attn('v') },
  };
}
