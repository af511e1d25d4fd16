// Gradients of metrics of embeddings, through unit length, dense layers and pooling, against float64 autograd through
// transformers and sentence-transformers' formulas (tests/references/gradients_embeddings.py): of `backward` of the model,
// and of the pipeline with the settings of the folder.

import {
  AutoModel,
  type EmbeddingMetric,
  type EmbeddingTerm,
  type FeatureExtractionPipeline,
  type PoolingMode,
  type PreTrainedModel,
  pipeline,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { folderFiles, numberTokenizer } from './support/pipeline_cases.js';
import { gamma } from './support/primitives.js';
import { type Case, casesOf, fixturePath, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const group = 'gradients_embeddings';
const cases = casesOf(group).map((one) => [one.name, one] as const);

function termOf(one: Case): EmbeddingTerm {
  const vector = tensorsOf(group, one)('vector');
  if (one.options.metric === 'cosine_similarity') return { cosine_similarity: vector };
  if (one.options.metric === 'weights') return { weights: vector };
  return {
    score: (embeddings) => ({
      value: embeddings.data.reduce((sum, x) => sum + x ** 3 / 3, 0),
      gradient: embeddings.mul(embeddings),
    }),
  };
}

const inputsOf = (one: Case) => {
  const tensor = tensorsOf(group, one);
  const integers = (name: string) => {
    const { data, dims } = tensor(name);
    return { data: Int32Array.from(data, Number), dims };
  };
  return { input_ids: integers('input_ids'), attention_mask: integers('attention_mask') };
};

/** Within some of float32's own errors, and rounding of the largest. */
function expectGradient(one: Case, name: string, found: Float | undefined): void {
  const { data, dims } = tensorsOf(group, one)(name);
  const wanted = Array.from(data, Number);
  const most = Math.max(...wanted.map(Math.abs));
  const bound = 8 * ((one.float32_error as Record<string, number>)[name] as number) + gamma(400) * most;
  expect(found?.dims, name).toEqual(dims);
  const worst = Math.max(...wanted.map((value, at) => Math.abs(((found as Float).data[at] as number) - value)));
  expect(worst, name).toBeLessThanOrEqual(bound);
}

const weightsOf = (one: Case) => Object.keys(one.outputs).filter((name) => name !== 'inputs_embeds');

describe.each(variants)('gradients of embeddings, %s', (variant) => {
  it.each(cases.filter(([, one]) => !one.name.startsWith('embedding_gemma')))('of the model: %s', async (_, one) => {
    const folder = fixturePath(`models/sentence_transformers/${one.options.checkpoint}`);
    await using model = await AutoModel.from_pretrained(folder, optionsFor(variant));
    const metric: EmbeddingMetric = {
      pooling: one.options.pooling as PoolingMode[],
      normalize: one.options.normalize as boolean,
      ...termOf(one),
    };
    const found = await model.backward(inputsOf(one), {
      metric,
      with_respect_to: { inputs: 'inputs_embeds', weights: weightsOf(one) },
    });
    expect(found.value).toBeCloseTo(one.value as number, 4);
    expectGradient(one, 'inputs_embeds', found.inputs.inputs_embeds);
    for (const name of weightsOf(one)) expectGradient(one, name, found.weights[name]);
  });

  it.each(cases.filter(([, one]) => one.own))('of the pipeline: %s', async (_, one) => {
    const files = { ...folderFiles(`models/sentence_transformers/${one.options.checkpoint}`), ...numberTokenizer };
    const pipe = (await pipeline('feature-extraction', files, optionsFor(variant))) as FeatureExtractionPipeline;
    const { input_ids, attention_mask } = inputsOf(one);
    const length = input_ids.dims[1] as number;
    const texts = [0, 1, 2].map((row) =>
      Array.from(input_ids.data)
        .slice(row * length, (row + 1) * length)
        .filter((_id, at) => attention_mask.data[row * length + at] === 1)
        .join(' '),
    );
    const found = await pipe.backward(texts, {
      metric: termOf(one),
      with_respect_to: { inputs: 'inputs_embeds', weights: weightsOf(one) },
    });
    expect(found.value).toBeCloseTo(one.value as number, 3);
    expectGradient(one, 'inputs_embeds', found.inputs.inputs_embeds);
    for (const name of weightsOf(one)) expectGradient(one, name, found.weights[name]);
    await pipe.dispose();
  });
});

describe('metrics of embeddings', () => {
  const folder = fixturePath('models/sentence_transformers/cls');
  const inputs = { input_ids: [[5, 6, 7]] };
  const failure = (metric: object) =>
    failureOf(async () => {
      await using model: PreTrainedModel = await AutoModel.from_pretrained(folder, { worker: false });
      await model.backward(inputs, { metric: metric as EmbeddingMetric });
    });

  it('of a text without a mask are those of one without padding', async () => {
    await using model = await AutoModel.from_pretrained(folder, { worker: false });
    const options = { metric: { pooling: 'mean', weights: 1 }, with_respect_to: { inputs: 'inputs_embeds' } } as const;
    const alone = await model.backward(inputs, options);
    const masked = await model.backward({ input_ids: [[5, 6, 7, 0]], attention_mask: [[1, 1, 1, 0]] }, options);
    const found = alone.inputs.inputs_embeds as Float;
    expect(masked.inputs.inputs_embeds?.slice(0, [0, 3]).data).toEqual(found.slice(0).data);
    expect(masked.inputs.inputs_embeds?.slice(0, 3).data.every((one) => one === 0)).toBe(true);
  });

  it.each([
    ['two terms', { pooling: 'mean', weights: 1, cosine_similarity: [1] }, 'invalid_argument', 'one of weights'],
    ['no term', { pooling: 'mean' }, 'invalid_argument', 'one of weights'],
    ['an unknown pooling', { pooling: 'middle', weights: 1 }, 'invalid_argument', 'must be one of none, cls, '],
    ['an unknown option', { pooling: 'mean', weight: 1 }, 'unsupported', 'weight'],
    ['a vector of other dims', { pooling: 'mean', weights: [1, 2] }, 'shape_mismatch', 'metric: dims [2] do not fit'],
    ['no function', { pooling: 'mean', score: 3 }, 'invalid_argument', 'score: needs a function'],
    ['no switch', { pooling: 'mean', weights: 1, normalize: 'x' }, 'invalid_argument', 'normalize'],
    ['no gradient', { pooling: 'mean', score: () => ({}) }, 'invalid_argument', 'not { value, gradient }'],
    [
      'a gradient of other dims',
      { pooling: 'mean', score: () => ({ value: 1, gradient: [1] }) },
      'shape_mismatch',
      'of shape [1, 30]',
    ],
  ])('%s is refused', async (_, metric, code, part) => {
    expect(await failure(metric)).toMatchObject({ code, message: expect.stringContaining(part) });
  });
});
