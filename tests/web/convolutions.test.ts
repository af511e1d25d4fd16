// Models of whose layers some are convolutions in place of attention (LFM2): what their caches, attention maps, analyses
// and pipelines do without the patterns and keys of these layers.

import {
  AutoModelForCausalLM,
  acdc,
  attentionRollout,
  copyCache,
  DynamicCache,
  detectHeads,
  edgeAttribution,
  get_act_patch_direct_path,
  LensWeights,
  Lfm2ForCausalLM,
  pathPatching,
  stack_head_results,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { expectAnswersAgain, expectSweepOfWholePasses } from './support/mixers.js';
import { fixturePath } from './support/references.js';

const here = { worker: false } as const;
const load = (size = 'even') => AutoModelForCausalLM.from_pretrained(fixturePath(`models/lfm2/${size}`), here);
const convolutions = [0, 2, 3]; // of the layers of `even`
const ids = [[5, 9, 14, 20, 7, 33, 41, 8]];
const other = [[5, 9, 14, 21, 7, 33, 41, 8]];
const textOf = (length: number) => [Array.from({ length }, (_, at) => 5 + ((at * at * 7 + at) % 50))];

describe('a model with convolutions', () => {
  it('has hook points of each layer for what it is', async () => {
    await using model = await Lfm2ForCausalLM.from_pretrained(fixturePath('models/lfm2/even'), here);
    const names = model.hooks({ on_request: true }).map(({ name }) => name);
    const within = (layer: number) => names.filter((name) => name.startsWith(`blocks.${layer}.`));
    expect(within(0).filter((name) => name.includes('.conv.'))).toEqual(
      ['hook_b', 'hook_c', 'hook_x', 'hook_conv'].map((leaf) => `blocks.0.conv.${leaf}`),
    );
    expect(within(0).some((name) => name.includes('attn.'))).toBe(false);
    expect(within(1).some((name) => name.includes('conv'))).toBe(false);
    for (const layer of [0, 1]) expect(within(layer)).toContain(`blocks.${layer}.hook_attn_out`);
    const out = await model({ input_ids: ids }, { output_attentions: true, output_hidden_states: true });
    expect([out.attentions?.length, out.hidden_states?.length]).toEqual([1, 5]); // as transformers: of attention alone
  });

  it('computes its convolution from what an edit leaves of its gates', async () => {
    await using model = await load();
    const edits = [{ hook: 'blocks.0.conv.hook_c', op: 'scale', value: 2 } as const];
    const twice = [{ hook: 'blocks.0.hook_attn_out', op: 'scale', value: 2 } as const]; // out is linear in C
    const [one, two] = [edits, twice].map((given) => model.run_with_hooks({ input_ids: ids }, { edits: given }));
    expect((await one)?.tolist()).toEqual((await two)?.tolist());
  });

  it('goes back in a cache as far as its convolutions keep their inputs', async () => {
    await using model = await load();
    const text = textOf(600);
    const whole = (await model({ input_ids: text })).logits?.slice(null, [590, null]).tolist();
    await using past_key_values = new DynamicCache();
    await model({ input_ids: [text[0]?.slice(0, 580) as number[]], past_key_values });
    await using copy = await copyCache(past_key_values, { length: 17 }); // of the latest call all is kept
    expect(await copy.get_seq_length()).toBe(17);
    await model({ input_ids: [text[0]?.slice(580) as number[]], past_key_values });
    await past_key_values.crop(590);
    const rest = await model({ input_ids: [text[0]?.slice(590) as number[]], past_key_values });
    expect(rest.logits?.tolist()).toEqual(whole);
    const error = { code: 'unsupported', message: expect.stringContaining('layer 0 is a convolution') };
    await expect(past_key_values.crop(17)).rejects.toMatchObject(error);
    await expect(copyCache(past_key_values, { length: 17 })).rejects.toMatchObject(error);
    expect(await past_key_values.get_seq_length()).toBe(600);
    const none = {
      code: 'invalid_argument',
      message: expect.stringMatching(/^key\/value cache: there (are no|is no)/),
    };
    await expect(past_key_values.crop(2 ** 32)).rejects.toMatchObject(none);
    await expect(copyCache(past_key_values, { length: 2 ** 32 + 2 })).rejects.toMatchObject(none);
    await expect(copyCache(past_key_values, { rows: [2 ** 32] })).rejects.toMatchObject(none);
    expect(await past_key_values.get_seq_length()).toBe(600);
    await past_key_values.crop(0);
    expect(await past_key_values.get_seq_length()).toBe(0);
  });

  it('goes back less far once it has gone back', async () => {
    await using model = await load();
    const text = textOf(700)[0] as number[];
    await using past_key_values = new DynamicCache();
    await model({ input_ids: [text.slice(0, 400)], past_key_values });
    for (const token of text.slice(400)) await model({ input_ids: [[token]], past_key_values });
    await past_key_values.crop(500);
    await model({ input_ids: [[1]], past_key_values });
    await expect(past_key_values.crop(301)).rejects.toMatchObject({ code: 'unsupported' });
    await past_key_values.crop(450);
  });

  it('is named with the layers that have no attention by what needs all of them', async () => {
    await using model = await load();
    const [, cache] = await model.run_with_cache({ input_ids: ids });
    const both = { base: { input_ids: ids }, source: { input_ids: other } };
    const metric = (logits: Tensor<'float32'>) => logits.data[0] as number;
    const refused = { code: 'unsupported', message: expect.stringContaining(convolutions.join(', ')) };
    const [clean, corrupted] = [{ input_ids: ids }, { input_ids: other }];
    await expect(acdc(model, { ...both, threshold: 0.1 })).rejects.toMatchObject(refused);
    await expect(pathPatching(model, { ...both, metric })).rejects.toMatchObject(refused);
    await expect(
      edgeAttribution(model, { clean, corrupted, metric: { logits: [{ pos: -1, token: 3 }] } }),
    ).rejects.toMatchObject(refused);
    await expect(
      get_act_patch_direct_path(model, corrupted, cache, cache, metric, { src_layer: 1, src_head: 0 }),
    ).rejects.toMatchObject(refused);
    expect(() => attentionRollout(cache as never)).toThrow('the cache lacks blocks.0.attn.hook_pattern');
    await expect(model.parameter('blocks.0.attn.W_Q')).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('has heads, scores and parts of the layers with attention', async () => {
    await using model = await load();
    const { heads, scores } = await detectHeads(model, { threshold: 0 });
    expect(new Set(heads.map(({ layer }) => layer))).toEqual(new Set([1]));
    for (const score of Object.values(scores)) expect((score as Tensor).dims).toEqual([1, 4]);
    const [, cache] = await model.run_with_cache({ input_ids: ids });
    const { labels } = await stack_head_results(model, cache);
    expect(labels).toEqual(['L1H0', 'L1H1', 'L1H2', 'L1H3']);
    const composed = await new LensWeights(model).all_composition_scores('K');
    expect(composed.dims).toEqual([4, 4, 4, 4]);
    expect(composed.data.every((value) => value === 0)).toBe(true); // there is no pair of such layers
  });

  it('shares the beginning of the text between the passes of a sweep', async () => {
    await using model = await load('odd');
    await expectSweepOfWholePasses(model, ids, other);
  });

  it('answers a conversation again whose answer is too long to go back over', async () => {
    await expectAnswersAgain('models/lfm2/even', 600);
  });

  it('has gradients of all weights of its convolutions', async () => {
    await using model = await load('odd');
    const weights = (await model.named_parameters()).map(({ name }) => name).filter((name) => name.includes('.conv.'));
    expect(weights.length).toBe(12); // three of the layer's matrices are one in the file
    const metric = { labels: ids };
    const found = await model.backward({ input_ids: ids }, { metric, with_respect_to: { weights } });
    for (const name of weights) expect(found.weights[name]?.data.every(Number.isFinite), name).toBe(true);
    expect(weights.filter((name) => found.weights[name]?.data.every((value) => value === 0))).toEqual([]);
  });
});
