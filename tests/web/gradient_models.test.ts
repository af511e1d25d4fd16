// backward() of encoder-decoders, image, audio and dual models against float64 autograd through transformers
// (tests/references/gradients_models.py; natively of all architectures: gradient_reference_test.cpp), and patchSaliency.

import {
  type GradientInput,
  type HookName,
  type MetricTerm,
  type ModelInputs,
  type PreTrainedModel,
  patchSaliency,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { gamma } from './support/primitives.js';
import { type Case, caseOf, casesOf, fixturePath, inputsOf, type Reference, tensorsOf } from './support/references.js';
import { expectRow } from './support/rows.js';
import { optionsFor, variants } from './support/variants.js';

type Float = Tensor<'float32'>;

const cases = casesOf('gradients_models').filter(({ options }) =>
  ['marian', 't5', 'whisper', 'vit', 'clip'].includes(options.architecture as string),
);

/** A case as a call: the model, its inputs and the metric. */
async function callOf(one: Case, variant: 'simd128' | 'relaxed') {
  const { architecture, checkpoint, task } = one.options as Record<string, string>;
  const folder = `models/${architecture}`;
  const inputs = inputsOf(folder, one.source) as ModelInputs;
  const model = await classOf(task, architecture).from_pretrained(
    fixturePath(`${folder}/${checkpoint}`),
    optionsFor(variant),
  );
  const outputs = (await model(inputs)) as Record<string, Float>;
  const weights = new Map<string, Float>();
  for (const [name, at, weight] of one.terms as [string, number, number][]) {
    const of = weights.get(name) ?? (outputs[name] as Float).mul(0);
    weights.set(name, of);
    of.data[at] = (of.data[at] as number) + weight;
  }
  const metric: MetricTerm[] = [...weights].map(([output, of]) => ({ output, weights: of }));
  if (one.inputs.labels !== undefined) {
    metric.push({ labels: tensorsOf('gradients_models', one)('labels') as never });
  }
  return { model, inputs, metric };
}

/** The hook point of a member of transformers' hidden_states or attentions; undefined for the last hidden state. */
function hookOf(model: PreTrainedModel, name: string): HookName | undefined {
  const [, tower, kind, layer] = /^(.*?)(hidden_states|attentions)\.(\d+)$/.exec(name) ?? [];
  const stack =
    { encoder_: 'encoder', decoder_: 'decoder' }[tower as string] ?? `${tower?.replace('_output', '')}blocks`;
  const hook = `${stack}.${layer}.${kind === 'attentions' ? 'attn.hook_pattern' : 'hook_resid_pre'}` as HookName;
  return model.hooks().some((one) => one.name === hook) ? hook : undefined;
}

const inputNames = ['pixel_values', 'input_features', 'inputs_embeds'];

describe.each(variants)('gradients equal autograd, %s', (variant) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const { model, inputs, metric } = await callOf(one, variant);
    const names = one.of as string[];
    const weights = names.flatMap((name) => (name.startsWith('weight ') ? [name.slice(7)] : []));
    const given = names.filter((name) => inputNames.includes(name)) as GradientInput[];
    const hooks = names.flatMap((name) => hookOf(model, name) ?? []);
    const found = await model.backward(inputs, { metric, with_respect_to: { hooks, weights, inputs: given } });
    const value = one.value as number;
    expect(Math.abs(found.value - value)).toBeLessThanOrEqual(
      4 * (one.value_error as number) + gamma(200) * Math.abs(value),
    );
    const { data, dims } = tensorsOf('gradients_models', one)('rows') as Reference;
    const columns = dims[1] as number;
    names.forEach((name, at) => {
      const hook = hookOf(model, name);
      const tensor =
        found.weights[name.slice(7)] ?? found.inputs[name as GradientInput] ?? (hook && (found.grad[hook] as Float));
      if (tensor) expectRow(name, tensor, data.slice(at * columns, (at + 1) * columns));
    });
    expect(hooks.length + given.length).toBeGreaterThan(2);
    await model.dispose();
  });
});

it('takes a flat list of labels as one row, as a call of the model does', async () => {
  const flat = [5, 6, 7];
  for (const [task, folder] of [
    ['causal-lm', 'llama_tiny/bias'],
    ['seq2seq-lm', 'models/t5/odd'],
  ] as const) {
    await using model = await classOf(task, folder).from_pretrained(fixturePath(folder));
    const inputs = { input_ids: [[5, 6, 7]] } as ModelInputs;
    const { loss } = (await model({ ...inputs, labels: flat })) as unknown as { loss: Float };
    for (const labels of [flat, [flat]]) {
      expect(Math.fround((await model.backward(inputs, { metric: { labels } })).value)).toBe(loss.item());
    }
  }
});

describe('patchSaliency', () => {
  const one = caseOf('gradients_models', 'vit/odd_image_classification');

  it('is the size of the gradient at each patch, without the class token', async () => {
    const { model, inputs } = await callOf(one, 'simd128');
    const metric = { logits: [{ token: 1 }] };
    const hook = 'hook_embed';
    const saliency = await patchSaliency(model, inputs, { metric });
    const product = await patchSaliency(model, inputs, { metric, method: 'gradient_x_input' });
    const { grad, activations } = await model.backward(inputs, {
      metric,
      names_filter: hook,
      with_respect_to: { hooks: hook },
    });
    const [, rows = 0, columns = 0] = saliency.dims;
    const [gradient, x] = [grad[hook] as Float, activations[hook] as Float];
    const first = (gradient.dims[1] as number) - rows * columns;
    expect(first).toBeGreaterThanOrEqual(0);
    for (let at = 0; at < rows * columns; at++) {
      const [g, e] = [gradient.slice(0, first + at), x.slice(0, first + at)];
      expect(saliency.data[at]).toBeCloseTo(Math.hypot(...g.data), 5);
      const sum = g.data.reduce((total, value, i) => total + value * (e.data[i] as number), 0);
      expect(product.data[at]).toBeCloseTo(sum, 5);
    }
    await model.dispose();
  });

  it('of a dual encoder is that of its image tower; without images it is refused', async () => {
    const { model, inputs } = await callOf(cases.find(({ name }) => name.startsWith('clip')) as Case, 'simd128');
    const { pixel_values } = inputs;
    const found = await patchSaliency(model, { pixel_values }, { metric: { output: 'image_embeds', weights: 1 } });
    expect(found.dims.length).toBe(3);
    expect(Math.min(...found.data)).toBeGreaterThan(0);
    const failure = await failureOf(() =>
      patchSaliency(model, { input_ids: [[1]] }, { metric: { logits: [{ token: 1 }] } }),
    );
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('pixel_values')]);
    await model.dispose();
  });
});
