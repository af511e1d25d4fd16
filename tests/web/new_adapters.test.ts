// New LoRA adapters: their modules are those that PEFT finds in transformers' models (tests/references/
// adapter_modules.py), they begin as PEFT's, are trained, saved, and merged into the weights.

import { readFileSync } from 'node:fs';
import {
  AdamW,
  type AutoModelClass,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  type LoraConfig,
  type PreTrainedModel,
  type SavedFiles,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

/** By the names that the references have. */
const classes = await import('clearformer');
const input_ids = [[3, 9, 4, 20, 7]];
const labels = [[3, 9, 4, 20, 7]];
const gpt2 = (options = {}) => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'), options);
const llama = (options = {}) => AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), options);

async function logitsOf(model: PreTrainedModel): Promise<Float32Array> {
  return ((await model({ input_ids })) as unknown as { logits: Tensor<'float32'> }).logits.data;
}

function worst(one: ArrayLike<number>, other: ArrayLike<number>): number {
  expect(one.length).toBe(other.length);
  return Array.from(one).reduce((most, value, at) => Math.max(most, Math.abs(value - Number(other[at]))), 0);
}

const configIn = (files: SavedFiles) =>
  JSON.parse(new TextDecoder().decode(files['adapter_config.json'])) as LoraConfig & { target_modules: string[] };

/** The tensors of adapter_model.safetensors. */
function matricesIn(files: SavedFiles): Map<string, { shape: number[]; data: Float32Array }> {
  const file = (files['adapter_model.safetensors'] as Uint8Array).slice();
  const start = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, start)));
  expect(header.__metadata__).toEqual({ format: 'pt' });
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
  return new Map(
    entries.map(([name, info]) => {
      const { shape, data_offsets } = info as { shape: number[]; data_offsets: [number, number] };
      const bytes = file.slice(start + data_offsets[0], start + data_offsets[1]);
      return [name, { shape, data: new Float32Array(bytes.buffer) }];
    }),
  );
}

const references = Object.entries(
  JSON.parse(readFileSync(fixturePath('adapters/modules.json'), 'utf8')) as Record<
    string,
    { class: keyof typeof classes; modules: Record<string, [inputs: number, outputs: number]> }
  >,
);

describe('add_adapter', () => {
  it.each(references)(
    '%s: all linear layers are those of transformers',
    async (checkpoint, { class: name, modules }) => {
      const auto = classes[name] as AutoModelClass<PreTrainedModel>;
      await using model = await auto.from_pretrained(fixturePath(`models/${checkpoint}`), { worker: false });
      await model.add_adapter({ r: 3, target_modules: 'all-linear' });
      const files = await model.save_adapter('default');
      expect([...configIn(files).target_modules].sort()).toEqual(Object.keys(modules).sort());
      const expected = Object.entries(modules).flatMap(([module, [inputs, outputs]]) => [
        [`base_model.model.${module}.lora_A.weight`, [3, inputs]],
        [`base_model.model.${module}.lora_B.weight`, [outputs, 3]],
      ]);
      const shapes = [...matricesIn(files)].map(([tensor, { shape }]) => [tensor, shape] as const);
      expect(Object.fromEntries(shapes)).toEqual(Object.fromEntries(expected));
    },
  );

  it('changes nothing at first: B is zero, A uniform as by kaiming_uniform_ with a = √5', async () => {
    for (const worker of [false, true]) {
      await using model = await gpt2({ worker });
      const before = await logitsOf(model);
      expect(await model.add_adapter({ r: 64 })).toBe('default');
      expect(await model.active_adapters()).toEqual(['default']);
      expect(await logitsOf(model)).toEqual(before);
      const files = await model.save_adapter('default');
      expect(configIn(files)).toEqual({
        ...{ peft_type: 'LORA', r: 64, lora_alpha: 8, target_modules: ['c_attn'], inference_mode: true },
      });
      for (const [name, { data, shape }] of matricesIn(files)) {
        if (name.includes('lora_B')) expect(data.every((value) => value === 0)).toBe(true);
        if (name.includes('lora_B')) continue;
        expect(shape).toEqual([64, 32]);
        const bound = 1 / Math.sqrt(32);
        const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        expect(largest).toBeLessThanOrEqual(bound * (1 + 2 ** -24));
        expect(largest).toBeGreaterThan(0.99 * bound); // of 2048 numbers: P < 1e-8 of less
        // The mean square of uniform numbers is bound²/3, ± 2 % (the standard deviation of the mean of 2048 squares).
        const square = data.reduce((sum, value) => sum + value * value, 0) / data.length;
        expect(Math.abs(square / (bound ** 2 / 3) - 1)).toBeLessThan(0.1);
      }
    }
  });

  it('begins with gaussian A, of deviation 1/r of its module, and with false with both uniform', async () => {
    await using model = await gpt2({ worker: false });
    const targets = { target_modules: ['c_attn', 'c_fc'], rank_pattern: { c_fc: 40 } };
    await model.add_adapter({ r: 80, init_lora_weights: 'gaussian', ...targets });
    for (const [name, { data, shape }] of matricesIn(await model.save_adapter('default'))) {
      const rank = name.includes('c_fc') ? 40 : 80;
      expect(shape[name.includes('lora_A') ? 0 : 1]).toBe(rank);
      const square = data.reduce((sum, value) => sum + value * value, 0) / data.length;
      // Mean squares of at least 1280 normal numbers: deviation √(2/1280) = 4 %.
      if (name.includes('lora_A')) expect(Math.abs(square * rank ** 2 - 1)).toBeLessThan(0.2);
      else expect(square).toBe(0);
    }
    const before = await logitsOf(model);
    await model.add_adapter({ r: 2, init_lora_weights: false }, { adapter_name: 'both' });
    for (const [name, { data }] of matricesIn(await model.save_adapter('both'))) {
      const bound = 1 / Math.sqrt(name.includes('lora_A') ? 32 : 2);
      const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      expect(largest / bound).toBeGreaterThan(0.9);
      expect(largest / bound).toBeLessThanOrEqual(1 + 2 ** -24);
    }
    expect(worst(await logitsOf(model), before)).toBeGreaterThan(1e-3);
  });

  it('has the same numbers for a seed, and others for another', async () => {
    await using model = await gpt2({ worker: false });
    const filesOf = async (adapter_name: string, seed?: number) => {
      await model.add_adapter({ r: 4 }, { adapter_name, seed });
      return (await model.save_adapter(adapter_name))['adapter_model.safetensors'];
    };
    const first = await filesOf('a');
    expect(await filesOf('b', 0)).toEqual(first);
    expect(await filesOf('c', 1)).not.toEqual(first);
  });

  it.each<[string, string, LoraConfig, RegExp]>([
    ['mpt/even', 'the default', {}, /Wqkv$/],
    ['phi/even', 'the default', {}, /(q_proj|v_proj|fc1|fc2)$/],
    ['gemma3_text/even', 'the default', {}, /(q_proj|v_proj)$/],
    ['gpt2/even', 'an expression', { target_modules: String.raw`.*h\.1\..*(c_fc|c_attn)` }, /h\.1\..*(c_fc|c_attn)$/],
    ['gpt2/even', 'layers', { layers_to_transform: [1], layers_pattern: 'h' }, /h\.1\.attn\.c_attn$/],
    ['gpt2/even', 'all but', { target_modules: ['c_proj'], exclude_modules: ['attn.c_proj'] }, /mlp\.c_proj$/],
    ['gpt2/even', 'task_type', { task_type: 'CAUSAL_LM', lora_dropout: 0, bias: 'none' }, /c_attn$/],
  ])('of %s with %s', async (checkpoint, _, config, modules) => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath(`models/${checkpoint}`), {
      worker: false,
    });
    await model.add_adapter(config);
    const expected = (await model.named_parameters())
      .map(({ name }) => name.replace(/\.weight$/, ''))
      .filter((name) => modules.test(name));
    const found = [...matricesIn(await model.save_adapter('default')).keys()].filter((name) => name.includes('lora_A'));
    expect(found.map((name) => name.replace(/^base_model\.model\.|\.lora_A\.weight$/g, '')).sort()).toEqual(
      expected.sort(),
    );
    expect(expected.length).toBeGreaterThan(0);
  });

  it('names ViT’s modules as they are asked for, in transformers 5 or before', async () => {
    const checkpoint = fixturePath('models/vit/even_image_classification');
    await using model = await AutoModelForImageClassification.from_pretrained(checkpoint, { worker: false });
    for (const [target, path] of [
      ['value', 'vit.encoder.layer.0.attention.attention.value'],
      ['v_proj', 'vit.layers.0.attention.v_proj'],
    ] as const) {
      await model.add_adapter({ target_modules: [target] }, { adapter_name: target });
      const names = [...matricesIn(await model.save_adapter(target)).keys()];
      expect(names).toContain(`base_model.model.${path}.lora_A.weight`);
    }
  });

  it('is trained while the weights stay, and what is saved is the same in another model', async () => {
    await using model = await gpt2({ worker: false, deterministic: true });
    const weight = await model.parameter('transformer.h.0.attn.c_attn.weight');
    const before = await logitsOf(model);
    await model.add_adapter({ r: 4, lora_alpha: 16, target_modules: ['c_attn', 'c_fc'] });
    await using optimizer = new AdamW(model, { adapter: 'default', lr: 0.02 });
    const losses: number[] = [];
    for (let step = 0; step < 20; step++) {
      losses.push(await optimizer.backward({ input_ids, labels }));
      await optimizer.step();
    }
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) / 2);
    expect((await model.parameter('transformer.h.0.attn.c_attn.weight')).data).toEqual(weight.data);
    const trained = await logitsOf(model);
    await using other = await gpt2({ worker: false, deterministic: true });
    await other.load_adapter(await model.save_adapter('default'));
    expect(await logitsOf(other)).toEqual(trained);
    await model.disable_adapters();
    expect(await logitsOf(model)).toEqual(before);
  });

  it('and what follows need not be awaited', async () => {
    await using model = await gpt2({ worker: false });
    const added = model.add_adapter({});
    await using optimizer = new AdamW(model, { adapter: 'default' });
    const losses = [
      optimizer.backward({ input_ids, labels }),
      optimizer.step(),
      optimizer.backward({ input_ids, labels }),
    ];
    const merging = model.merge_and_unload();
    expect(await added).toBe('default');
    const [before = 0, , after = 0] = await Promise.all(losses);
    expect(after).toBeLessThan(before);
    expect(await merging).toBe(2);
  });

  it.each<[string, unknown, string, RegExp]>([
    ['no configuration', undefined, 'invalid_argument', /needs a LoraConfig, got undefined/],
    ['a list', [1], 'invalid_argument', /needs a LoraConfig/],
    [
      'a name of no module',
      { target_modules: ['c_attn', 'q_proj'] },
      'invalid_argument',
      /of q_proj; .* c_attn, c_proj/,
    ],
    ['no targets', { target_modules: [] }, 'invalid_argument', /no module is one of target_modules/],
    [
      'an expression of no module',
      { target_modules: '.*xyz' },
      'invalid_argument',
      /no module is one of target_modules/,
    ],
    ['no expression', { target_modules: '(' }, 'unsupported', /^add_adapter: the regular expression "\("/],
    ['embeddings', { target_modules: ['wte'] }, 'unsupported', /transformer\.wte is no linear layer/],
    ['norms', { target_modules: ['ln_1'] }, 'unsupported', /ln_1 is no linear layer/],
    ['a tied output layer', { target_modules: ['lm_head'] }, 'unsupported', /tied to the embedding/],
    ['a tied output layer among others', { target_modules: '.*(c_attn|lm_head)' }, 'unsupported', /tied/],
    [
      'layers that there are not',
      { layers_to_transform: [0, 99] },
      'invalid_argument',
      /layers_to_transform: .* of 99/,
    ],
    ['ranks of no module', { rank_pattern: { q: 2 } }, 'invalid_argument', /rank_pattern: .* of q;/],
    ['alphas of no module', { alpha_pattern: { q: 2 } }, 'invalid_argument', /alpha_pattern: .* of q;/],
    ['everything excluded', { exclude_modules: ['c_attn'] }, 'invalid_argument', /not excluded/],
    ['rank 0', { r: 0 }, 'invalid_argument', /^add_adapter: r is 0, no rank/],
    ['rank NaN', { r: Number.NaN }, 'invalid_argument', /r is NaN, no rank/],
    ['a rank that no memory has', { r: 1e9 }, 'out_of_memory', /bytes, and the engine's memory/],
    [
      'an alpha that is not finite',
      { lora_alpha: Number.POSITIVE_INFINITY },
      'invalid_argument',
      /lora_alpha is Infinity/,
    ],
    ['DoRA', { use_dora: true }, 'unsupported', /^add_adapter: use_dora true is not supported$/],
    ['trained biases', { bias: 'all' }, 'unsupported', /bias "all"/],
    ['lora_bias', { lora_bias: true }, 'unsupported', /lora_bias/],
    ['modules_to_save', { modules_to_save: ['lm_head'] }, 'unsupported', /modules_to_save/],
    ['a head that PEFT trains', { task_type: 'SEQ_CLS' }, 'unsupported', /task_type SEQ_CLS: .*modules_to_save/],
    ['dropout', { lora_dropout: 0.1 }, 'unsupported', /lora_dropout 0\.1/],
    ['another initialisation', { init_lora_weights: 'eva' }, 'unsupported', /only true, false and 'gaussian'/],
    ['PiSSA', { init_lora_weights: 'pissa' }, 'unsupported', /init_lora_weights "pissa"/],
    ['another method', { peft_type: 'IA3' }, 'unsupported', /only "LORA"/],
    ['keys that it does not have', { rank: 4 }, 'unsupported', /rank 4 is not supported/],
    ['what is no JSON', { r: 8n }, 'invalid_argument', /^add_adapter: /],
  ])('refuses %s', async (_, config, code, message) => {
    await using model = await gpt2({ worker: false });
    const failure = await failureOf(() => model.add_adapter(config as LoraConfig));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await model.active_adapters()).toEqual([]);
  });

  it('refuses names that are taken, unknown options, seeds that are none, and models without a default', async () => {
    await using model = await gpt2({ worker: false });
    await model.add_adapter({});
    const failures: [() => Promise<unknown>, string, RegExp][] = [
      [() => model.add_adapter({}), 'invalid_argument', /'default' exists already/],
      [() => model.add_adapter({}, { adapter_name: '' }), 'invalid_argument', /adapter_name/],
      [() => model.add_adapter({}, { seed: -1 }), 'invalid_argument', /seed, got -1/],
      [() => model.add_adapter({}, { name: 'a' } as object), 'unsupported', /unknown option 'name'/],
    ];
    for (const [failing, code, message] of failures) {
      expect(await failureOf(failing)).toMatchObject({ code, message: expect.stringMatching(message) });
    }
    const checkpoint = fixturePath('models/modernbert/even_masked_lm');
    await using other = await AutoModelForMaskedLM.from_pretrained(checkpoint, { worker: false });
    expect(await failureOf(() => other.add_adapter({}))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/no default for the model type modernbert; .* end with Wqkv, /),
    });
  });
});

describe('merge_and_unload', () => {
  it('makes adapters part of the weights, which are saved, and taken back', async () => {
    await using model = await llama({ worker: false, deterministic: true });
    const before = await logitsOf(model);
    await model.add_adapter({ r: 2, init_lora_weights: false, target_modules: 'all-linear' }, { adapter_name: 'a' });
    await model.add_adapter({ r: 3, init_lora_weights: false }, { adapter_name: 'b', seed: 1 });
    await model.set_adapter(['a', 'b'], { scale: [0.5, -1] });
    const adapted = await logitsOf(model);
    const linear = matricesIn(await model.save_adapter('a')).size / 2;
    expect(await model.merge_and_unload()).toBe(linear);
    const merged = await logitsOf(model);
    const scale = adapted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(worst(merged, adapted)).toBeLessThan(1e-5 * scale);
    expect(worst(merged, before)).toBeGreaterThan(0.1);
    expect(await model.active_adapters()).toEqual([]);
    expect(await failureOf(() => model.set_adapter('a'))).toMatchObject({ code: 'invalid_argument' });
    const saved = await model.save_pretrained();
    await using other = await AutoModelForCausalLM.from_pretrained(saved, { worker: false, deterministic: true });
    expect(await logitsOf(other)).toEqual(merged);
    await model.undo_edits();
    expect(await logitsOf(model)).toEqual(before);
  });

  it('merges those that are named, with their own scale', async () => {
    await using model = await llama({ worker: false, deterministic: true });
    await model.add_adapter({ init_lora_weights: false }, { adapter_name: 'a' });
    const adapted = await logitsOf(model);
    await model.add_adapter({ init_lora_weights: false }, { adapter_name: 'b', seed: 1 });
    await model.set_adapter(['b', 'a'], { scale: 3 });
    await model.merge_and_unload({ adapter_names: 'a' });
    const scale = adapted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(worst(await logitsOf(model), adapted)).toBeLessThan(1e-5 * scale);
  });

  it('refuses q8, and what is not in force; then nothing changes', async () => {
    const sizes = { vocab_size: 64, hidden_size: 256, intermediate_size: 32, num_hidden_layers: 1 };
    const config = { model_type: 'llama', ...sizes, num_attention_heads: 2, max_position_embeddings: 32 };
    const options = { worker: false, dtype: 'q8', deterministic: true } as const;
    await using model = await AutoModelForCausalLM.from_config(config, options);
    const before = await logitsOf(model);
    await model.add_adapter({ init_lora_weights: false, target_modules: ['down_proj'] }, { adapter_name: 'fp16' });
    await model.add_adapter({ init_lora_weights: false }, { adapter_name: 'q8' });
    await model.set_adapter(['fp16', 'q8'], { scale: 2 });
    const adapted = await logitsOf(model);
    const failures: [() => Promise<unknown>, string, RegExp][] = [
      [() => model.merge_and_unload(), 'unsupported', /q_proj.weight": weights in q8 are not edited/],
      [() => model.merge_and_unload({ adapter_names: 'q8' }), 'unsupported', /weights in q8/],
      [() => model.merge_and_unload({ adapter_names: 'none' }), 'invalid_argument', /no adapter none/],
      [() => model.merge_and_unload({ adapter_names: [] }), 'invalid_argument', /no adapter is in force/],
      [() => model.merge_and_unload({ safe_merge: true } as object), 'unsupported', /unknown option 'safe_merge'/],
    ];
    for (const [failing, code, message] of failures) {
      expect(await failureOf(failing)).toMatchObject({ code, message: expect.stringMatching(message) });
      expect(await model.active_adapters()).toEqual(['fp16', 'q8']);
      expect(await logitsOf(model)).toEqual(adapted);
    }
    await model.disable_adapters();
    expect(await failureOf(() => model.merge_and_unload())).toMatchObject({ code: 'invalid_argument' });
    expect(await logitsOf(model)).toEqual(before);
    await model.enable_adapters();
    expect(await logitsOf(model)).toEqual(adapted);
    expect(await model.merge_and_unload({ adapter_names: 'fp16' })).toBe(1);
  });

  it('leaves optimisers of the adapter nothing to train', async () => {
    await using model = await gpt2({ worker: false });
    await model.add_adapter({});
    await using optimizer = new AdamW(model, { adapter: 'default' });
    await optimizer.backward({ input_ids, labels });
    await model.merge_and_unload();
    for (const failing of [() => optimizer.step(), () => optimizer.backward({ input_ids, labels })]) {
      expect(await failureOf(failing)).toMatchObject({ code: 'invalid_argument', message: /named "default"/ });
    }
  });
});
