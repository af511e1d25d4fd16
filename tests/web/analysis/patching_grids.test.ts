// TransformerLens' patching grids, direct paths and path patching against PyTorch (tests/references/patching.py).

import * as clearformer from 'clearformer';
import {
  type ActivationCache,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  causalTracing,
  type GenerativeModel,
  get_act_patch_attn_head_by_pos_every,
  get_act_patch_attn_head_k_by_pos,
  get_act_patch_attn_head_pattern_by_pos,
  get_act_patch_block_every,
  get_act_patch_direct_path,
  get_act_patch_direct_path_all_sources,
  get_act_patch_resid_mid,
  get_act_patch_resid_pre,
  type HookName,
  logitDifference,
  type ModelInputs,
  type PatchingGrid,
  pathPatching,
  type Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { casesOf, expectClose, fixturePath, idRows, tensorsOf } from '../support/references.js';
import { optionsFor, variants } from '../support/variants.js';

type Floats = Tensor<'float32'>;
const cases = casesOf('patching');
const grids = Object.entries(clearformer).filter(([name]) => name.startsWith('get_act_patch_')) as [
  string,
  PatchingGrid,
][];

describe.each(variants.flatMap((variant) => cases.map((one) => [variant, one.name, one] as const)))(
  '%s: %s',
  (variant, _, one) => {
    const reference = tensorsOf('patching', one);
    const [right = 0, wrong = 0] = one.options.tokens as number[];
    const metric = logitDifference(right, wrong);
    const clean = { input_ids: idRows(reference('clean')) };
    const corrupted = { input_ids: idRows(reference('corrupted')) };
    const results = Object.keys(one.outputs).map((name) => name.replace(/_result$/, ''));
    const wanted = (name: string) => reference(`${name}_result`);
    let model: GenerativeModel;
    let right_cache: ActivationCache;
    let wrong_cache: ActivationCache;
    beforeAll(async () => {
      const folder = fixturePath(one.options.checkpoint as string);
      model = await AutoModelForCausalLM.from_pretrained(folder, optionsFor(variant));
      [, right_cache] = await model.run_with_cache(clean);
      [, wrong_cache] = await model.run_with_cache(corrupted);
    });
    afterAll(() => model.dispose());

    it.each(grids.filter(([name]) => results.includes(name.replace('get_act_patch_', ''))))(
      '%s',
      async (name, grid) => {
        const found = await grid(model, corrupted, right_cache, metric);
        expectClose(name, found, wanted(name.replace('get_act_patch_', '')));
      },
    );

    it('has every grid of the reference', () => {
      const known = grids.map(([name]) => name.replace('get_act_patch_', ''));
      const paths = /^(direct_path_|path_to_|clean$|corrupted$)/;
      expect(results.filter((name) => !paths.test(name) && !known.includes(name))).toEqual([]);
    });

    it.each(['q', 'k', 'v'] as const)('direct paths to %s', async (component) => {
      const caches = [right_cache, wrong_cache] as const;
      const options = { src_layer: 0, src_head: 1, component };
      const found = await get_act_patch_direct_path(model, corrupted, ...caches, metric, options);
      expectClose(component, found, wanted(`direct_path_${component}`));
      const all = await get_act_patch_direct_path_all_sources(model, corrupted, ...caches, metric, { component });
      expect(all.slice(0, 1, null, null).data).toEqual(found.data);
      expect(all.dims).toEqual([2, model.cfg.n_heads, ...found.dims]);
      const one = get_act_patch_direct_path_all_sources(model, corrupted, ...caches, metric, options as object);
      expect((await failureOf(() => one)).message).toContain('src_layer');
    });

    it.each(['recomputed', 'frozen'] as const)('paths, MLPs %s', async (mlps) => {
      const options = { base: clean, source: corrupted, metric, mlps };
      const direct = await pathPatching(model, options);
      expectClose('logits', direct.patched, wanted(`path_to_logits_${mlps}`));
      expect(direct.base).toBeCloseTo(Number(wanted('clean').data[0]), 4);
      const receivers = [['q', 0], ['q', 1], ['v', 0]].map(([part, head]) => ({ part, layer: 1, head })) as never; // biome-ignore format: a list
      const { patched } = await pathPatching(model, { ...options, receivers });
      expectClose('heads', patched, wanted(`path_to_heads_${mlps}`));
    });
  },
);

describe('grids of one model', () => {
  const clean: ModelInputs = { input_ids: [[6, 9, 40, 20, 7]] };
  const corrupted: ModelInputs = { input_ids: [[6, 10, 40, 20, 7]] };
  const metric = logitDifference(11, 12);
  const load = () => AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/odd'));

  it('stacks them as TransformerLens does, grouped heads followed by zeros', async () => {
    const model = await load();
    const [, cache] = await model.run_with_cache(clean);
    const every = await get_act_patch_attn_head_by_pos_every(model, corrupted, cache, metric);
    expect(every.dims).toEqual([5, 2, 5, 3]);
    const keys = await get_act_patch_attn_head_k_by_pos(model, corrupted, cache, metric);
    expect(keys.dims).toEqual([2, 5, 1]);
    expect((every.slice(2, null, null, 0) as Floats).data).toEqual(keys.data);
    expect([...(every.slice(2, null, null, [1, 3]) as Floats).data].every((value) => value === 0)).toBe(true);
    const pattern = await get_act_patch_attn_head_pattern_by_pos(model, corrupted, cache, metric);
    expect(pattern.dims).toEqual([2, 3, 5]);
    expect(every.slice(4)).toEqual(pattern.permute(0, 2, 1));
    const blocks = await get_act_patch_block_every(model, corrupted, cache, metric);
    expect(blocks.dims).toEqual([3, 2, 5]);
    expect(blocks.slice(0)).toEqual(await get_act_patch_resid_pre(model, corrupted, cache, metric));
    await model.dispose();
  });

  it('names what is missing', async () => {
    const model = await load();
    const [, cache] = await model.run_with_cache(clean, { names_filter: 'blocks.0.hook_resid_pre' });
    expect(await failureOf(() => get_act_patch_resid_pre(model, corrupted, cache, metric))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('blocks.1.hook_resid_pre'),
    });
    const options = { src_layer: 0, src_head: 0 };
    const direct = () => get_act_patch_direct_path(model, corrupted, cache, cache, metric, options);
    expect((await failureOf(direct)).message).toContain('blocks.0.attn.hook_z');
    const [, whole] = await model.run_with_cache(clean);
    const from = (src_layer: number, src_head: number) =>
      get_act_patch_direct_path(model, corrupted, whole, whole, metric, { src_layer, src_head });
    expect((await from(1, 0)).dims).toEqual([2, model.cfg.n_heads]);
    const sources: [number, number][] = [[0, -1], [0, 99], [-1, 0], [2, 0]]; // biome-ignore format: a list
    for (const source of sources) {
      expect((await failureOf(() => from(...source))).message).toMatch(/src_(layer|head): -?\d+, not 0 to/);
    }
    for (const rows of [
      [[6, 9, 40, 20]],
      [
        [6, 9, 40, 20, 7],
        [3, 4, 5, 6, 7],
      ],
    ]) {
      // biome-ignore format: rows
      const [, shorter] = await model.run_with_cache({ input_ids: rows });
      for (const grid of [
        () => get_act_patch_resid_pre(model, corrupted, shorter, metric),
        () => get_act_patch_attn_head_pattern_by_pos(model, corrupted, shorter, metric),
        () => get_act_patch_direct_path(model, corrupted, shorter, whole, metric, options),
      ]) {
        expect((await failureOf(grid)).code).toBe('shape_mismatch');
      }
    }
    const receivers = [{ part: 'k', layer: 1, head: 1 }] as const;
    const path = () => pathPatching(model, { base: clean, source: corrupted, metric, receivers });
    expect(await failureOf(path)).toMatchObject({ code: 'invalid_argument' });
    const other = () => pathPatching(model, { base: clean, source: { input_ids: [[5, 6]] }, metric });
    expect(await failureOf(other)).toMatchObject({ code: 'shape_mismatch' });
    const parallel = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt_neox/even'));
    const mid = () => get_act_patch_resid_mid(parallel, corrupted, cache, metric);
    expect((await failureOf(mid)).message).toContain('hook_resid_mid');
    await parallel.dispose();
    await model.dispose();
  });
});

describe.each(['bart/even', 't5/odd'])('paths in a decoder: %s', (folder) => {
  const given = (...decoder_input_ids: number[]) => ({
    input_ids: [[3, 9, 4]],
    decoder_input_ids: [decoder_input_ids],
  });
  const [base, source] = [given(3, 9, 4, 20), given(3, 11, 4, 8)];
  const metric = logitDifference(5, 11);

  it('do not lead through cross-attention', async () => {
    await using model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath(`models/${folder}`));
    const [, own] = await model.run_with_cache(base);
    const [, other] = await model.run_with_cache(source);
    const { n_layers, n_heads } = model.cfg;
    const names = Object.keys(own) as HookName[];
    const ofLayer = (name: string) => Number(/^decoder\.(\d+)/.exec(name)?.[1]);
    /** The metric with a head's output of the source, others of its layer and behind as in the base. */
    const alone = async (layer: number, head: number, kept: (name: string) => boolean) => {
      const frozen = names.filter(kept).map((hook) => ({ hook, op: 'replace', value: own[hook] as Floats }) as const);
      const hook: HookName = `decoder.${layer}.attn.hook_z`;
      const value = (other[hook] as Floats).slice(null, null, head, null) as Floats;
      return metric(await model.run_with_hooks(base, { edits: [{ hook, head, op: 'replace', value }, ...frozen] }));
    };
    for (const mlps of ['recomputed', 'frozen'] as const) {
      const { patched } = await pathPatching(model, { base, source, metric, mlps });
      let open = 0;
      for (let layer = 0; layer < n_layers; layer++) {
        for (let head = 0; head < n_heads; head++) {
          const behind = (name: string) =>
            (name.endsWith('.attn.hook_z') && ofLayer(name) > layer) ||
            (mlps === 'frozen' && name.endsWith('hook_mlp_out') && ofLayer(name) >= layer);
          const crossed = (name: string) => name.endsWith('.cross_attn.hook_z') && ofLayer(name) >= layer;
          const wanted = await alone(layer, head, (name) => behind(name) || crossed(name));
          expect(patched.data[layer * n_heads + head]).toBe(Math.fround(wanted));
          if (wanted !== (await alone(layer, head, behind))) open++;
        }
      }
      expect(open).toBe(n_layers * n_heads); // through cross-attention more would come
    }
  });
});

it('direct paths are refused where a norm follows the heads', async () => {
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gemma2/even'));
  const inputs = { input_ids: [[6, 9, 40, 20, 7]] };
  const [, cache] = await model.run_with_cache(inputs);
  const options = { src_layer: 0, src_head: 0 };
  const direct = () => get_act_patch_direct_path(model, inputs, cache, cache, logitDifference(11, 12), options);
  expect(await failureOf(direct)).toMatchObject({ code: 'unsupported', message: expect.stringContaining('ln1_post') });
});

it('direct paths are refused where weights of two stacks are not folded', async () => {
  await using model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/odd'));
  const inputs = { input_ids: [[6, 9, 40]], decoder_input_ids: [[6, 9]] };
  const [, cache] = await model.run_with_cache(inputs);
  const options = { src_layer: 0, src_head: 0 };
  const direct = () => get_act_patch_direct_path(model, inputs, cache, cache, logitDifference(11, 12), options);
  expect(await failureOf(direct)).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('get_act_patch_direct_path: t5: only'),
  });
});

describe('causalTracing', () => {
  const inputs = { input_ids: [[6, 9, 40, 20, 7]] };
  const metric = logitDifference(11, 12);
  const given = { inputs, subject: [1, 2], noise: 0.4, samples: 3, seed: 5, metric };

  it.each([
    [undefined, 1],
    ['blocks.*.hook_mlp_out', 2],
  ] as const)('restores %s in %d layers', async (hook, window) => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const found = await causalTracing(model, { ...given, hook, window });
    expect(found.restored.dims).toEqual([2, 5]);
    const [logits, cache] = await model.run_with_cache(inputs);
    expect(found.clean).toBe(await metric(logits));
    const base = { input_ids: [0, 1, 2].map(() => inputs.input_ids[0] as number[]) };
    const noise = { hook: 'hook_embed', pos: [1, 2], op: 'noise', value: 0.4, seed: 5 } as const;
    expect(found.corrupted).toBe(await metric(await model.run_with_hooks(base, { edits: [noise] })));
    expect(found.corrupted).not.toBe(found.clean);
    for (let layer = 0; layer < 2; layer++) {
      for (let pos = 0; pos < 5; pos++) {
        const from = Math.max(0, layer - Math.floor(window / 2));
        const hooks = found.hooks.slice(from, layer - Math.floor(window / 2) + window);
        const restored = hooks.map((name) => {
          const value = (cache[name] as Floats).slice(null, pos, null) as Floats;
          return { hook: name, pos, op: 'replace', value } as const;
        });
        const alone = await metric(await model.run_with_hooks(base, { edits: [noise, ...restored] }));
        expect(found.restored.data[layer * 5 + pos]).toBe(Math.fround(alone));
      }
    }
    await model.dispose();
  });

  it.each(['hook_embed', 'ln_final.hook_normalized'] as const)('restores %s, which no layer has', async (hook) => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const { corrupted, clean, restored } = await causalTracing(model, { ...given, subject: [2], hook });
    expect(restored.dims).toEqual([1, 5]);
    const [untouched, whole] = hook === 'hook_embed' ? [1, 2] : [1, 4];
    expect(restored.data[untouched]).toBe(Math.fround(corrupted));
    expect(restored.data[whole]).toBeCloseTo(clean, 5);
  });

  it.each([
    [{ noise: 0 }, 'noise'],
    [{ noise: Symbol('some') as never }, 'noise'],
    [{ samples: 1.5 }, 'samples'],
    [{ window: 0 }, 'window'],
    [{ subject: [] }, 'subject'],
    [{ subject: [9] }, '9'],
    [{ inputs: { input_ids: [[1, 2, 3], [4, 5, 6]] } }, 'one text'], // biome-ignore format: two rows
  ])('refuses %j', async (wrong, part) => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    expect(await failureOf(() => causalTracing(model, { ...given, ...wrong }))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(part),
    });
    await model.dispose();
  });

  it.each(['decoder.*.hook_resid_post', 'encoder.*.hook_resid_post'] as const)('in %s', async (hook) => {
    await using model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
    const both = { ...inputs, decoder_input_ids: [[3, 9, 4, 20]] };
    const found = await causalTracing(model, { ...given, inputs: both, hook });
    expect(found.corrupted).not.toBe(found.clean);
    expect(found.restored.dims[1]).toBe(hook.startsWith('encoder') ? 5 : 4);
  });
});

describe('refusals name the function that was called', () => {
  const metric = logitDifference(1, 2);
  const inputs = { input_ids: [[5, 6, 7]] };
  const shorter = { input_ids: [[5, 6]] };
  let model: GenerativeModel;
  let cache: ActivationCache;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker: false });
    [, cache] = await model.run_with_cache(inputs);
  });
  afterAll(() => model.dispose());

  it.each(grids)('%s', async (name, grid) => {
    const direct = name.includes('direct_path');
    const other = name.endsWith('direct_path') ? { src_layer: 0, src_head: 1 } : {};
    const call = async (clean: ActivationCache, measure: unknown, options = {}) => {
      const given = direct ? [cache, measure, { ...other, ...options }] : [measure, options];
      const [code, message] = await (grid as unknown as (...given: unknown[]) => Promise<unknown>)(
        model,
        inputs,
        clean,
        ...given,
      ).then(
        () => ['no failure', ''],
        (failure) => [failure.code, failure.message],
      );
      return message.startsWith(`${name}: `) ? code : `${code}: ${message}`;
    };
    const [, short] = await model.run_with_cache(shorter);
    expect(await call({} as ActivationCache, metric)).toBe('invalid_argument');
    expect(await call(short, metric)).toBe('shape_mismatch');
    expect(await call(cache, 3)).toBe('invalid_argument');
    expect(await call(cache, () => 'x')).toBe('invalid_argument');
    expect(await call(cache, metric, { foo: 1 })).toBe('unsupported');
  });

  it('pathPatching and causalTracing', async () => {
    const none = 3 as unknown as typeof metric;
    for (const [name, call] of Object.entries({
      pathPatching: () => pathPatching(model, { base: inputs, source: inputs, metric: none }),
      causalTracing: () => causalTracing(model, { inputs, subject: [1], noise: 1, metric: none }),
    })) {
      expect((await failureOf(call)).message).toBe(`${name}: metric must be a function of the logits`);
    }
    const { message } = await failureOf(() => pathPatching(model, { base: inputs, source: shorter, metric }));
    expect(message).toBe('pathPatching: blocks.0.attn.hook_z is [1, 3, 3, 10] on base, [1, 2, 3, 10] on source');
  });
});
