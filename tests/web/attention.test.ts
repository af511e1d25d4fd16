// scaled_dot_product_attention and attention pooling with every scoring function, against PyTorch in float64.

import {
  type AdditiveOptions,
  type AttentionPoolingOptions,
  additive_attention,
  attention_pooling,
  configure,
  Mask,
  type ScaledDotProductOptions,
  scaled_dot_product_attention,
  type Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Bound,
  drawnModules,
  type Example,
  examplesOf,
  expectWithin,
  gamma,
  largest,
} from './support/primitives.js';
import { variants } from './support/variants.js';

interface PoolingBounds {
  scores: Bound;
  weights: Bound;
  output: Bound;
}

/**
 * A score sums n terms of at most `term` and is off by δ <= γ(n + 4) n term (with its scaling, softcap and the mask's
 * addition). exp turns δ into a relative error, once in the numerator and once in the denominator, where S terms are
 * summed and exp and tanh round at most two dozen times; the output averages S values no larger than v.
 */
function boundsOf(terms: number, term: number, keys: number, value: number, mask = 0): PoolingBounds {
  const score = gamma(terms + 4) * terms * term + gamma(2) * mask;
  const weight = 2 * score + gamma(keys + 24);
  return {
    scores: { absolute: score, relative: gamma(8) },
    weights: { relative: weight },
    output: { absolute: (weight + gamma(keys)) * value },
  };
}

const last = (tensor: Tensor, fromEnd: number) => tensor.dims[tensor.dims.length - 1 - fromEnd] as number;

function dotBounds(example: Example): PoolingBounds {
  const [query, key, value] = ['query', 'key', 'value'].map((name) => example.tensor(name)) as [Tensor, Tensor, Tensor];
  const added = ['attn_mask_additive', 'bias_additive'].filter((name) => example.has(name));
  const scale = Math.abs((example.options.scale as number | undefined) ?? 1 / Math.sqrt(last(query, 0)));
  const term = largest(query) * largest(key) * scale;
  const mask = added.reduce((sum, name) => sum + largest(example.tensor(name)), 0);
  return boundsOf(last(query, 0), term, last(key, 1), largest(value), mask);
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  const products = ['scaled_dot_product_attention', drawnModules].flatMap((group) =>
    examplesOf(group, 'scaled_dot_product_attention'),
  );
  it.each(products)('scaled_dot_product_attention: $name', async (example) => {
    const parts = [example.mask('attn_mask', 'allow'), example.mask('bias', 'allow')].filter(
      (mask) => mask !== undefined,
    );
    const mask = parts.length === 2 ? parts[0]?.and(parts[1] as Mask) : parts[0];
    const options = { ...(example.options as ScaledDotProductOptions), attn_mask: mask };
    const operands = [example.tensor('query'), example.tensor('key'), example.tensor('value')] as const;
    const [output, weights] = await scaled_dot_product_attention(...operands, { ...options, need_weights: true });
    const bounds = dotBounds(example);
    expectWithin(`sdpa ${example.name} output`, output, example.tensor('output'), bounds.output);
    if (example.has('weights')) {
      expectWithin(`sdpa ${example.name} weights`, weights, example.tensor('weights'), bounds.weights);
    }
    const alone = await scaled_dot_product_attention(...operands, options);
    expect(alone.data).toEqual(output.data); // requesting the weights changes no bit
  });

  it.each(examplesOf('scoring', 'attention_pooling'))('attention_pooling: $name', async (example) => {
    const mask = example.has('valid_lens') ? Mask.valid_lens(example.tensor('valid_lens')) : undefined;
    const tensors = ['M', 'W_q', 'W_k', 'w_v'].filter((name) => example.has(name));
    const parameters = Object.fromEntries(tensors.map((name) => [name, example.tensor(name)]));
    const options = { ...example.options, ...parameters, mask, empty_row: 'uniform' } as AttentionPoolingOptions;
    const operands = [example.tensor('queries'), example.tensor('keys'), example.tensor('values')] as const;
    const [output, weights] = await attention_pooling(...operands, { ...options, need_weights: true });
    const [, scores] = await attention_pooling(...operands, { ...options, need_scores: 'raw' });
    const bounds = scoreBounds(example);
    expectWithin(`scoring ${example.name} scores`, scores, example.tensor('scores'), bounds.scores);
    expectWithin(`scoring ${example.name} weights`, weights, example.tensor('weights'), bounds.weights);
    expectWithin(`scoring ${example.name} output`, output, example.tensor('output'), bounds.output);
    if (example.options.score !== 'additive') return;
    const { score: _, ...rest } = options as AdditiveOptions & { score: 'additive' };
    expect((await additive_attention(...operands, rest)).data).toEqual(output.data);
  });

  it('with normalised keys, distance and dot scores give the same weights', async () => {
    const [example] = examplesOf('scoring', 'dot_equals_distance') as [Example];
    const [queries, keys] = [example.tensor('queries'), example.tensor('keys')];
    const weightsOf = async (options: AttentionPoolingOptions) =>
      (await attention_pooling(queries, keys, keys, { ...options, need_weights: true }))[1];
    const term = (largest(queries) + largest(keys)) ** 2;
    const { weights: bound } = boundsOf(last(queries, 0), term, last(keys, 1), 1);
    const [dot, distance] = [await weightsOf({ score: 'dot' }), await weightsOf({ score: 'distance' })];
    expectWithin('scoring dot', dot, example.tensor('dot_weights'), bound);
    expectWithin('scoring distance', distance, example.tensor('distance_weights'), bound);
    // The keys are normalised in float32 only: |k|² differs from 1 by 2u.
    expectWithin('scoring dot as distance', dot, distance, { relative: 2 * (bound.relative as number) + gamma(8) });
  });

  // Scores of ±1e30 dominate: the weights are 0, or equal among ties, whatever the rounding of the scores.
  it.each(examplesOf('adversarial', 'scaled_dot_product_attention'))('holds on $name', async (example) => {
    const mask = example.mask('attn_mask', 'allow');
    const operands = [example.tensor('query'), example.tensor('key'), example.tensor('value')] as const;
    const [output, weights] = await scaled_dot_product_attention(...operands, { mask, need_weights: true });
    const keys = last(example.tensor('key'), 1);
    expectWithin(`adversarial ${example.name} weights`, weights, example.tensor('weights'), {
      relative: gamma(keys + 24),
    });
    const value = largest(example.tensor('value'));
    expectWithin(`adversarial ${example.name}`, output, example.tensor('output'), {
      absolute: gamma(2 * keys + 24) * value,
    });
  });
});

/**
 * The case gives the number of successive roundings and the sum of a score's magnitudes (tests/references/scoring.py).
 */
function scoreBounds(example: Example): PoolingBounds {
  const roundings = Number(example.property('roundings')) + 12; // scale, tanh and the mask round some more
  const score = gamma(roundings) * largest(example.tensor('magnitudes'));
  const keys = last(example.tensor('keys'), 1);
  const weight = 2 * score + gamma(keys + 24);
  return {
    scores: { absolute: score },
    weights: { relative: weight },
    output: { absolute: (weight + gamma(keys)) * largest(example.tensor('values')) },
  };
}
