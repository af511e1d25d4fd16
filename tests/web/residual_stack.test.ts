// Stacks of the residual stream's components, as by TransformerLens' ActivationCache, and texts as its tokens.

import {
  type ActivationCache,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForZeroShotImageClassification,
  AutoTokenizer,
  accumulated_resid,
  decompose_resid,
  logit_attrs,
  type PreTrainedModel,
  stack_head_results,
  Tensor,
  to_str_tokens,
  to_tokens,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';

type Float = Tensor<'float32'>;

const input_ids = [
  [3, 9, 4, 20, 7],
  [1, 1, 8, 30, 31],
];
const load = (name: string) => AutoModelForCausalLM.from_pretrained(fixturePath(name));

/** The largest difference, in units of the largest expected number. */
function difference(found: Float, expected: Float): number {
  expect(found.dims).toEqual(expected.dims);
  const largest = Number(expected.map(Math.abs).max().item());
  return Number(found.sub(expected).map(Math.abs).max().item()) / largest;
}

const total = (stack: Float) => stack.sum(0) as Float;

describe.each([
  'models/gpt2/odd',
  'models/mistral/even',
  'models/phi/even',
  'models/bloom/odd',
  'models/granite/odd',
  'llama_tiny/bias',
])('%s', (name) => {
  const loaded: Promise<PreTrainedModel> = load(name);

  it('stacks the stream before every layer', async () => {
    const model = await loaded;
    const [, cache] = await model.run_with_cache({ input_ids });
    const { n_layers } = model.cfg;
    const { labels, components } = await accumulated_resid(model, cache);
    expect(labels).toEqual([...Array.from({ length: n_layers }, (_, layer) => `${layer}_pre`), 'final_post']);
    expect([...components.slice(1).data]).toEqual([...(cache['blocks.1.hook_resid_pre'] as Float).data]);
    const some = await accumulated_resid(model, cache, { layer: 1, pos: -1 });
    expect([some.labels, some.components.dims.slice(0, 2)]).toEqual([
      ['0_pre', '1_pre'],
      [2, 2],
    ]);
    expect([...some.components.data]).toEqual([...components.slice([0, 2], null, -1).data]);
    if (!name.includes('phi')) {
      const { labels: middle } = await accumulated_resid(model, cache, { layer: 1, incl_mid: true, mlp_input: true });
      expect(middle).toEqual(['0_pre', '0_mid', '1_pre', '1_mid']);
    }
  });

  it('decomposes the stream into what is added to it', async () => {
    const model = await loaded;
    const [, cache] = await model.run_with_cache({ input_ids });
    const { labels, components } = await decompose_resid(model, cache);
    expect(labels.slice(-2)).toEqual(['1_attn_out', '1_mlp_out']);
    expect(difference(total(components), cache['blocks.1.hook_resid_post'] as Float)).toBeLessThan(1e-6);
    const attention = await decompose_resid(model, cache, { mode: 'attn', incl_embeds: false, layer: 1 });
    expect(attention.labels).toEqual(['0_attn_out']);
    const before = await decompose_resid(model, cache, { layer: 1 });
    expect(difference(total(before.components), cache['blocks.1.hook_resid_pre'] as Float)).toBeLessThan(1e-6);
    // Normalized, the components sum to the norm's output before its weight.
    const scaled = await decompose_resid(model, cache, { apply_ln: true, pos: [0, -1] });
    const normalized = (cache['ln_final.hook_normalized'] as Float).slice(null, [0, 1]);
    expect(difference(total(scaled.components).slice(null, [0, 1]), normalized)).toBeLessThan(2e-6);
  });

  it('normalizes the streams by their own statistics behind the last layer, by those of the last before', async () => {
    const model = await loaded;
    const [, cache] = await model.run_with_cache({ input_ids });
    const { components } = await accumulated_resid(model, cache, { apply_ln: true });
    const hooks = ['blocks.0.hook_resid_pre', 'blocks.1.hook_resid_pre', 'blocks.1.hook_resid_post'] as const;
    for (const [at, hook] of hooks.entries()) {
      const edits = [{ hook: 'blocks.1.hook_resid_post', op: 'replace', value: cache[hook] as Float }] as const;
      const [, own] = await model.run_with_cache({ input_ids }, { edits, names_filter: 'ln_final.hook_normalized' });
      expect(difference(components.slice(at) as Float, own['ln_final.hook_normalized'] as Float)).toBeLessThan(2e-6);
    }
    const before = await accumulated_resid(model, cache, { apply_ln: true, layer: 1 });
    const { components: streams } = await accumulated_resid(model, cache, { layer: 1 });
    const centred = model.cfg.normalization_type === 'LN' ? streams.sub(streams.mean(-1, true)) : streams;
    expect(difference(before.components, centred.div(cache['blocks.1.ln1.hook_scale'] as Float))).toBeLessThan(1e-6);
  });

  it('stacks what each head adds', async () => {
    const model = await loaded;
    const [, cache] = await model.run_with_cache({ input_ids });
    const { labels, components } = await stack_head_results(model, cache, { layer: 1 });
    expect(labels).toEqual(Array.from({ length: model.cfg.n_heads }, (_, head) => `L0H${head}`));
    const bias = (await model.parameter('blocks.0.attn.b_O')).mul(Number(model.config.residual_multiplier ?? 1));
    expect(difference(total(components).add(bias), cache['blocks.0.hook_attn_out'] as Float)).toBeLessThan(1e-6);
    const all = await stack_head_results(model, cache, { incl_remainder: true });
    expect(all.labels.at(-1)).toBe('remainder');
    expect(difference(total(all.components), cache['blocks.1.hook_resid_post'] as Float)).toBeLessThan(1e-6);
  });

  it('attributes a logit to components', async () => {
    const model = await loaded;
    const [logits, cache] = await model.run_with_cache({ input_ids });
    const { components } = await decompose_resid(model, cache);
    const options = { incorrect_tokens: 5, pos: -1 };
    const shares = await logit_attrs(model, cache, components.slice(null, null, -1), [11, 12], options);
    expect(shares.dims).toEqual([components.dims[0], 2]);
    const [w, u, b] = await Promise.all(['ln_final.w', 'W_U', 'b_U'].map((weight) => model.parameter(weight)));
    const shift = await model
      .parameter('ln_final.b')
      .catch(() => new Tensor('float32', new Float32Array(w?.size ?? 0), w?.dims ?? []));
    const constant = (token: number) =>
      Number((u as Float).slice(null, token).mul(shift).sum().item()) + Number((b as Float).data[token]);
    [11, 12].forEach((token, row) => {
      const logit = Number(logits.slice(row, -1, token).item()) - Number(logits.slice(row, -1, 5).item());
      const sum = Number(total(shares).data[row]) + constant(token) - constant(5);
      expect(Math.abs(sum - logit)).toBeLessThan(2e-5 * (1 + Math.abs(logit)));
    });
    const every = await logit_attrs(model, cache, components, [11, 12], { incorrect_tokens: 5 });
    expect(await logit_attrs(model, cache, { labels: [], components }, [11, 12], { incorrect_tokens: 5 })).toEqual(
      every,
    );
    expect(difference(every.slice(null, null, -1), shares)).toBeLessThan(1e-6);
  });
});

it('names the hook that a cache lacks, and the layer that a model lacks', async () => {
  const model = await load('models/gpt2/odd');
  const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: ['blocks.0.hook_resid_pre'] });
  expect(await failureOf(() => accumulated_resid(model, cache))).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('blocks.1.hook_resid_pre'),
  });
  expect(await failureOf(() => decompose_resid(model, cache, { layer: 9 }))).toMatchObject({
    code: 'invalid_argument',
  });
});

it('names the call that has no components', async () => {
  await using model = await load('models/gpt2/odd');
  const [, cache] = await model.run_with_cache({ input_ids });
  const calls = {
    decompose_resid: () => decompose_resid(model, cache, { layer: 0, incl_embeds: false }),
    stack_head_results: () => stack_head_results(model, cache, { layer: 0 }),
  };
  for (const [name, call] of Object.entries(calls)) {
    expect(await failureOf(call)).toMatchObject({
      code: 'invalid_argument',
      message: `${name}: there are no components before this layer`,
    });
  }
});

it('refuses a norm or a stream that the model does not have', async () => {
  const sizes = { vocab_size: 40, hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 2 };
  const opt = { model_type: 'opt', ffn_dim: 16, max_position_embeddings: 16, _remove_final_layer_norm: true };
  const from = (config: object) => AutoModelForCausalLM.from_config({ ...sizes, ...config }, { seed: 1 });
  await using bare = await from({ ...opt, word_embed_proj_dim: 16 });
  await using olmo = await load('models/olmo2/odd');
  await using parallel = await load('models/phi/even');
  for (const [model, lacking, refused] of [
    [bare, 'ln_final.hook_scale', (cache) => accumulated_resid(bare, cache, { apply_ln: true })],
    [bare, 'ln_final.hook_scale', async (cache) => logit_attrs(bare, cache, await stacked(bare, cache), 5)],
    [olmo, 'blocks.1.ln1.hook_scale', (cache) => accumulated_resid(olmo, cache, { layer: 1, apply_ln: true })],
    [parallel, 'blocks.0.hook_resid_mid', (cache) => accumulated_resid(parallel, cache, { incl_mid: true })],
  ] as [PreTrainedModel, string, (cache: ActivationCache) => Promise<unknown>][]) {
    const [, cache] = await model.run_with_cache({ input_ids });
    expect(await failureOf(() => refused(cache))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(`it has no ${lacking}`),
    });
  }
});

it('refuses a stack of other dims than the cache', async () => {
  await using model = await load('models/gpt2/odd');
  const [, cache] = await model.run_with_cache({ input_ids });
  const [, row] = await model.run_with_cache({ input_ids: input_ids.slice(1) });
  const { components: all } = await decompose_resid(model, cache);
  const { components: last } = await decompose_resid(model, cache, { pos: -1 });
  for (const attributed of [
    () => logit_attrs(model, cache, last, 9),
    () => logit_attrs(model, cache, all, 9, { pos: -1 }),
    () => logit_attrs(model, cache, all, 9, { pos: [0, 1] }),
    () => logit_attrs(model, cache, all.slice(null, null, null, [0, 15]) as Float, 9),
    () => logit_attrs(model, row, all, 9),
    () => logit_attrs(model, cache, all.slice(0) as Float, 9),
  ]) {
    const failure = await failureOf(attributed);
    expect(failure).toMatchObject({ code: 'shape_mismatch', message: expect.stringContaining('ln_final.hook_scale') });
  }
});

it('stacks what a cache of one row has, without an axis of sequences', async () => {
  await using model = await load('models/gpt2/odd');
  const [, both] = await model.run_with_cache({ input_ids });
  const [, cache] = await model.run_with_cache({ input_ids }, { select: { row: 1 } });
  const [, last] = await model.run_with_cache({ input_ids }, { select: { row: 1, pos: -1 } });
  for (const call of [accumulated_resid, decompose_resid, stack_head_results]) {
    for (const pos of [undefined, -1, [0, -1]]) {
      const { components } = await call(model, both, { pos, apply_ln: true });
      const one = await call(model, cache, { pos, apply_ln: true });
      expect(one.components).toEqual(components.slice(null, 1));
    }
    const { components } = await call(model, both, { pos: -1 });
    expect((await call(model, last)).components).toEqual(components.slice(null, 1));
    const shares = await logit_attrs(model, both, components, [9, 5], { pos: -1 });
    const own = await logit_attrs(model, cache, components.slice(null, 1) as Float, 5, { pos: -1 });
    expect(own).toEqual(shares.slice(null, 1));
    expect(await logit_attrs(model, last, components.slice(null, 1) as Float, 5)).toEqual(own);
    const { components: row } = await call(model, cache);
    const of = (tokens: number | number[]) => logit_attrs(model, cache, row, tokens, { incorrect_tokens: [9] });
    expect(await of([5])).toEqual(await of(5)); // a list for its one row
    expect((await failureOf(() => call(model, last, { pos: -1 }))).code).toBe('invalid_argument');
  }
});

const stacked = async (model: PreTrainedModel, cache: ActivationCache) =>
  (await accumulated_resid(model, cache)).components;

it('stacks the embeddings alone, whose positions are the same for all images', async () => {
  await using model = await AutoModel.from_pretrained(fixturePath('models/vit/odd_base'));
  const { num_channels = 3, image_size = 1 } = model.config as Record<string, number>;
  const dims = [2, num_channels, image_size, image_size];
  const data = Float32Array.from({ length: 2 * num_channels * image_size ** 2 }, (_, at) => Math.sin(at));
  const [, cache] = await model.run_with_cache({ pixel_values: { data, dims } });
  const { labels, components } = await decompose_resid(model, cache, { layer: 0 });
  expect(labels).toEqual(['embed', 'pos_embed']);
  expect(difference(total(components), cache['blocks.0.hook_resid_pre'] as Float)).toBeLessThan(1e-6);
});

it.each([
  ['gpt_neox', false],
  ['bloom', false],
  ['qwen3', false],
  ['gpt2', true],
  ['llama', true],
])('of a text to_tokens makes for %s what TransformerLens does: a bos token is %s', async (model_type, begins) => {
  for (const [folder, adds, id] of [
    [storiesPath, true, 1],
    [fixturePath('pipelines/gpt2_64'), false, 1],
  ] as const) {
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const model = { run_with_cache() {}, cfg: { model_type }, ownTokenizer: async () => tokenizer };
    const tokens = async (text: string, options = {}) =>
      [...(await to_tokens(model as unknown as PreTrainedModel, text, options)).data].map(Number);
    expect(tokenizer.encode('')).toEqual(adds ? [id] : []);
    for (const text of ['a b', `${tokenizer.bos_token}a b`]) {
      const bare = tokenizer.encode(text, { add_special_tokens: false });
      expect(await tokens(text)).toEqual(begins ? [id, ...bare] : bare);
      expect(await tokens(text, { prepend_bos: true })).toEqual([id, ...bare]);
      expect(await tokens(text, { prepend_bos: false })).toEqual(bare);
    }
  }
});

it('to_tokens and to_str_tokens begin with the bos token, as TransformerLens', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
  const one = await to_tokens(model, 'Lily went');
  const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
  expect([...one.data].map(Number)).toEqual([1, ...tokenizer.encode('Lily went', { add_special_tokens: false })]);
  expect((await to_str_tokens(model, 'Lily went')).join('')).toContain('Lily');
  expect((await to_str_tokens(model, one))[0]).toBe('<s>');
  const bare = await to_tokens(model, 'Lily went', { prepend_bos: false });
  expect([...bare.data]).toEqual([...one.data].slice(1));
  expect((await to_str_tokens(model, [1, 2])).length).toBe(2);
  // This tokenizer has no padding token; TransformerLens pads with the eos token then.
  const padded = await to_tokens(model, ['Lily went', 'Lily']);
  expect(padded.slice(0).tolist()).toEqual([...one.data]);
  const filling = new Array<bigint>(one.size - 2).fill(2n);
  expect(padded.slice(1).tolist()).toEqual([...one.data.slice(0, 2), ...filling]);
  expect(await failureOf(async () => to_tokens(await load('models/gpt2/odd'), 'x'))).toMatchObject({
    code: 'unsupported',
  });
});

it.each(['clip/even', 'siglip/odd'])('decomposes the stream of the tower of texts: %s', async (name) => {
  await using model = await AutoModelForZeroShotImageClassification.from_pretrained(fixturePath(`models/${name}`));
  const { num_channels = 3, image_size } = model.config.vision_config as Record<string, number>;
  const dims = [1, num_channels, Number(image_size), Number(image_size)];
  const data = Float32Array.from({ length: dims.reduce((product, dim) => product * dim) }, (_, at) => Math.sin(at));
  const [, cache] = await model.run_with_cache({ input_ids, pixel_values: { data, dims } });
  const { labels, components } = await decompose_resid(model, cache);
  expect(labels.slice(0, 3)).toEqual(['embed', 'pos_embed', '0_attn_out']);
  const { components: streams } = await accumulated_resid(model, cache);
  expect(difference(total(components), streams.slice(-1) as Float)).toBeLessThan(1e-6);
  const { components: scaled } = await decompose_resid(model, cache, { apply_ln: true });
  expect(difference(total(scaled), cache['text_model.ln_final.hook_normalized'] as Float)).toBeLessThan(2e-6);
});

it('ends with what the feed-forward network reads', async () => {
  await using parallel = await load('models/phi/even');
  const [, cache] = await parallel.run_with_cache({ input_ids });
  const mlp = { layer: 1, mlp_input: true };
  expect((await accumulated_resid(parallel, cache, mlp)).labels).toEqual(['0_pre', '1_pre']);
  const { components } = await decompose_resid(parallel, cache, { ...mlp, apply_ln: true });
  expect(difference(total(components), cache['blocks.1.ln1.hook_normalized'] as Float)).toBeLessThan(2e-6);
  await using t5 = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/odd'));
  const [, both] = await t5.run_with_cache({ input_ids, decoder_input_ids: input_ids });
  const of = { layer: 0, mlp_input: true, apply_ln: true };
  const stack = await accumulated_resid(t5, both, of);
  const read = both['decoder.0.ln3.hook_normalized'] as Float;
  expect(difference(stack.components.slice(-1).squeeze(0) as Float, read)).toBeLessThan(2e-6);
  expect(difference(total((await decompose_resid(t5, both, of)).components), read)).toBeLessThan(2e-6);
});

it('refuses models whose stream is no such sum', async () => {
  await using bert = await AutoModelForMaskedLM.from_pretrained(fixturePath('models/bert/odd_masked_lm'));
  const [, cache] = await bert.run_with_cache({ input_ids });
  const { components } = await accumulated_resid(bert, cache);
  for (const refused of [
    () => decompose_resid(bert, cache),
    () => stack_head_results(bert, cache),
    () => accumulated_resid(bert, cache, { apply_ln: true }),
    () => logit_attrs(bert, cache, components, 5),
  ]) {
    expect(await failureOf(refused)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('post-norm'),
    });
  }
  await using gemma = await load('models/gemma2/odd');
  const [, own] = await gemma.run_with_cache({ input_ids });
  expect(await failureOf(() => stack_head_results(gemma, own))).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('ln1_post'),
  });
});
