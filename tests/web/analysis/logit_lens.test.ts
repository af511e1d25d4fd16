// The logit lens: its last layer is the model's output, the others equal the output for a replaced final residual
// stream.

import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  type HookName,
  logitLens,
  type ModelInputs,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath, storiesPath } from '../support/references.js';

const input_ids = [
  [3, 9, 4, 20, 7],
  [1, 1, 8, 30, 31],
];
const source = { input_ids, decoder_input_ids: [[2, 9, 8], [2, 5, 5]] }; // biome-ignore format: two rows

const models: [string, () => Promise<PreTrainedModel>, ModelInputs][] = [
  ...[
    'models/gpt2/even',
    'models/gpt_neo/even',
    'models/phi/even',
    'models/gemma2/odd',
    'models/opt/odd',
    'llama_tiny/bias',
    storiesPath,
  ].map((name): [string, () => Promise<PreTrainedModel>, ModelInputs] => [
    name,
    () => AutoModelForCausalLM.from_pretrained(name.startsWith('/') ? name : fixturePath(name)),
    { input_ids },
  ]),
  ['models/bart/even', () => AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even')), source],
  ['models/t5/even', () => AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even')), source],
  ['models/bert', () => AutoModelForMaskedLM.from_pretrained(fixturePath('models/bert/even_masked_lm')), { input_ids }],
  [
    'models/modernbert',
    () => AutoModelForMaskedLM.from_pretrained(fixturePath('models/modernbert/odd_masked_lm')),
    { input_ids },
  ],
];

describe.each(models)('%s', (_, load, inputs) => {
  it('is the model at the last layer, and with its last residual replaced at the others', async () => {
    const model = await load();
    const lens = await logitLens(model, inputs);
    const [logits, cache] = await model.run_with_cache(inputs, { names_filter: /hook_(normalized_)?resid_/ });
    const { n_layers } = model.cfg;
    expect(lens.dims).toEqual([n_layers + 1, ...logits.dims]);
    expect(lens.slice(n_layers)).toEqual(logits);
    const streams = (Object.keys(cache) as HookName[]).filter((name) => !name.startsWith('encoder.'));
    const last = streams.at(-1) as HookName;
    const before = streams.filter((name) => name.endsWith('hook_resid_pre'));
    expect(before.length).toBe(n_layers);
    for (const [layer, name] of before.entries()) {
      const edit = { hook: last, op: 'replace', value: cache[name] as Tensor } as const;
      expect(lens.slice(layer)).toEqual(await model.run_with_hooks(inputs, { edits: [edit] }));
    }
    await model.dispose();
  });
});

describe('options', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'));
  const all = await logitLens(model, { input_ids });

  it('takes positions: a number drops the axis, a list keeps it', async () => {
    const last = await logitLens(model, { input_ids }, { pos: -1 });
    expect(last).toEqual(all.slice(null, null, -1));
    expect(await logitLens(model, { input_ids }, { pos: [4] })).toEqual(all.slice(null, null, [4, null]));
    const two = await logitLens(model, { input_ids }, { pos: [-2, 0] });
    expect(two.dims).toEqual([3, 2, 2, 64]);
    expect(two.slice(1, 1, 1)).toEqual(all.slice(1, 1, 0));
  });

  it('can leave the final norm out', async () => {
    const bare = await logitLens(model, { input_ids }, { normalize: false });
    expect(bare.dims).toEqual(all.dims);
    expect(bare.slice(2)).not.toEqual(all.slice(2));
    // Tied: without the norm, the first layer's logits are products of the embedding with itself.
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: 'blocks.0.hook_resid_pre' });
    const stream = (cache['blocks.0.hook_resid_pre'] as Tensor).slice(0, 0).data as Float32Array;
    const { hook_embed } = (await model.run_with_cache({ input_ids: [[17]] }, { names_filter: 'hook_embed' }))[1];
    const row = (hook_embed as Tensor).data as Float32Array;
    const products = Array.from(stream, (value, at) => value * (row[at] as number));
    // Bound: a sum of 32 products in float32, each step at most 2^-24 of the sum so far.
    const bound = 33 * 2 ** -24 * products.reduce((sum, value) => sum + Math.abs(value), 0);
    const wanted = products.reduce((sum, value) => sum + value, 0);
    expect(Math.abs((bare.slice(0, 0, 0, 17).item() as number) - wanted)).toBeLessThanOrEqual(bound);
  });

  it('gives the same in a worker', async () => {
    const there = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'), { worker: true });
    expect(there.info().worker).toBe(true);
    expect(await logitLens(there, { input_ids })).toEqual(all);
    await there.dispose();
  });

  it('refuses positions, options and models it has no answer for', async () => {
    for (const pos of [5, -6, 0.5, [0, 9], []]) {
      const failure = await failureOf(() => logitLens(model, { input_ids }, { pos }));
      expect([failure.code, failure.message]).toEqual([
        'invalid_argument',
        expect.stringMatching(/^logitLens: no position .* among 5$/),
      ]);
    }
    expect((await failureOf(() => logitLens(model, { input_ids }, { position: 1 } as never))).code).toBe('unsupported');
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await expect(logitLens(model, { input_ids }, { signal: controller.signal })).rejects.toThrow('enough');
    const vit = await AutoModelForImageClassification.from_pretrained(
      fixturePath('models/vit/even_image_classification'),
    );
    expect((await failureOf(() => logitLens(vit, {}))).message).toBe(
      'logitLens: vit for image-classification gives no logits of a vocabulary',
    );
    const base = await AutoModel.from_pretrained(fixturePath('models/bert/even_base'));
    expect((await failureOf(() => logitLens(base, { input_ids }))).code).toBe('unsupported');
    await Promise.all([vit.dispose(), base.dispose()]);
  });
});
