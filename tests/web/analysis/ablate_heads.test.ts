// Head ablation: every number equals that of a run with one edit.

import {
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSeq2SeqLM,
  ablateHeads,
  type HookName,
  logitDifference,
  type Metric,
  type ModelInputs,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath } from '../support/references.js';

const input_ids = [
  [3, 9, 4, 20, 7],
  [1, 1, 8, 30, 31],
];
const metric = logitDifference(11, 12);

async function expectSeparateRuns(
  model: PreTrainedModel,
  inputs: ModelInputs,
  watch: Metric,
  names: readonly HookName[],
  options: object = {},
): Promise<void> {
  for (const op of ['zero', 'mean'] as const) {
    const { baseline, changes } = await ablateHeads(model, inputs, { metric: watch, op, ...options });
    const [logits] = await model.run_with_cache(inputs, { names_filter: [] });
    expect(baseline).toBe(await watch(logits));
    expect(changes.dims[0]).toBe(names.length);
    const [, heads = 0] = changes.dims;
    expect(heads).toBe(model.cfg.n_heads);
    for (const [layer, hook] of names.entries()) {
      for (let head = 0; head < heads; head++) {
        const edited = await model.run_with_hooks(inputs, { edits: [{ hook, head, op }] });
        expect(changes.slice(layer, head).item()).toBe(Math.fround((await watch(edited)) - baseline));
      }
    }
    expect(changes.data.every((change) => change !== 0)).toBe(true);
  }
}

it.each(['gpt2/even', 'phi/odd', 'gemma2/even'])('of %s', async (name) => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath(`models/${name}`));
  await expectSeparateRuns(model, { input_ids }, metric, ['blocks.0.attn.hook_z', 'blocks.1.attn.hook_z']);
  await model.dispose();
});

it('of all three kinds of attention in an encoder-decoder', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
  const inputs = { input_ids, decoder_input_ids: [[2, 9], [2, 5]] }; // biome-ignore format: two rows
  await expectSeparateRuns(model, inputs, metric, ['decoder.0.attn.hook_z', 'decoder.1.attn.hook_z']);
  const crossed = ['decoder.0.cross_attn.hook_z', 'decoder.1.cross_attn.hook_z'] as const;
  await expectSeparateRuns(model, inputs, metric, crossed, { hook: 'decoder.*.cross_attn.hook_z' });
  await expectSeparateRuns(model, inputs, metric, ['encoder.0.attn.hook_z'], { hook: 'encoder.*.attn.hook_z' });
  await model.dispose();
});

it('of a classifier of images, by a metric of its own', async () => {
  const model = await AutoModelForImageClassification.from_pretrained(
    fixturePath('models/vit/even_image_classification'),
  );
  const dims = model.config as { num_channels: number; image_size: number };
  const shape = [1, dims.num_channels, dims.image_size, dims.image_size];
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, at) => Math.sin(at));
  const names = ['blocks.0.attn.hook_z', 'blocks.1.attn.hook_z'] as const;
  await expectSeparateRuns(model, { pixel_values: { data, dims: shape } }, (logits) => logits.data[1] as number, names);
  await model.dispose();
});

describe('a sweep', async () => {
  const load = (worker: boolean) => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'), { worker });
  const model = await load(false);

  it('gives the same in a worker', async () => {
    const there = await load(true);
    expect(there.info().worker).toBe(true);
    expect(await ablateHeads(there, { input_ids }, { metric })).toEqual(
      await ablateHeads(model, { input_ids }, { metric }),
    );
    await there.dispose();
  });

  it('says how far it is and stops when told to', async () => {
    const seen: number[] = [];
    await ablateHeads(model, { input_ids }, { metric, progress: ({ done, total }) => seen.push(done / total) });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((done) => done / 8));
    const controller = new AbortController();
    const runs: number[] = [];
    const progress = ({ done }: { done: number }) => {
      if (runs.push(done) === 3) controller.abort(new Error('enough'));
    };
    await expect(ablateHeads(model, { input_ids }, { metric, progress, signal: controller.signal })).rejects.toThrow(
      'enough',
    );
    expect(runs).toEqual([1, 2, 3]);
  });

  it('refuses what it cannot measure', async () => {
    const failures: [object, string, string][] = [
      [{}, 'invalid_argument', 'metric must be a function'],
      [undefined as never, 'invalid_argument', 'metric must be a function'],
      [{ metric: () => 'high' }, 'invalid_argument', 'metric gave high, no number'],
      [{ metric, op: 'noise' }, 'unsupported', "unknown op 'noise'"],
      [{ metric, hook: 'blocks.*.hook_mlp_out' }, 'invalid_argument', 'has no axis of heads'],
      [{ metric, hook: 'blocks.*.attn.hook_y' }, 'invalid_argument', "hook: no hook is named 'blocks.*.attn.hook_y'"],
      [{ metric, hook: 'blocks.*.attn.hook_*' }, 'invalid_argument', 'one for each layer is needed'],
      [{ metric, heads: [1] }, 'unsupported', "unknown option 'heads'"],
      [{ metric: logitDifference(1, 64) }, 'invalid_argument', 'no token 64'],
      [{ metric: logitDifference(1n as never, 2) }, 'invalid_argument', 'no token 1n'],
      [{ metric: logitDifference(1, 2, 7) }, 'invalid_argument', 'no position 7 among 5'],
    ];
    for (const [options, code, message] of failures) {
      const failure = await failureOf(() => ablateHeads(model, { input_ids }, options as never));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(message)]);
    }
  });

  it('takes a metric in a tensor of one element, as those of TransformerLens', async () => {
    const inTensor = (logits: Tensor<'float32'>) => logits.slice(0, -1, 7);
    const inNumber = (logits: Tensor<'float32'>) => inTensor(logits).item();
    const [one, other] = [await ablateHeads(model, { input_ids }, { metric: inTensor }), await ablateHeads(model, { input_ids }, { metric: inNumber })]; // biome-ignore format: short
    expect([one.baseline, one.changes.data]).toEqual([other.baseline, other.changes.data]);
    const row = { metric: (logits: Tensor<'float32'>) => logits.slice(0, -1) };
    expect(await failureOf(() => ablateHeads(model, { input_ids }, row))).toMatchObject({
      code: 'invalid_argument',
      message: 'ablateHeads: metric gave an object of type Tensor, no number',
    });
  });

  it('takes metrics that need time', async () => {
    const slow: Metric = async (logits) => metric(logits);
    expect(await ablateHeads(model, { input_ids }, { metric: slow })).toEqual(
      await ablateHeads(model, { input_ids }, { metric }),
    );
  });
});

it('means the difference of two logits, averaged over the batch', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'));
  const { logits } = await model({ input_ids });
  const at = (row: number, place: number, token: number) => logits.slice(row, place, token).item() as number;
  expect(await logitDifference(11, 12)(logits)).toBe((at(0, 4, 11) - at(0, 4, 12) + (at(1, 4, 11) - at(1, 4, 12))) / 2);
  expect(await logitDifference(3, 2, 1)(logits)).toBe((at(0, 1, 3) - at(0, 1, 2) + (at(1, 1, 3) - at(1, 1, 2))) / 2);
  await model.dispose();
});
