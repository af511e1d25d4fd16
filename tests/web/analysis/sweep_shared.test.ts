// What runs of a sweep may not share: prefixes that depend on what follows them, texts and images that are compared with
// each other, and edits of activations without rows.

import {
  type ActivationEdit,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  ablateHeads,
  type Intervention,
  logitDifference,
  type Metric,
  type ModelInputs,
  type PreTrainedModel,
  sweep,
} from 'clearformer';
import { expect, it } from 'vitest';
import { fixturePath } from '../support/references.js';

const ids = [[3, 9, 4, 20, 7, 50, 8], [1, 6, 8, 30, 31, 12, 9]]; // biome-ignore format: two rows
const digest: Metric = ({ data }) => data.reduce((sum, value, at) => sum + value * Math.sin(at + 1), 0);
const numbers = (...dims: number[]) => ({
  data: Float32Array.from({ length: dims.reduce((product, extent) => product * extent, 1) }, (_, at) => Math.cos(at)),
  dims,
});

async function expectBits(
  model: PreTrainedModel,
  base: ModelInputs,
  interventions: readonly Intervention[],
  { edits = [], metric = digest }: { edits?: readonly ActivationEdit[]; metric?: Metric } = {},
): Promise<void> {
  const { values } = await sweep(model, { base, interventions, edits, metric });
  for (const [at, one] of interventions.entries()) {
    const logits = await model.run_with_hooks(base, { edits: [...edits, ...[one].flat()] });
    expect([JSON.stringify(one), values[at]]).toEqual([JSON.stringify(one), await metric(logits)]);
  }
}

it.each([
  { hook: 'attn.hook_attn_scores', op: 'zero' },
  { hook: 'attn.hook_attn_scores', op: 'scale', value: 2 },
  { hook: 'attn.hook_attn_scores', op: 'clamp', min: -5 },
  { hook: 'attn.hook_attn_scores', op: 'replace', value: 0, key_pos: -1 },
  { hook: 'attn.hook_attn_scores', op: 'zero', pos: 5 },
  { hook: 'attn.hook_pattern', op: 'zero', head: 1 },
  { hook: 'attn.hook_pattern', op: 'add', value: 0.05 },
  { hook: 'attn.hook_pattern', op: 'noise', value: 0.1 },
  { hook: 'attn.hook_pattern', op: 'clamp', max: -0.1 },
  { hook: 'attn.hook_pattern', op: 'mean', value: numbers(7) },
  { hook: 'hook_mlp_out', op: 'clamp', min: numbers(7, 1) },
] as const)('keys behind a query, and positions, in an edit of all runs: %j', async (edit) => {
  const edits = (stack: string) => [{ ...edit, hook: `${stack}1.${edit.hook}` as '*' }];
  const later = (stack: string, width: number): Intervention[] => [
    { hook: `${stack}0.hook_resid_pre` as '*', pos: 4, op: 'zero' },
    { hook: `${stack}1.hook_resid_pre` as '*', pos: -1, op: 'add', value: numbers(width) },
  ];
  await using gpt2 = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
  await expectBits(gpt2, { input_ids: ids }, later('blocks.', 30), { edits: edits('blocks.') });
  await using t5 = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even'));
  const decoder_input_ids = ids.map((row) => row.map((id) => id % 20));
  const inputs = { input_ids: decoder_input_ids, decoder_input_ids };
  await expectBits(t5, inputs, later('decoder.', t5.cfg.d_model), { edits: edits('decoder.') });
});

it.each([1, 2, 3])('2 images with texts, of which there are %i', async (texts) => {
  await using model = await AutoModel.from_pretrained(fixturePath('models/clip/odd'));
  const { image_size = 0, num_channels = 3 } = model.config.vision_config as Record<string, number>;
  const input_ids = [[3, 4, 5, 2], [5, 6, 7, 2], [9, 8, 4, 2]].slice(0, texts); // biome-ignore format: rows
  const base = { input_ids, pixel_values: numbers(2, num_channels, image_size, image_size) };
  await expectBits(model, base, [
    { hook: 'text_model.blocks.0.hook_mlp_out', op: 'zero' },
    { hook: 'text_model.blocks.0.hook_mlp_out', op: 'zero', row: texts - 1 },
    { hook: 'vision_model.blocks.1.attn.hook_z', op: 'zero' },
    { hook: 'vision_model.blocks.1.attn.hook_z', op: 'zero', row: 1, head: 0 },
  ]);
  const last: Metric = ({ data }) => Number(data.at(-1));
  const hook = 'vision_model.blocks.*.attn.hook_z';
  const { changes } = await ablateHeads(model, base, { hook, metric: last });
  expect(changes.data.every((change) => change !== 0)).toBe(true);
});

it('an edit in all runs of an activation without rows', async () => {
  const folder = fixturePath('models/vit/odd_image_classification');
  await using model = await AutoModelForImageClassification.from_pretrained(folder);
  const { num_channels = 3, image_size = 0 } = model.config as Record<string, number>;
  const base = { pixel_values: numbers(2, num_channels, image_size, image_size) };
  const heads = [0, 1].map((head): ActivationEdit => ({ hook: 'blocks.0.attn.hook_z', head, op: 'zero' }));
  const edits: ActivationEdit[] = [{ hook: 'hook_pos_embed', op: 'scale', value: 0.5 }];
  await expectBits(model, base, [...heads, { hook: 'blocks.1.hook_mlp_out', op: 'zero', row: -1 }], { edits });
});

it('positions that logitDifference reads, of a model that computes all logits', async () => {
  await using model = await AutoModelForMaskedLM.from_pretrained(fixturePath('models/bert/odd_masked_lm'));
  const edits: ActivationEdit[] = [{ hook: 'blocks.0.hook_mlp_out', op: 'zero' }];
  await expectBits(model, { input_ids: ids }, edits, { metric: logitDifference(3, 4, 2) });
});
