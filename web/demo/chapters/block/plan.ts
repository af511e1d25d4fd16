// The structure of a block, derived from its hooks: where the stream is, which sublayers read from it and add to it,
// and whether a norm precedes each sublayer (pre-norm) or follows each addition (post-norm).

type PartKind = 'stream' | 'norm' | 'attention' | 'cross' | 'mlp';

export interface Part {
  /** The hook that the part opens, without the block's prefix. */
  readonly id: string;
  readonly kind: PartKind;
  /** The position along the stream, and whether it is beside it. */
  readonly at: number;
  readonly beside: boolean;
}

export interface Plan {
  readonly parts: readonly Part[];
  /** Positions where a sublayer's output is added. */
  readonly sums: readonly number[];
  readonly length: number;
  readonly postNorm: boolean;
}

interface Move {
  readonly kind: 'attention' | 'cross' | 'mlp';
  readonly out: string;
  readonly stream: string;
}

/** `names` are the model's hooks, `block` the block's prefix, e.g. `decoder.0`. */
export function planOf(names: ReadonlySet<string>, block: string): Plan {
  const has = (id: string): boolean => names.has(`${block}.${id}`);
  const crosses = has('hook_cross_attn_out');
  const moves: readonly Move[] = [
    { kind: 'attention', out: 'hook_attn_out', stream: 'hook_resid_mid' },
    ...(crosses ? ([{ kind: 'cross', out: 'hook_cross_attn_out', stream: 'hook_resid_mid_cross' }] as const) : []),
    { kind: 'mlp', out: 'hook_mlp_out', stream: 'hook_resid_post' },
  ];
  const postNorm = has('hook_normalized_resid_post');
  const parts: Part[] = [{ id: 'hook_resid_pre', kind: 'stream', at: 0, beside: false }];
  const sums: number[] = [];
  let at = 0;
  moves.forEach(({ kind, out, stream }, i) => {
    const norm = `ln${i + 1}.hook_normalized`;
    if (!postNorm) parts.push({ id: norm, kind: 'norm', at: ++at, beside: true });
    parts.push({ id: out, kind, at: ++at, beside: true });
    sums.push(at + 0.75);
    parts.push({ id: stream, kind: 'stream', at: at + 1.4, beside: false });
    at += 1.4;
    if (postNorm) parts.push({ id: norm, kind: 'norm', at: ++at, beside: false });
  });
  if (postNorm) parts.push({ id: 'hook_normalized_resid_post', kind: 'stream', at: ++at, beside: false });
  return { parts, sums, length: at, postNorm };
}

/**
 * Whether the plan is that of the model's blocks: attention adds to the stream before the feed-forward network reads it,
 * each behind a norm. Blocks whose boxes read the stream at once, or with norms behind the boxes only, have other hooks.
 */
export const isPlanned = (names: ReadonlySet<string>, block: string): boolean =>
  planOf(names, block).parts.every(({ id }) => names.has(`${block}.${id}`));
