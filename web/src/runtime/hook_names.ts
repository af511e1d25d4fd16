// Hook names as types: TransformerLens' names, for one stack of blocks or for the two that a model may have.

type Stack = `blocks.${number}` | `${'encoder' | 'decoder'}.${number}` | `${'text' | 'vision'}_model.blocks.${number}`;
type Prefix = '' | 'encoder.' | 'decoder.' | 'text_model.' | 'vision_model.';

type Norm = 'hook_scale' | 'hook_normalized';
type Scores = `hook_attn_scores${'' | '_raw' | '_softcapped' | '_c2p' | '_p2c'}` | 'hook_pattern';
type Attention =
  | `hook_${'q' | 'k' | 'v' | 'z' | 'rot_q' | 'rot_k' | 'gate' | 'result'}`
  | Scores
  | `${'q_norm' | 'k_norm'}.${Norm}`;
type Block =
  | `hook_${'attn' | 'cross_attn' | 'mlp'}_out`
  | `hook_${'q_input' | 'k_input' | 'v_input' | 'mlp_in'}`
  | `hook_${'resid_pre' | 'resid_mid' | 'resid_mid_cross' | 'resid_post' | 'normalized_resid_post'}`
  | `${'attn' | 'cross_attn'}.${Attention}`
  | `conv.hook_${'b' | 'c' | 'x' | 'conv'}`
  | `delta.${`hook_${'q' | 'k' | 'v' | 'beta' | 'decay' | 'state' | 'o' | 'gate' | 'z'}` | `norm.${Norm}`}`
  | `mlp.hook_${'pre' | 'pre_linear' | 'post' | 'router_logits' | 'expert_weights'}`
  | `${'ln1' | 'ln2' | 'ln3' | 'ln1_post' | 'ln2_post'}.${Norm}`;
type Embedding =
  | `hook_${'' | 'pos_' | 'token_type_' | 'full_'}embed`
  | `hook_conv${1 | 2}`
  | 'hook_features'
  | `${'embed' | 'features'}.ln.${Norm}`;
type Output =
  | `ln_final.${Norm | 'hook_out'}`
  | 'project_out.hook_out'
  | `pooler.${'hook_pooler_out' | `norm.${Norm}` | Block}`;
type Head = 'mlm' | 'classifier' | 'teacher_classifier' | 'token_classifier' | 'qa' | 'distillation';

/** A point of the forward pass. `model.hooks()` lists those of a model. */
export type HookName =
  | `${Stack}.${Block}`
  | `${Prefix}${Embedding | Output}`
  | `${Head}.${'hook_pooler_out' | `norm.${Norm}`}`;

/** TransformerLens 3's names within a block that differ, and ours. */
const blockNames = {
  hook_in: 'hook_resid_pre',
  hook_out: 'hook_resid_post',
  'attn.q.hook_out': 'attn.hook_q',
  'attn.k.hook_out': 'attn.hook_k',
  'attn.v.hook_out': 'attn.hook_v',
  'attn.o.hook_in': 'attn.hook_z',
  'attn.hook_out': 'hook_attn_out',
  'mlp.out.hook_in': 'mlp.hook_post',
  'mlp.hook_out': 'hook_mlp_out',
} as const satisfies Record<string, Block>;

/** Alternative names of some hook points, from TransformerLens 3. */
export type TransformerLens3Name = `${Stack}.${keyof typeof blockNames}` | `${Prefix}${'embed' | 'pos_embed'}.hook_out`;

const inBlock = /^(.*?(?:\d+|\*)\.)(.+)$/; // of one block or, in a pattern, of all

/** Our name for an alternative name of TransformerLens 3; any other name is unchanged. */
export function ourName(name: string): string {
  const [, scope = '', last = ''] = inBlock.exec(name) ?? [];
  const ours = blockNames[last as keyof typeof blockNames];
  return ours === undefined ? name.replace(/(^|\.)((?:pos_)?embed)\.hook_out$/, '$1hook_$2') : scope + ours;
}

/** TransformerLens 3's alternative name for one of ours, if it has one. */
export function otherName(name: string): string | undefined {
  const [, scope = '', last = ''] = inBlock.exec(name) ?? [];
  const [theirs] = Object.entries(blockNames).find(([, ours]) => ours === last) ?? [];
  const other = theirs === undefined ? name.replace(/(^|\.)hook_((?:pos_)?embed)$/, '$1$2.hook_out') : scope + theirs;
  return other === name ? undefined : other;
}
