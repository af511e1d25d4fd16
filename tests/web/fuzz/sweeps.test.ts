// Random and damaged interventions of sweeps, and edges' removal by acdc: each call ends in a typed error or a result,
// whose values have the bits of passes made one by one; the model computes the same bits before and afterwards.

import {
  type ActivationEdit,
  AutoModelForCausalLM,
  acdc,
  logitDifference,
  type Metric,
  type PreTrainedModel,
  sweep,
  type Tensor,
} from 'clearformer';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedJson, fuzz, isRefused, mostly, some } from '../support/fuzzing.js';
import { fixturePath } from '../support/references.js';

type Floats = Tensor<'float32'>;
const load = () => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker: false });
const base = { input_ids: [[3, 9, 4, 20], [1, 6, 8, 30]] }; // biome-ignore format: two rows

/** A number that depends on every bit of the logits. */
const digest: Metric = ({ data }) => data.reduce((sum, value, at) => sum + value * Math.sin(at + 1), 0);

async function bitsOf(model: PreTrainedModel): Promise<number[]> {
  const { logits } = (await model(base)) as unknown as { logits: Floats };
  return [...logits.data];
}

const ops = ['zero', 'mean', 'scale', 'add', 'replace', 'noise', 'project_out', 'clamp'];
const leaves = [
  'hook_resid_pre',
  'hook_resid_post',
  'hook_attn_out',
  'hook_mlp_out',
  'hook_mlp_in',
  'hook_q_input',
  'attn.hook_z',
  'attn.hook_k',
  'attn.hook_pattern',
  'attn.hook_attn_scores',
  'attn.hook_result',
  'mlp.hook_post',
  'ln1.hook_scale',
];
const hooks = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.nat(1), fc.constantFrom(...leaves)).map(([n, leaf]) => `blocks.${n}.${leaf}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>('hook_embed', 'ln_final.hook_normalized', '*.hook_z', ['hook_embed']),
  },
);
const places = fc.oneof(fc.integer({ min: -4, max: 3 }), fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 2 }));
const values = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(0.5, -2, 1e30) },
  {
    weight: 1,
    arbitrary: fc
      .nat(30)
      .map((count) => ({ data: Float32Array.from({ length: count }, (_, at) => Math.cos(at)), dims: [count] })),
  },
);
/** Selections, some of which a hook may lack. */
const selections = fc.oneof(
  { weight: 6, arbitrary: some({ row: fc.integer({ min: -2, max: 1 }), pos: places, feature: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: some({ row: fc.integer({ min: -3, max: 3 }), head: fc.nat(3), key_pos: places, seed: fc.nat() }),
  },
);

/** An edit with what its operation needs. */
const edit = fc
  .record({ hook: hooks, op: fc.constantFrom(...ops), value: values, where: selections })
  .map(({ hook, op, value, where }) => ({
    hook,
    op,
    ...where,
    ...(op === 'clamp' ? { min: -0.5, max: 0.5 } : op === 'zero' || op === 'mean' ? {} : { value }),
  }));
const intervention = fc.oneof(edit, fc.array(edit, { maxLength: 2 }));

interface Call {
  interventions: unknown;
  edits?: unknown;
  logits_to_keep?: unknown;
}

const calls = fc.record(
  {
    interventions: mostly(fc.array(mostly(intervention), { maxLength: 4 })),
    edits: mostly(fc.array(edit, { maxLength: 1 })),
    logits_to_keep: mostly(fc.constantFrom<unknown>(1, [-1], [0, 3], [1])),
    metric: fc.oneof({ weight: 30, arbitrary: fc.constant(digest) }, { weight: 1, arbitrary: anything }),
    resume: fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anything }),
  },
  { requiredKeys: ['interventions', 'metric'] },
) as Arbitrary<Call>;
const damaged = damagedJson([
  { interventions: [{ hook: 'blocks.1.attn.hook_z', head: 1, pos: [0, 2], op: 'scale', value: 0.5 }] },
  { interventions: [[{ hook: 'blocks.0.hook_mlp_out', op: 'zero' }]], edits: [{ hook: 'hook_embed', op: 'mean' }] },
  { interventions: [{ hook: 'hook_embed', op: 'noise', value: 1, seed: 3 }], resume: [null], logits_to_keep: [-1] },
]).map((call) => (typeof call === 'object' && call !== null ? { metric: digest, ...call } : call)) as Arbitrary<Call>;

it('interventions of sweeps', async () => {
  await using model = await load();
  const before = await bitsOf(model);
  const counts = await fuzz('interventions of sweeps', 80, fc.oneof(calls, damaged), async (call) => {
    const { values } = await sweep(model, { base, ...call } as never);
    const { interventions, edits = [], logits_to_keep, resume } = call as never;
    if (resume !== undefined) return;
    const all = Array.from({ length: (interventions as []).length }, (_, at) => (interventions as unknown[])[at]);
    for (const [index, one] of all.entries()) {
      const both = [...(edits as ActivationEdit[]), one].flat() as ActivationEdit[];
      const alone = await model.run_with_hooks(base, {
        edits: both,
        ...(logits_to_keep !== undefined && { logits_to_keep }),
      });
      expect(values[index]).toBe(await digest(alone as Floats));
    }
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect(await bitsOf(model)).toEqual(before);
});

it('interventions that a pass accepts, a sweep accepts', async () => {
  await using model = await load();
  await fuzz('single interventions', 40, intervention, async (one) => {
    const alone = await isRefused(() => model.run_with_hooks(base, { edits: [one].flat() as ActivationEdit[] }));
    const swept = await isRefused(() => sweep(model, { base, interventions: [one as ActivationEdit], metric: digest }));
    expect(swept).toBe(alone);
  });
});

it('circuits', async () => {
  await using model = await load();
  const before = await bitsOf(model);
  const fitting = fc.tuple(fc.nat(9), fc.nat(9)).map((ids) => ({ input_ids: [[3, ...ids]] }));
  const inputs = fc.oneof(
    { weight: 12, arbitrary: fitting },
    { weight: 1, arbitrary: fc.constantFrom<unknown>({ input_ids: [[3, 9]] }, { input_ids: [[3, 9, 99_999]] }) },
    { weight: 1, arbitrary: anything },
  );
  const metrics = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom<unknown>(logitDifference(1, 2), digest, undefined) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(() => 'x', () => Number.NaN, { reads: 1 }) }, // biome-ignore format: short
    { weight: 1, arbitrary: anything },
  );
  const drawn = fc.record({
    base: inputs,
    source: inputs,
    threshold: mostly(fc.constantFrom(0, 0.05, 1e9, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)),
    metric: metrics,
  });
  const counts = await fuzz('circuits', 12, drawn, async (options) => {
    const found = await acdc(model, options as never);
    expect(found.edges.length).toBeLessThanOrEqual(found.total);
    expect(new Set(found.edges.map(({ from, to }) => `${from} ${to}`)).size).toBe(found.edges.length);
    if (options.threshold === Number.POSITIVE_INFINITY && !Number.isNaN(found.whole)) expect(found.edges).toEqual([]);
    if (options.threshold !== Number.NEGATIVE_INFINITY) return;
    expect(found.edges.length).toBe(found.total); // nothing is removed
    expect(found.circuit).toBe(found.whole);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect(await bitsOf(model)).toEqual(before);
});
