// Analyses of a model with an adapter in force give what they give of a model whose weights have it added.

import {
  AutoModelForCausalLM,
  acdc,
  edgeAttribution,
  type GenerativeModel,
  get_act_patch_direct_path,
  LensWeights,
  logitDifference,
  logitDifferenceTerm,
  matmul,
  stack_head_results,
  Tensor,
  toSafetensors,
} from 'clearformer';
import { beforeAll, expect, it } from 'vitest';
import { fixturePath } from '../support/references.js';

const rank = 2;
const scale = 2;
const clean = { input_ids: [[3, 9, 4, 20]] };
const corrupted = { input_ids: [[3, 9, 5, 20]] };
const metric = logitDifference(5, 7);
const term = logitDifferenceTerm(5, 7);
const result = 'blocks.*.attn.hook_result';
let adapted: GenerativeModel;
let merged: GenerativeModel;
let plain: GenerativeModel;

let state = 5;
const random = (dims: [number, number]): Tensor<'float32'> => {
  const data = Float32Array.from({ length: dims[0] * dims[1] }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  });
  return new Tensor('float32', data, dims);
};

beforeAll(async () => {
  const load = () => AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker: false });
  [adapted, merged, plain] = await Promise.all([load(), load(), load()]);
  const matrices: Record<string, Tensor> = {};
  for (const { name, dims } of await merged.named_parameters()) {
    if (!name.endsWith('_proj.weight')) continue;
    const [down, up] = [random([rank, dims[1] as number]), random([dims[0] as number, rank])];
    const module = `base_model.model.${name.replace('.weight', '')}`;
    Object.assign(matrices, { [`${module}.lora_A.weight`]: down, [`${module}.lora_B.weight`]: up });
    await merged.edit_parameter(name, { op: 'add', value: (await matmul(up, down)).mul(scale) as Tensor<'float32'> });
  }
  const target_modules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
  const config = { peft_type: 'LORA', r: rank, lora_alpha: rank * scale, target_modules };
  await adapted.load_adapter({
    'adapter_config.json': new TextEncoder().encode(JSON.stringify(config)),
    'adapter_model.safetensors': toSafetensors(matrices),
  });
});

const cached = async (model: GenerativeModel, inputs = clean) => (await model.run_with_cache(inputs))[1];

const analyses: Record<string, (model: GenerativeModel) => Promise<readonly Tensor[]>> = {
  hook_result: async (model) => {
    const [logits, cache] = await model.run_with_cache(clean, { names_filter: result });
    return [logits, ...Object.values(cache)];
  },
  'an edit of hook_result': async (model) => [
    await model.run_with_hooks(clean, { edits: [{ hook: result, head: 1, op: 'zero' }] }),
    await model.run_with_hooks(clean, { edits: [{ hook: result, op: 'scale', value: 1 }] }),
  ],
  'gradients under an edit of hook_result': async (model) => {
    const { grad, edits } = await model.backward(clean, {
      metric: term,
      edits: [{ hook: result, head: 1, op: 'scale', value: 0.5 }],
      with_respect_to: { hooks: ['*.hook_z', '*.hook_resid_pre', result], edits: [0] },
    });
    return [...Object.values(grad), ...(edits as Tensor[])];
  },
  stack_head_results: async (model) => [(await stack_head_results(model, await cached(model))).components],
  edgeAttribution: async (model) => [
    (await edgeAttribution(model, { clean, corrupted, metric: term })).scores as Tensor,
  ],
  acdc: async (model) => {
    const found = await acdc(model, { base: clean, source: corrupted, threshold: 0.01 });
    return [new Tensor('float32', Float32Array.of(found.whole, found.circuit), [2])];
  },
  get_act_patch_direct_path: async (model) => {
    const caches = [await cached(model), await cached(model, corrupted)] as const;
    const path = (component: 'q' | 'v') =>
      get_act_patch_direct_path(model, corrupted, ...caches, metric, { src_layer: 0, src_head: 1, component });
    return [await path('q'), await path('v')];
  },
  'LensWeights with_adapters': async (model) => {
    const weights = new LensWeights(model, { fold_ln: true, with_adapters: true });
    return [
      await weights.W_Q(1),
      await weights.b_Q(1),
      await weights.W_O(0),
      await weights.all_composition_scores('Q'),
    ];
  },
  'a part of a parameter with_adapters': async (model) => [
    await model.parameter('model.layers.0.mlp.up_proj.weight', { at: [[1, 3], 2], with_adapters: true }),
  ],
};

const worst = (found: readonly Tensor[], expected: readonly Tensor[]): number => {
  expect(found.map(({ dims }) => dims)).toEqual(expected.map(({ dims }) => dims));
  const numbers = (tensors: readonly Tensor[]) => tensors.flatMap(({ data }) => Array.from(data, Number));
  const others = numbers(expected);
  // Some 20 roundings of products of up to 64 terms, of numbers of about 1.
  return Math.max(...numbers(found).map((x, at) => Math.abs(x - (others[at] as number)) / (1 + Math.abs(x))));
};

it.each(Object.entries(analyses))('%s', async (_, analysis) => {
  const [found, expected, without] = [await analysis(adapted), await analysis(merged), await analysis(plain)];
  expect(worst(found, expected)).toBeLessThan(2e-5);
  expect(worst(found, without)).toBeGreaterThan(1e-3);
});

it('reads parameters without adapters otherwise', async () => {
  const name = 'model.layers.0.self_attn.o_proj.weight';
  expect(await adapted.parameter(name)).toEqual(await plain.parameter(name));
});
