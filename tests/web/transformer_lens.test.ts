// web/examples/from_transformer_lens.md: it has every public name of TransformerLens' classes once, what it gives instead
// exists, and models have TransformerLens' hooks, by architecture.

import { readdirSync, readFileSync } from 'node:fs';
import * as clearformer from 'clearformer';
import { afterAll, describe, expect, it } from 'vitest';
import { pageText } from './support/pages.js';
import { fixturePath } from './support/references.js';

const page = pageText('from_transformer_lens.md');

/** Rows of the tables: the names on the left, and the text on the right. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')) as [string, string])
  .filter(([left]) => !/^`?(HookedTransformer|ActivationCache|FactoredMatrix|patching)`/.test(left));
const spans = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

/** Names of TransformerLens 3.5: public methods, properties and attributes. */
const theirs = {
  HookedTransformer: `from_pretrained from_pretrained_no_processing forward run_with_cache run_with_hooks loss_fn generate generate_stream
    get_residual input_to_embed get_pos_offset to cuda cpu mps move_model_modules_to_device init_weights n_params_total cfg
    load_sample_training_dataset sample_datapoint set_tokenizer to_tokens to_str_tokens to_string to_single_token to_single_str_token
    get_token_position tokens_to_residual_directions W_E W_pos W_U b_U W_E_pos W_Q W_K W_V W_O b_Q b_K b_V b_O W_in W_gate W_out b_in
    b_out QK OV all_composition_scores all_head_labels accumulated_bias fold_layer_norm center_writing_weights center_unembed
    fold_value_biases refactor_factored_attn_matrices process_weights_ load_and_process_state_dict fill_missing_keys
    set_use_attn_result set_use_split_qkv_input set_use_hook_mlp_in set_use_attn_in set_ungroup_grouped_query_attention
    hook_dict hook_points list_hooks hooks add_hook add_perma_hook check_and_add_hook check_hooks_to_add reset_hooks remove_all_hook_fns
    clear_contexts add_caching_hooks get_caching_hooks cache_all cache_some setup`,
  HookPoint: 'remove_hooks clear_context has_hooks enable_reshape layer',
  ActivationCache: `accumulated_resid decompose_resid stack_head_results logit_attrs get_full_resid_decomposition apply_ln_to_stack
    compute_head_results stack_activation get_neuron_results stack_neuron_results remove_batch_dim apply_slice_to_batch_dim keys values
    items cache_dict to toggle_autodiff model has_batch_dim has_embed has_pos_embed`,
  FactoredMatrix:
    'A B T AB BA shape norm svd U S V Vh eigenvalues collapse_l collapse_r make_even pair get_corner ndim unsqueeze',
  patching: `get_act_patch_resid_pre get_act_patch_resid_mid get_act_patch_attn_out get_act_patch_mlp_out get_act_patch_block_every
    get_act_patch_attn_head_out_by_pos get_act_patch_attn_head_q_by_pos get_act_patch_attn_head_k_by_pos get_act_patch_attn_head_v_by_pos
    get_act_patch_attn_head_pattern_by_pos get_act_patch_attn_head_by_pos_every get_act_patch_attn_head_out_all_pos
    get_act_patch_attn_head_q_all_pos get_act_patch_attn_head_k_all_pos get_act_patch_attn_head_v_all_pos
    get_act_patch_attn_head_pattern_all_pos get_act_patch_attn_head_all_pos_every get_act_patch_attn_head_pattern_dest_src_pos
    generic_activation_patch make_df_from_ranges layer_pos_patch_setter layer_pos_head_vector_patch_setter
    layer_head_vector_patch_setter layer_head_pattern_patch_setter layer_head_pos_pattern_patch_setter
    layer_head_dest_src_pos_pattern_patch_setter`,
};
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '');

/** What the declarations of the package say, for options and members. */
const declarations = readdirSync('dist', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.d.ts'))
  .map((name) => readFileSync(`dist/${name}`, 'utf8'))
  .join('\n');
const models = new Map<string, Promise<clearformer.PreTrainedModel>>();
const { AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM } = clearformer;
const autos = { AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM };
const modelOf = (auto: keyof typeof autos, folder: string): Promise<clearformer.PreTrainedModel> => {
  const found = models.get(folder) ?? autos[auto].from_pretrained(fixturePath(folder));
  models.set(folder, found);
  return found;
};
afterAll(async () => {
  for (const model of models.values()) await (await model).dispose();
});

const exported = clearformer as unknown as Record<string, unknown>;
/** Whether a span of code names something that there is. */
async function exists(span: string): Promise<boolean> {
  if (/(^|\.)hook_\w+$/.test(span)) {
    const checkpoint = span.includes('expert') ? 'models/mixtral/even' : 'llama_tiny/tied';
    const hooks = (await modelOf('AutoModelForCausalLM', checkpoint)).hooks({ on_request: true });
    return hooks.some(({ name }) => name.endsWith(`.${span}`));
  }
  const [first = '', member] = (/^[\w.]+/.exec(span)?.[0] ?? '').split('.');
  if (first === 'model' && member !== undefined)
    return member in (await modelOf('AutoModelForCausalLM', 'models/gpt2/odd'));
  if (first === 'tokenizer' && member !== undefined) return new RegExp(`\\b${member}\\(`).test(declarations);
  if (first in exported) {
    if (member === undefined) return true;
    const { [first]: value } = exported as Record<string, { prototype?: object } | undefined>;
    const own = value !== undefined && (member in value || member in (value.prototype ?? {}));
    return own || new RegExp(`class ${first}\\b[^]*?\\b${member}\\b`).test(declarations);
  }
  return new RegExp(`\\b${first}\\??:|'${first}'`).test(declarations);
}

describe('the page', () => {
  it.each(Object.entries(theirs))('has each public name of %s once', (name, text) => {
    const titled = (table: string) => table.startsWith('| `') && table.split('\n')[0]?.includes(`\`${name}\``);
    const tables = page.split('\n\n').filter(titled);
    expect(tables.length).toBeGreaterThan(0);
    const found = tables
      .flatMap((table) => table.split('\n').slice(2))
      .flatMap((line) => spans(line.split(' | ')[0] ?? ''));
    const wanted = wordsOf(text);
    expect(found.filter((one) => wanted.includes(one)).sort()).toEqual([...wanted].sort());
    const all = Object.values(theirs).flatMap(wordsOf);
    expect(found.filter((one) => !all.includes(one))).toEqual([]);
  });

  it('names only what there is', async () => {
    expect(rows.length).toBeGreaterThan(50);
    const missing: [string, string][] = [];
    for (const [left, right] of rows) {
      const given = spans(right).filter((span) => !/^(Object|in|indexOf)\b/.test(span));
      for (const span of given) {
        if (!(await exists(span))) missing.push([left, span]);
      }
    }
    expect(missing).toEqual([]);
  });

  it('lists the names of TransformerLens 3 that are accepted', async () => {
    const [, inBlock = '', ofTower = ''] =
      /accepted as well, in a block: ([^;]+); of a tower (.+?)\. Others/s.exec(page) ?? [];
    const names = [...spans(inBlock).map((name) => `blocks.0.${name}`), ...spans(ofTower)];
    expect(names).toHaveLength(11);
    const model = await modelOf('AutoModelForCausalLM', 'models/gpt2/odd');
    const [, cache] = await model.run_with_cache({ input_ids: [[1, 2]] }, { names_filter: names as never });
    expect(Object.keys(cache)).toHaveLength(11);
    for (const name of names) expect(cache[name as 'blocks.0.hook_in'], name).toBeInstanceOf(clearformer.Tensor);
  });

  it('knows a name that there is not', async () => {
    for (const span of [
      'model.run_with_cash',
      'LensWeights.W_X',
      'to_strings_of',
      'stop_at_layers: 0',
      'tokenizer.to_single',
    ]) {
      expect([span, await exists(span)]).toEqual([span, false]);
    }
  });
});

// The hooks of TransformerLens' components, by what a layer has.
const resid = ['hook_resid_pre', 'hook_resid_post', 'hook_attn_out', 'hook_mlp_out'];
const requested = ['hook_q_input', 'hook_k_input', 'hook_v_input', 'hook_mlp_in'];
const attention = ['q', 'k', 'v', 'z', 'attn_scores', 'pattern', 'result'].map((leaf) => `attn.hook_${leaf}`);
const rotary = ['attn.hook_rot_q', 'attn.hook_rot_k'];
const norms = (...names: string[]) => names.flatMap((name) => [`${name}.hook_scale`, `${name}.hook_normalized`]);
const mlp = ['mlp.hook_pre', 'mlp.hook_post'];
const gate = ['mlp.hook_pre_linear'];
const layers = (stack: string, leaves: readonly string[]) =>
  [0, 1].flatMap((i) => leaves.map((leaf) => `${stack}${i}.${leaf}`));
const decoder = [...resid, ...requested, ...attention, ...norms('ln1', 'ln2'), ...mlp];
const gpt = [
  'hook_embed',
  'hook_pos_embed',
  ...layers('blocks.', [...decoder, 'hook_resid_mid']),
  ...norms('ln_final'),
];
const llama = [
  'hook_embed',
  ...layers('blocks.', [...decoder, 'hook_resid_mid', ...rotary, ...gate]),
  ...norms('ln_final'),
];
const gptj = ['hook_embed', ...layers('blocks.', [...resid, ...attention, ...rotary, ...mlp]), ...norms('ln_final')];
const after = decoder.filter((leaf) => leaf !== 'hook_mlp_in');
const parallel = ['hook_embed', ...layers('blocks.', [...decoder, ...rotary]), ...norms('ln_final')];
const t5 = [...resid, ...requested, ...attention, ...norms('ln1', 'ln2'), ...mlp, 'hook_resid_mid'];

describe('hooks have TransformerLens’ names', () => {
  it.each([
    ['AutoModelForCausalLM', 'models/gpt2/odd', gpt],
    ['AutoModelForCausalLM', 'models/gpt_neo/odd', gpt],
    ['AutoModelForCausalLM', 'models/opt/even', gpt],
    ['AutoModelForCausalLM', 'models/gpt_neox/even', parallel],
    ['AutoModelForCausalLM', 'models/gptj/even', [...gptj, ...layers('blocks.', norms('ln1'))]],
    ['AutoModelForCausalLM', 'llama_tiny/tied', llama],
    ['AutoModelForCausalLM', 'models/mistral/odd', llama],
    ['AutoModelForCausalLM', 'models/qwen2/odd', llama],
    ['AutoModelForCausalLM', 'models/qwen3/odd', [...llama, ...layers('blocks.', norms('attn.q_norm', 'attn.k_norm'))]],
    ['AutoModelForCausalLM', 'models/gemma/odd', llama],
    ['AutoModelForCausalLM', 'models/gemma2/odd', [...llama, ...layers('blocks.', norms('ln1_post', 'ln2_post'))]],
    [
      'AutoModelForMaskedLM',
      'models/bert/odd_masked_lm',
      [
        ...['hook_embed', 'hook_pos_embed', 'hook_token_type_embed', 'hook_full_embed'],
        ...layers('blocks.', [...after, 'hook_resid_mid', 'hook_normalized_resid_post']),
      ],
    ],
    [
      'AutoModelForSeq2SeqLM',
      'models/t5/odd',
      [
        'encoder.hook_embed',
        ...layers('encoder.', t5),
        ...norms('encoder.ln_final', 'decoder.ln_final'),
        ...['hook_cross_attn_out', 'hook_resid_mid_cross', ...norms('ln3'), ...t5].map((leaf) => `decoder.0.${leaf}`),
        ...attention.map((leaf) => `decoder.0.cross_${leaf}`),
      ],
    ],
  ] as const)('%s %s', async (auto, folder, names) => {
    const model = await modelOf(auto, folder);
    const own = new Set<string>(model.hooks({ on_request: true }).map(({ name }) => name));
    const there = names.filter((name) => !/\.1\./.test(name) || own.has(name.replace('.1.', '.0.')));
    expect(there.filter((name) => !own.has(name))).toEqual([]);
    expect(own.has('blocks.0.hook_resid_mid')).toBe((names as readonly string[]).includes('blocks.0.hook_resid_mid'));
    const absent = rows.flatMap(([left]) => (/hook_(attn_in|attn_input|tokens|mid)/.test(left) ? spans(left) : []));
    expect(absent.length).toBeGreaterThan(5);
    expect([...own].filter((name) => absent.some((one) => name.endsWith(`.${one}`)))).toEqual([]);
  });
});

describe('cfg.act_fn names the function that the feed-forward networks compute', () => {
  const { gelu, quick_gelu, relu, silu } = clearformer;
  const tanh = (x: clearformer.Tensor<'float32'>) => gelu(x, { approximate: 'tanh' });
  const functions = { gelu, gelu_new: tanh, gelu_pytorch_tanh: tanh, quick_gelu, relu, silu };
  it.each([
    ['openai_gpt/even', 'gelu_new'], // "afn" is "gelu"
    ['openai_gpt/odd', 'silu'],
    ['gpt2/even', 'gelu_new'],
    ['gpt2/odd', 'gelu'],
    ['bloom/odd', 'gelu_new'],
    ['mpt/odd', 'gelu'],
    ['starcoder2/odd', 'gelu_pytorch_tanh'],
    ['opt/even', 'relu'],
  ] as const)('%s', async (folder, name) => {
    const model = (await modelOf('AutoModelForCausalLM', `models/${folder}`)) as clearformer.GenerativeModel;
    const [before, after] = ['blocks.0.mlp.hook_pre', 'blocks.0.mlp.hook_post'] as const;
    const [, cache] = await model.run_with_cache({ input_ids: [[5, 6, 7]] }, { names_filter: [before, after] });
    const [pre, post] = [cache[before], cache[after]] as [clearformer.Tensor<'float32'>, clearformer.Tensor<'float32'>];
    expect(model.cfg.act_fn).toBe(name);
    expect(
      post
        .sub(await functions[name](pre))
        .norm(Number.POSITIVE_INFINITY)
        .item(),
    ).toBeLessThan(1e-6);
  });
});
