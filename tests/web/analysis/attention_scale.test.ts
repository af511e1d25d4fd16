// What heads add to the stream, where layers scale it: a Granite model with residual_multiplier has the results of one
// without whose output matrices are scaled, DINOv2's heads sum to the output of attention.

import {
  AutoModel,
  AutoModelForCausalLM,
  edgeAttribution,
  get_act_patch_direct_path,
  logitDifference,
  logitDifferenceTerm,
  type PreTrainedModel,
  stack_head_results,
  type Tensor,
} from 'clearformer';
import { expect, it } from 'vitest';
import { folderFiles, jsonFile } from '../support/pipeline_cases.js';
import { fixturePath } from '../support/references.js';

type Float = Tensor<'float32'>;

function expectNear(found: Float, wanted: Float): void {
  const largest = Number(wanted.map(Math.abs).max().item());
  expect(found.dims).toEqual(wanted.dims);
  expect(largest).toBeGreaterThan(0);
  expect(Number(found.sub(wanted).map(Math.abs).max().item())).toBeLessThan(2e-5 * largest);
}

const [clean, corrupted] = [{ input_ids: [[3, 9, 4, 20]] }, { input_ids: [[3, 11, 8, 20]] }];

async function resultsOf(model: PreTrainedModel): Promise<Float[]> {
  const [, right] = await model.run_with_cache(clean);
  const [, wrong] = await model.run_with_cache(corrupted);
  const { components } = await stack_head_results(model, right);
  const { scores } = await edgeAttribution(model, { clean, corrupted, metric: logitDifferenceTerm(11, 5) });
  const from = { src_layer: 0, src_head: 1 };
  const paths = await get_act_patch_direct_path(model, corrupted, right, wrong, logitDifference(11, 5), from);
  return [components, scores, paths];
}

it.each(['even', 'odd'])('Granite, %s', async (name) => {
  const files = folderFiles(`models/granite/${name}`);
  const { residual_multiplier, ...config } = JSON.parse(String(Buffer.from(files['config.json'] as Uint8Array)));
  expect(residual_multiplier).not.toBe(1);
  await using model = await AutoModelForCausalLM.from_pretrained(files);
  await using plain = await AutoModelForCausalLM.from_pretrained({ ...files, 'config.json': jsonFile(config) });
  for (let layer = 0; layer < plain.cfg.n_layers; layer++) {
    for (const leaf of ['attn.W_O', 'mlp.W_out'] as const) {
      await plain.edit_parameter(`blocks.${layer}.${leaf}`, { op: 'scale', value: residual_multiplier });
    }
    for (const leaf of ['attn.b_O', 'mlp.b_out'] as const) {
      const bias = await plain.parameter(`blocks.${layer}.${leaf}`);
      if (!bias.data.some((value) => value !== 0)) continue; // it has none
      await plain.edit_parameter(`blocks.${layer}.${leaf}`, { op: 'scale', value: residual_multiplier });
    }
  }
  const [found, wanted] = [await resultsOf(model), await resultsOf(plain)];
  wanted.forEach((one, at) => {
    expectNear(found[at] as Float, one);
  });
});

it.each(['dinov2', 'dinov3_vit'])('%s', async (family) => {
  await using model = await AutoModel.from_pretrained(fixturePath(`models/${family}/even_base`));
  const { image_size } = model.config as { image_size: number };
  const data = Float32Array.from({ length: 3 * image_size ** 2 }, (_, at) => Math.sin(at));
  const [, cache] = await model.run_with_cache({ pixel_values: { data, dims: [1, 3, image_size, image_size] } });
  const { components } = await stack_head_results(model, cache, { layer: 1 });
  const bias = await model.parameter('blocks.0.attn.b_O');
  const added = components.sum(0).add(bias.mul(await model.parameter('blocks.0.ln1_scale.w'))) as Float;
  expectNear(added, cache['blocks.0.hook_attn_out'] as Float);
});
