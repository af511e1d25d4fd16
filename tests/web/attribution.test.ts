// Gradients and what is made of them, against float64 autograd (tests/references/attribution.py), and attribution patching
// against activation patching.
import {
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  attributionPatching,
  edgeAttribution,
  type GenerativeModel,
  gradientRollout,
  integratedGradients,
  logitDifference,
  logitDifferenceTerm,
  patchActivations,
  Tensor,
  tokenSaliency,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Case, casesOf, fixturePath, idRows, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const one = casesOf('attribution')[0] as Case;
const reference = tensorsOf('attribution', one);
const { right, wrong } = one.options as { right: number; wrong: number };
const clean = { input_ids: idRows(reference('clean')) };
const corrupted = { input_ids: idRows(reference('corrupted')) };
const metric = logitDifferenceTerm(right, wrong);

/** Values near 0 among large ones have the error of the large ones. */
function expectNear(name: string, found: Tensor<'float32'>) {
  const { dims, data } = reference(name);
  expect([...found.dims]).toEqual(dims);
  const largest = Math.max(...Array.from(data as Float32Array, Math.abs));
  const off = Math.max(...Array.from(found.data, (value, i) => Math.abs((value as number) - Number(data[i]))));
  expect(off, `${name}: off by ${off} of ${largest}`).toBeLessThan(2e-5 * largest);
}

/** Spearman's rank correlation. */
function rankCorrelation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const ranks = (values: ArrayLike<number>) => {
    const order = Array.from(values, (value, at) => ({ value, at })).sort((x, y) => x.value - y.value);
    const found: number[] = [];
    order.forEach(({ at }, rank) => {
      found[at] = rank;
    });
    return found;
  };
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (x.length - 1) / 2;
  const sum = (left: number[], other: number[]) =>
    left.reduce((total, value, i) => total + (value - mean) * ((other[i] as number) - mean), 0);
  return sum(x, y) / Math.sqrt(sum(x, x) * sum(y, y));
}

describe.each(variants)('attributions in a model with induction heads, %s', (variant) => {
  let model: GenerativeModel;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(fixturePath('induction/model'), optionsFor(variant));
  });
  afterAll(() => model.dispose());

  it.each([
    ['position', 'hook_resid_pre'],
    ['head', 'attn.hook_z'],
  ] as const)(
    'attribution patching by %s is float64’s, and orders patches as activation patching does',
    async (by, leaf) => {
      const options = { clean, corrupted, by };
      const found = await attributionPatching(model, { ...options, metric });
      expect(found.clean).toBeCloseTo(Number(reference('value').data[0]), 3);
      expect(found.corrupted).toBeCloseTo(Number(reference('corrupted_value').data[0]), 3);
      expectNear(`patched.${leaf}`, found.patched);
      const measured = await patchActivations(model, { ...options, metric: logitDifference(right, wrong) });
      expect(measured.hooks).toEqual(found.hooks);
      const effects = (patched: Tensor<'float32'>) =>
        Array.from(patched.data, (value) => (value as number) - found.corrupted);
      const [estimated, exact] = [effects(found.patched), effects(measured.patched)];
      const moved = exact.flatMap((effect, at) => (effect === 0 ? [] : [at])); // the others are 0 in both
      for (const [at, effect] of exact.entries()) if (effect === 0) expect(estimated[at]).toBeCloseTo(0, 4);
      const both = [estimated, exact].map((values) => moved.map((at) => values[at] as number)) as [number[], number[]];
      expect(rankCorrelation(...both)).toBeGreaterThanOrEqual(0.9);
    },
  );

  it('edges have float64’s scores, and the largest are those of the induction circuit', async () => {
    const found = await edgeAttribution(model, { clean, corrupted, metric });
    expectNear('edges', found.scores);
    const { value, writers, readers, edges } = found;
    expect(value).toBeCloseTo(Number(reference('value').data[0]), 3);
    expect([writers.length, readers.length]).toEqual([11, 27]);
    expect(edges[0]?.to).toMatch(/^(a1\.h\d<[qkv]>|logits)$/);
    expect(edges.every(({ score }, at) => at === 0 || Math.abs(score) <= Math.abs(edges[at - 1]?.score ?? 0))).toBe(
      true,
    );
    expect(edges.some(({ from, to }) => from === 'm1' && to.startsWith('a'))).toBe(false);
    expectNear('edges_integrated', (await edgeAttribution(model, { clean, corrupted, metric, steps: 4 })).scores);
  });

  it('integrated gradients are float64’s and complete', async () => {
    const found = await integratedGradients(model, clean, { metric, steps: 16 });
    expectNear('integrated', found.sums);
    expect(found.attributions.dims).toEqual([1, 24, 64]);
    const fine = await integratedGradients(model, clean, { metric, steps: 64 });
    expect(Math.abs(fine.error)).toBeLessThan(0.02 * Math.abs(fine.value - fine.baseline));
  });

  it('saliency and rollout are float64’s', async () => {
    expectNear('saliency', await tokenSaliency(model, clean, { metric }));
    expectNear('gradient_x_input', await tokenSaliency(model, clean, { metric, method: 'gradient_x_input' }));
    const [, cache] = await model.run_with_cache(clean, { metric, names_filter: '*.hook_pattern' });
    expect(Object.keys(cache.grad)).toHaveLength(2);
    expectNear('rollout', gradientRollout(cache));
  });
});

describe('edges sum to what their reader sees of the difference, to first order', () => {
  it.each(['gpt2/odd', 'granite/even', 'granite/odd', 'phi/odd', 'bloom/odd'])('%s', async (name) => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath(`models/${name}`));
    const [right, wrong] = [{ input_ids: [[3, 9, 4, 20]] }, { input_ids: [[3, 11, 8, 20]] }];
    const term = logitDifferenceTerm(11, 5);
    const { scores, readers } = await edgeAttribution(model, { clean: right, corrupted: wrong, metric: term });
    const last = model.cfg.n_layers - 1;
    const hooks = [`blocks.${last}.hook_resid_post`, `blocks.${last}.hook_mlp_in`] as const;
    const [, before] = await model.run_with_cache(wrong, { names_filter: hooks });
    const { activations, grad } = await model.backward(right, {
      metric: term,
      names_filter: hooks,
      with_respect_to: { hooks },
    });
    for (const [hook, reader] of [
      [hooks[0], 'logits'],
      [hooks[1], `m${last}`],
    ] as const) {
      const of = (values: Partial<Record<string, unknown>>) => values[hook] as Tensor<'float32'>;
      const wanted = Number(of(before).sub(of(activations)).mul(of(grad)).sum().item());
      const column = scores.slice(null, readers.indexOf(reader));
      const size = Number(column.map(Math.abs).sum().item());
      expect(Math.abs(Number(column.sum().item()) - wanted), reader).toBeLessThan(1e-5 * size);
    }
  });
});

it('takes bigints for tokens and the number of sequences', () => {
  const [token, other, batch] = [11n, 5n, 2n] as unknown as number[];
  const term = logitDifferenceTerm(token as number, other as number, -1, batch);
  expect(term).toEqual(logitDifferenceTerm(11, 5, -1, 2));
});

it('measures all sequences unless told how many, as logitDifference', async () => {
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
  const inputs = { input_ids: [[5, 6, 7], [8, 9, 3]] }; // biome-ignore format: rows
  const { logits } = await model(inputs);
  for (const [right, wrong] of [
    [11, 5],
    [[11, 12], 5],
    [[11, 12], [5, 6]], // biome-ignore format: rows
  ] as const) {
    const metric = logitDifferenceTerm(right, wrong);
    const { value } = await model.backward(inputs, { metric });
    expect(value).toBeCloseTo(await logitDifference(right, wrong)(logits), 5);
    const all = logitDifferenceTerm(right, wrong, -1, 2);
    const given = { clean: inputs, corrupted: inputs };
    expect(await edgeAttribution(model, { ...given, metric })).toEqual(
      await edgeAttribution(model, { ...given, metric: all }),
    );
  }
  const saliency = await tokenSaliency(model, inputs, { metric: logitDifferenceTerm(11, 5) });
  expect(saliency).toEqual(await tokenSaliency(model, inputs, { metric: logitDifferenceTerm(11, 5, -1, 2) }));
});

it('refuses what is no token, and functions that are not differentiated', async () => {
  for (const term of [
    () => logitDifferenceTerm('x' as never, 5),
    () => logitDifferenceTerm(-1, 5),
    ...[null, '', '5', true].map((token) => () => logitDifferenceTerm(token as never, 5)),
    () => logitDifferenceTerm([5, null as never], [6, 7]),
    () => logitDifferenceTerm([5, 6], [7]),
    () => logitDifferenceTerm([7], [5, 6]),
    () => logitDifferenceTerm(5, 6, -1, 0),
    () => logitDifferenceTerm(5, 6, -1, Number.NaN),
  ]) {
    expect(await failureOf(async () => term())).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('logitDifferenceTerm'),
    });
  }
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
  const inputs = { input_ids: [[5, 6, 7]] };
  const given = { clean: inputs, corrupted: inputs, metric: logitDifference(3, 4) as never };
  for (const call of [attributionPatching, edgeAttribution] as const) {
    expect((await failureOf(() => call(model, given))).message).toContain('no term, as of logitDifferenceTerm');
  }
  const { logits } = await model(inputs);
  expect((await failureOf(async () => logitDifference([3, 4], 5)(logits))).message).toContain('tokens of 2 rows');
});

it('makes the inputs of a decoder from a loss’s labels', async () => {
  await using t5 = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/odd'));
  const inputs = { input_ids: [[5, 6, 7, 8]] };
  const given = { metric: { labels: [[5, 6, 7]] }, at: 'decoder.hook_embed', steps: 4 } as const;
  const found = await integratedGradients(t5, inputs, given);
  expect(found.sums.dims).toEqual([1, 3]);
  const start = (t5.config as { decoder_start_token_id: number }).decoder_start_token_id;
  expect(await integratedGradients(t5, { ...inputs, decoder_input_ids: [[start, 5, 6]] }, given)).toEqual(found);
});

describe('what cannot be attributed', () => {
  it('is refused by name', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gemma2/odd'));
    const inputs = { input_ids: [[5, 6, 7]] };
    const term = { logits: [{ token: 3 }] };
    const sum = await failureOf(() => edgeAttribution(model, { clean: inputs, corrupted: inputs, metric: term }));
    expect(sum.code).toBe('unsupported');
    expect(sum.message).toContain('gemma2');
    const other = { input_ids: [[5, 6]] };
    const dims = await failureOf(() => attributionPatching(model, { clean: inputs, corrupted: other, metric: term }));
    expect(dims.code).toBe('shape_mismatch');
    const steps = await failureOf(() => integratedGradients(model, inputs, { metric: term, steps: 0 }));
    expect(steps.code).toBe('invalid_argument');
    const nothing = { metric: term, with_respect_to: { inputs: 'inputs_embeds' } } as const;
    expect(await failureOf(() => model.backward(undefined as never, nothing))).toMatchObject({
      code: 'invalid_argument',
    });
    expect((await failureOf(async () => logitDifference(3, 4)(null as never))).code).toBe('invalid_argument');
    const method = await failureOf(() =>
      tokenSaliency(model, inputs, { metric: term, method: 'guided' as 'gradient' }),
    );
    expect(method.message).toContain("'guided'");
    const [, cache] = await model.run_with_cache(inputs, { metric: term, names_filter: '*.hook_pattern' });
    const maps = Object.values(cache).filter((map) => map instanceof Tensor) as Tensor<'float32'>[];
    for (const gradients of [maps.slice(1), maps.map((map) => map.slice([0, 1], null, [0, 2], [0, 2]))]) {
      const fewer = await failureOf(async () => gradientRollout({ patterns: maps, gradients }));
      expect(fewer.code).toBe('shape_mismatch');
    }
  });

  it('are scores that a mask hides, which stay hidden', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const inputs = { input_ids: [[5, 6, 7]] };
    const term = { logits: [{ token: 3 }] };
    const at = 'blocks.0.attn.hook_attn_scores';
    const found = await integratedGradients(model, inputs, { metric: term, at, steps: 64 });
    expect(Math.abs(found.error)).toBeLessThan(0.02 * Math.abs(found.value - found.baseline));
    const padded = { ...inputs, attention_mask: [[0, 1, 1]] };
    const hook = 'blocks.*.attn.hook_attn_scores';
    const masks = () => attributionPatching(model, { clean: inputs, corrupted: padded, metric: term, hook });
    expect((await failureOf(masks)).code).toBe('unsupported');
  });

  it('takes baselines that are broadcast', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const inputs = { input_ids: [[5, 6, 7], [8, 9, 3]] }; // biome-ignore format: rows
    const term = { logits: [{ token: 3 }] };
    const width = model.cfg.d_model;
    const data = Float32Array.from({ length: width }, (_, at) => Math.sin(at));
    const of = (dims: number[]) =>
      integratedGradients(model, inputs, { metric: term, steps: 2, baseline: new Tensor('float32', data, dims) });
    expect(await of([1, 1, width])).toEqual(await of([width]));
    expect((await failureOf(() => of([width, 1, 1]))).code).toBe('shape_mismatch');
  });
});
