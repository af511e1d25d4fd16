// Activation patching: with everything patched it is the clean run, and every number equals that of a run with one
// edit.

import {
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  ablateHeads,
  acdc,
  attributionPatching,
  causalTracing,
  detectHeads,
  edgeAttribution,
  get_act_patch_resid_pre,
  type LayerHook,
  logitDifference,
  logitDifferenceTerm,
  type ModelInputs,
  type PatchActivationsOptions,
  type PreTrainedModel,
  patchActivations,
  pathPatching,
  sweep,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath } from '../support/references.js';

const clean: ModelInputs = { input_ids: [[3, 9, 4, 20, 7], [1, 1, 8, 30, 31]] }; // biome-ignore format: two rows
const corrupted: ModelInputs = { input_ids: [[3, 10, 4, 20, 7], [1, 2, 9, 30, 31]] }; // biome-ignore format: two rows
const metric = logitDifference(11, 12);
const load = (worker = false) => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'), { worker });

/** The expected results: runs with one edit each, whose value is taken from the clean run. */
async function expectSeparateRuns(
  model: PreTrainedModel,
  given: Pick<PatchActivationsOptions, 'clean' | 'corrupted' | 'by' | 'hook'>,
  axis: number,
): Promise<void> {
  const found = await patchActivations(model, { ...given, metric });
  const [, cache] = await model.run_with_cache(given.clean, { names_filter: found.hooks });
  const key = given.by === 'head' ? 'head' : 'pos';
  const [layers = 0, extent = 0] = found.patched.dims;
  expect(layers).toBe(found.hooks.length);
  for (const [layer, hook] of found.hooks.entries()) {
    const value = cache[hook] as Tensor;
    expect(value.dims[axis]).toBe(extent);
    for (let at = 0; at < extent; at++) {
      const part = value.slice(...value.dims.map((_, each) => (each === axis ? at : null)));
      const edit = { hook, op: 'replace', value: part, [key]: at } as const;
      const logits = await model.run_with_hooks(given.corrupted, { edits: [edit] });
      expect(found.patched.slice(layer, at).item()).toBe(Math.fround(await metric(logits)));
    }
  }
}

describe('a language model', async () => {
  const model = await load();

  it('answers as on the clean input when a whole layer of the residual stream is patched', async () => {
    const found = await patchActivations(model, { clean, corrupted, metric, by: 'layer' });
    const [right] = await model.run_with_cache(clean, { names_filter: [] });
    const [wrong] = await model.run_with_cache(corrupted, { names_filter: [] });
    expect([found.clean, found.corrupted]).toEqual([await metric(right), await metric(wrong)]);
    expect(found.clean).not.toBe(found.corrupted);
    expect(found.hooks).toEqual(['blocks.0.hook_resid_pre', 'blocks.1.hook_resid_pre']);
    expect(found.patched.dims).toEqual([2]);
    expect([...found.patched.data]).toEqual([Math.fround(found.clean), Math.fround(found.clean)]);
  });

  it('patches, estimates and ablates what heads add as it does what they attend to', async () => {
    const term = logitDifferenceTerm(11, 12, -1, 2);
    const result = 'blocks.*.attn.hook_result';
    const each = async (hook: LayerHook) => {
      const given = { clean, corrupted, by: 'head', hook } as const;
      const patched = await patchActivations(model, { ...given, metric });
      const estimated = await attributionPatching(model, { ...given, metric: term });
      const ablated = await ablateHeads(model, clean, { metric, hook });
      return [patched.patched, estimated.patched, ablated.changes];
    };
    const expected = await each('blocks.*.attn.hook_z');
    for (const [at, found] of (await each(result)).entries()) {
      const other = expected[at] as Tensor<'float32'>;
      expect(found.dims).toEqual(other.dims);
      found.data.forEach((value, i) => {
        expect(value).toBeCloseTo(other.data[i] as number, 5);
      });
    }
  });

  it('answers as before where both inputs are the same up to there', async () => {
    const { patched, corrupted: before } = await patchActivations(model, { clean, corrupted, metric });
    expect(patched.dims).toEqual([2, 5]);
    expect(patched.slice(null, 0).tolist()).toEqual([Math.fround(before), Math.fround(before)]);
    expect(patched.slice(null, 1).tolist()).not.toContain(Math.fround(before));
  });

  it.each([
    ['position', undefined, 1],
    ['position', 'blocks.*.hook_mlp_out', 1],
    ['position', 'blocks.*.attn.hook_pattern', 2],
    ['position', 'blocks.*.attn.hook_v', 1],
    ['head', undefined, 2],
    ['head', 'blocks.*.attn.hook_pattern', 1],
    ['head', 'blocks.1.attn.hook_k', 2],
  ] as const)('by %s of %s: runs with one edit', async (by, hook, axis) => {
    await expectSeparateRuns(model, { clean, corrupted, by, hook }, axis);
  });

  it('gives the same in a worker', async () => {
    const there = await load(true);
    const options = { clean, corrupted, metric, by: 'head' } as const;
    expect(await patchActivations(there, options)).toEqual(await patchActivations(model, options));
    await there.dispose();
  });

  it('says how far it is and stops when told to', async () => {
    const controller = new AbortController();
    const runs: string[] = [];
    const progress = ({ done, total }: { done: number; total: number }) => {
      if (runs.push(`${done} of ${total}`) === 2) controller.abort(new Error('enough'));
    };
    const options = { clean, corrupted, metric, progress, signal: controller.signal };
    await expect(patchActivations(model, options)).rejects.toThrow('enough');
    expect(runs).toEqual(['1 of 10', '2 of 10']);
  });

  it('refuses what does not fit', async () => {
    const failures: [object, string, string][] = [
      [
        { corrupted: { input_ids: [[1, 2]] } },
        'shape_mismatch',
        'is [2, 5, 32] on the clean input, [1, 2, 32] on the corrupted one',
      ],
      [{ by: 'token' }, 'unsupported', "unknown by 'token'"],
      [{ by: 'head', hook: 'blocks.*.hook_resid_mid' }, 'invalid_argument', 'has no axis of heads'],
      [{ hook: 'encoder.*.hook_resid_pre' }, 'invalid_argument', "hook: no hook is named 'encoder.*.hook_resid_pre'"],
      [{ metric: 3 }, 'invalid_argument', 'metric must be a function'],
      [{ layers: [0] }, 'unsupported', "unknown option 'layers'"],
    ];
    for (const [options, code, message] of failures) {
      const failure = await failureOf(() => patchActivations(model, { clean, corrupted, metric, ...options } as never));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(message)]);
    }
  });
});

it('patches both stacks of an encoder-decoder', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
  const decoder_input_ids = [[2, 9], [2, 5]]; // biome-ignore format: two rows
  const given = { clean: { ...clean, decoder_input_ids }, corrupted: { ...corrupted, decoder_input_ids } };
  await expectSeparateRuns(model, { ...given, by: 'position', hook: 'encoder.*.hook_resid_pre' }, 1);
  await expectSeparateRuns(model, { ...given, by: 'head', hook: 'decoder.*.cross_attn.hook_z' }, 2);
  const whole = await patchActivations(model, {
    ...given,
    metric,
    by: 'layer',
    hook: 'encoder.*.hook_normalized_resid_post',
  });
  expect([...whole.patched.data]).toEqual([Math.fround(whole.clean)]);
  await model.dispose();
  await using t5 = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even'));
  const { hooks } = await patchActivations(t5, { ...given, metric, by: 'layer', hook: 'decoder.*.hook_out' });
  expect(hooks).toEqual(['decoder.0.hook_resid_post', 'decoder.1.hook_resid_post']); // not the last norm's
});

it('refuses a cache, as all analyses of several passes, before one of them extends it', async () => {
  const model = await load();
  const { past_key_values } = await model({ input_ids: [[5]] }, { use_cache: true });
  const cached = { input_ids: [[5]], past_key_values };
  const [, cache] = await model.run_with_cache({ input_ids: [[5]] });
  const term = { logits: [{ token: 5 }] };
  for (const [call, refused] of Object.entries({
    ablateHeads: () => ablateHeads(model, cached, { metric }),
    patchActivations: () => patchActivations(model, { clean: cached, corrupted: cached, metric }),
    pathPatching: () => pathPatching(model, { base: cached, source: cached, metric }),
    causalTracing: () => causalTracing(model, { inputs: cached, subject: [0], noise: 1, metric }),
    get_act_patch_resid_pre: () => get_act_patch_resid_pre(model, cached, cache, metric),
    edgeAttribution: () => edgeAttribution(model, { clean: cached, corrupted: cached, metric: term }),
    detectHeads: () => detectHeads(model, { inputs: cached }),
  })) {
    const message = `${call}: inputs with past_key_values`;
    expect(await failureOf(refused)).toMatchObject({ code: 'unsupported', message });
  }
  expect(await past_key_values?.get_seq_length()).toBe(1); // no refused call has extended it
  await model.dispose();
});

it('names inputs that are not given, as all analyses of several passes', async () => {
  await using model = await load();
  const [, cache] = await model.run_with_cache({ input_ids: [[5]] });
  const [given, term] = [{ input_ids: [[5]] }, { logits: [{ token: 5 }] }];
  for (const [message, call] of Object.entries({
    'ablateHeads: inputs': (none) => ablateHeads(model, none, { metric }),
    'patchActivations: clean': (none) => patchActivations(model, { clean: none, corrupted: given, metric }),
    'patchActivations: corrupted': (none) => patchActivations(model, { clean: given, corrupted: none, metric }),
    'attributionPatching: corrupted': (none) =>
      attributionPatching(model, { clean: given, corrupted: none, metric: term }),
    'edgeAttribution: clean': (none) => edgeAttribution(model, { clean: none, corrupted: given, metric: term }),
    'sweep: base': (none) => sweep(model, { base: none, interventions: [], metric }),
    'pathPatching: source': (none) => pathPatching(model, { base: given, source: none, metric }),
    'acdc: source': (none) => acdc(model, { base: given, source: none, threshold: 1, metric }),
    'causalTracing: inputs': (none) => causalTracing(model, { inputs: none, subject: [0], noise: 1, metric }),
    'get_act_patch_resid_pre: corrupted': (none) => get_act_patch_resid_pre(model, none, cache, metric),
  } as Record<string, (none: never) => unknown>)) {
    const failure = await failureOf(() => call(undefined as never));
    expect([failure.code, failure.message]).toEqual([
      'invalid_argument',
      `${message}: needs inputs of the model, got undefined`,
    ]);
  }
});
