// Damaged folders and configurations of LoRA adapters, and random calls that train, differentiate and change a model: each ends in a typed
// error or a result; once the adapters are deleted and the edits undone, the model computes the bits of before.

import { readFileSync } from 'node:fs';
import { AdamW, AutoModelForCausalLM, clip_grad_norm_, type PreTrainedModel, SGD } from 'clearformer';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedBytes, damagedJson, fuzz, mostly, some } from '../support/fuzzing.js';
import { fixturePath } from '../support/references.js';

const folder = fixturePath('adapters/llama');
const config = JSON.parse(readFileSync(`${folder}/adapter_config.json`, 'utf8')) as Record<string, unknown>;
const file = new Uint8Array(readFileSync(`${folder}/adapter_model.safetensors`));
const patterns = [
  '(a+)+$',
  '.*q_proj',
  '(.*,){30}c',
  'model\\.layers\\.\\d+\\..*',
  '(?P<n>x)',
  '(',
  '\\1',
  '(?=(a+)+b)a',
];
const variants = [
  config,
  { ...config, rank_pattern: { q_proj: 4 }, alpha_pattern: { 'layers.0.*': 2 } },
  { ...config, layers_to_transform: [0, 1], layers_pattern: 'layers' },
  ...patterns.map((pattern) => ({ ...config, target_modules: pattern, rank_pattern: { [pattern]: 4 } })),
];
const load = () => AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker: false });
const bitsOf = async (model: PreTrainedModel) => {
  const { logits } = (await model({ input_ids: [[1, 5, 7]] })) as unknown as { logits: { data: Float32Array } };
  return [...logits.data];
};
const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const numbers = mostly(fc.constantFrom<unknown>(0, 1, -1, 0.5, 1e30, Number.NaN, Number.POSITIVE_INFINITY));

it('folders of adapters', async () => {
  await using model = await load();
  const before = await bitsOf(model);
  const folders = fc.oneof(
    fc.record({
      'adapter_config.json': damagedJson(variants).map(text),
      'adapter_model.safetensors': fc.constant(file),
    }),
    fc.record({
      'adapter_config.json': fc.constantFrom(...variants).map(text),
      'adapter_model.safetensors': damagedBytes([file]),
    }),
  );
  const counts = await fuzz('folders of adapters', 120, folders, async (files) => {
    const name = await model.load_adapter(files);
    await bitsOf(model);
    await model.delete_adapter(name);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect(await bitsOf(model)).toEqual(before);
});

it('configurations of new adapters, which are merged', async () => {
  await using model = await load();
  const before = await bitsOf(model);
  const plain = variants.map((one) => ({ ...one, lora_dropout: 0 }));
  const drawn = fc.record({
    config: mostly(damagedJson([...plain, { target_modules: 'all-linear', init_lora_weights: false }])),
    options: some({ adapter_name: mostly(fc.constant('b')), seed: numbers }),
  });
  const counts = await fuzz('configurations of new adapters', 150, drawn, async (one) => {
    await model.add_adapter(one.config as never, one.options as never);
    expect(await model.merge_and_unload()).toBeGreaterThan(0);
    await bitsOf(model);
    await model.undo_edits();
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect(await bitsOf(model)).toEqual(before);
});

const names = mostly(fc.constantFrom<unknown>('*hook_resid_pre', 'blocks.0.attn.hook_z', '*', ['hook_embed'], 'none'));
const weights = mostly(
  fc.constantFrom<unknown>('*', 'lm_head.weight', 'blocks.0.attn.W_Q', ['model.norm.weight'], 'none', []),
);
const labels = mostly(
  fc.constantFrom<unknown>([[1, 5, 7]], [[-100, 5, 7]], [[-100, -100, -100]], [[1, 5, 97]], [[1, 5]], [1, 2 ** 40]),
);
const given = mostly(fc.constantFrom<unknown>({ input_ids: [[1, 5, 7]] }, { input_ids: [[1, 99]] }, { input_ids: [] }));
const term = mostly(
  fc.oneof(
    some({ labels, label_smoothing: numbers, weight: numbers }),
    some({
      logits: mostly(fc.array(some({ token: mostly(fc.nat(99)), pos: numbers, row: numbers, weight: numbers }))),
    }),
    some({ hook: names, weights: numbers }),
    some({ output: mostly(fc.constant('logits')), weights: numbers }),
  ),
);
const differentiated = some({
  metric: term,
  with_respect_to: mostly(
    some({ hooks: names, weights, inputs: mostly(fc.constantFrom('inputs_embeds', 'pixel_values')), edits: numbers }),
  ),
  edits: mostly(fc.array(some({ hook: names, op: mostly(fc.constantFrom('scale', 'add', 'zero')), value: numbers }))),
  bwd_hooks: mostly(fc.constant([['blocks.0.hook_resid_pre', () => undefined]])),
  names_filter: names,
  logits_to_keep: numbers,
  stop_at_layer: numbers,
  nonsense: anything,
});
const optimised = some({
  lr: numbers,
  parameters: weights,
  adapter: mostly(fc.constantFrom('a', 'none')),
  lr_scheduler_type: mostly(fc.constantFrom('linear', 'cosine', 'constant')),
  num_warmup_steps: numbers,
  num_training_steps: mostly(fc.nat(9)),
  weight_decay: numbers,
});
const bounds = mostly(
  fc.constantFrom<unknown>(
    [[0, 1]],
    [[0, 2 ** 31]],
    [[-1, -9]],
    [],
    [
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  ),
);

interface Drawn {
  kind: 'backward' | 'adapter' | 'AdamW' | 'SGD' | 'edit' | 'parameter';
  given: unknown;
  options: unknown;
  more: unknown;
}

it('calls that differentiate, train and change weights', async () => {
  await using model = await load();
  await model.load_adapter(folder, { adapter_name: 'a' });
  await model.disable_adapters();
  const before = await bitsOf(model);
  const draws = fc.oneof(
    fc.record({ kind: fc.constant('backward'), given, options: mostly(differentiated), more: anything }),
    fc.record({
      kind: fc.constant('adapter'),
      given: mostly(fc.constant('a')),
      options: some({ scale: numbers }),
      more: labels,
    }),
    fc.record({ kind: fc.constantFrom('AdamW', 'SGD'), given: labels, options: optimised, more: numbers }),
    fc.record({
      kind: fc.constant('edit'),
      given: mostly(fc.constantFrom('lm_head.weight', 'W_E')),
      options: numbers,
      more: bounds,
    }),
    fc.record({
      kind: fc.constant('parameter'),
      given: weights,
      options: some({ at: bounds, fold_ln: anything }),
      more: numbers,
    }),
  ) as Arbitrary<Drawn>;
  const ways: Record<Drawn['kind'], (one: Drawn) => Promise<unknown>> = {
    backward: ({ given, options }) => model.backward(given as never, options as never),
    adapter: ({ given, options }) => model.set_adapter(given as never, options as never),
    AdamW: (one) => trained(model, AdamW, one),
    SGD: (one) => trained(model, SGD, one),
    edit: ({ given, options, more }) =>
      model.edit_parameter(given as never, { op: 'add', value: options, at: more } as never),
    parameter: ({ given, options }) => model.parameter(given as never, options as never),
  };
  const counts = await fuzz('calls that train', 150, draws, (one) => ways[one.kind](one));
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  await model.disable_adapters();
  await model.undo_edits();
  expect(await bitsOf(model)).toEqual(before);
});

/** Trains the adapter alone, whatever is asked for: the weights stay as they are. */
async function trained(
  model: PreTrainedModel,
  Kind: typeof AdamW | typeof SGD,
  { given, options, more }: Drawn,
): Promise<void> {
  const optimizer = new Kind(model, { ...(options as object), adapter: 'a' });
  try {
    await optimizer.backward({ input_ids: [[1, 5, 7]], labels: given as never }, { label_smoothing: more as number });
    await clip_grad_norm_(optimizer, more as number);
    await optimizer.step();
  } finally {
    await optimizer.dispose();
  }
}
