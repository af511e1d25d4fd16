// load_adapter of files whose modules have other names than the checkpoint's weights, or are not in the layers it names.

import {
  AutoModel,
  AutoModelForCausalLM,
  type ClearformerWarning,
  configure,
  type LoraConfig,
  Tensor,
  toSafetensors,
} from 'clearformer';
import { expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

const encoded = (config: object) => new TextEncoder().encode(JSON.stringify(config));

/** An adapter of rank 1 of modules of one size. */
function filesOf(
  paths: string | string[],
  target: string,
  [outputs, inputs]: readonly number[],
  config: LoraConfig = {},
) {
  const halves = Object.entries({ A: [1, inputs as number], B: [outputs as number, 1] });
  const tensors = [paths]
    .flat()
    .flatMap((path) =>
      halves.map(([half, dims]) => [
        `base_model.model.${path}.lora_${half}.weight`,
        new Tensor('float32', new Float32Array(Math.max(...dims)), dims),
      ]),
    );
  return {
    'adapter_config.json': encoded({ peft_type: 'LORA', r: 1, lora_alpha: 1, target_modules: [target], ...config }),
    'adapter_model.safetensors': toSafetensors(Object.fromEntries(tensors)),
  };
}

/** A Gemma 3 with images, as far as it is read, and the module of its first queries in transformers 5. */
async function gemma3() {
  const sizes = { vocab_size: 40, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 1, head_dim: 8 };
  const text_config = { ...sizes, model_type: 'gemma3_text', num_attention_heads: 2, num_key_value_heads: 1 };
  const text = await AutoModelForCausalLM.from_config(text_config);
  const weights: Record<string, Tensor> = {
    'vision_tower.encoder.layers.0.self_attn.q_proj.weight': new Tensor('float32', new Float32Array(64), [8, 8]),
  };
  for (const { name } of await text.named_parameters()) weights[`language_model.${name}`] = await text.parameter(name);
  const gemma = await AutoModelForCausalLM.from_pretrained({
    'config.json': encoded({ model_type: 'gemma3', text_config }),
    'model.safetensors': toSafetensors(weights),
  });
  await text.dispose();
  return {
    gemma,
    path: 'model.language_model.layers.0.self_attn.q_proj',
    stored: 'language_model.model.layers.0.self_attn.q_proj',
  };
}

it('Gemma 3 by the names of transformers 5', async () => {
  const { gemma, path, stored } = await gemma3();
  const { dims } = await gemma.parameter(`${stored}.weight`);
  expect(await gemma.load_adapter(filesOf(path, path, dims))).toBe('default');
  await gemma.dispose();
});

it('Gemma 3 without the matrices of its vision tower, which is not read', async () => {
  const heard: ClearformerWarning[] = [];
  configure({ onWarning: (warning) => heard.push(warning) });
  const { gemma, path, stored } = await gemma3();
  const { dims } = await gemma.parameter(`${stored}.weight`);
  const seeing = path.replace('language_model', 'vision_tower.encoder');
  await gemma.load_adapter(filesOf([seeing, path], 'q_proj', dims));
  const message = `adapter: this model does not read ${seeing}: no effect of its matrices (1 such)`;
  expect(heard).toEqual([{ code: 'unread_matrices', message }]);
  const { 'adapter_model.safetensors': saved } = await gemma.save_adapter('default');
  expect(new TextDecoder('latin1').decode(saved).match(/base_model[^"]*_A/g)).toEqual([
    `base_model.model.${path}.lora_A`,
  ]);
  for (const [paths, missing] of [[[seeing], seeing] as const, [[path, 'fc'], 'fc'] as const]) {
    const failure = await failureOf(() => gemma.load_adapter(filesOf([...paths], 'fc', dims), { adapter_name: 'b' }));
    expect(failure.message).toContain(`${missing}: this model has no such module`);
  }
  configure({ onWarning: undefined });
  await gemma.dispose();
});

it('a module whose name is the same before and in transformers 5, where others’ are not', async () => {
  const model = await AutoModel.from_pretrained(fixturePath('models/deit/even_base'));
  const pooler = (await model.named_parameters()).find(({ name }) => name.endsWith('pooler.dense.weight'));
  expect(await model.load_adapter(filesOf('pooler.dense', 'dense', pooler?.dims as number[]))).toBe('default');
  await model.dispose();
});

// PEFT's LoraConfig.__post_init__
it.each<[string, LoraConfig, string, RegExp]>([
  [
    'layers beside a regular expression',
    { target_modules: '.*_proj', layers_to_transform: [0] },
    'malformed_config',
    /layers_to_transform is \[0\], with target_modules "\.\*_proj", which are no list/,
  ],
  [
    'a pattern of layers beside all modules',
    { target_modules: 'all-linear', layers_pattern: 'layers' },
    'malformed_config',
    /layers_pattern is "layers", with target_modules "all-linear"/,
  ],
  [
    'a pattern of layers without indices',
    { layers_to_transform: [], layers_pattern: ['layers'] },
    'malformed_config',
    /layers_pattern is \["layers"\], without layers_to_transform/,
  ],
  [
    'matrices of another layer, without targets',
    { target_modules: null, layers_to_transform: [1] },
    'shape_mismatch',
    /layers\.0\.self_attn\.q_proj has matrices, but is none of/,
  ],
])('%s is refused', async (_, config, code, message) => {
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/mistral/even'));
  const files = filesOf('model.layers.0.self_attn.q_proj', 'q_proj', [32, 32], config);
  expect(await failureOf(() => model.load_adapter(files))).toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});
