// sweep: every value has the bits of a run with the same edits by itself, whatever is shared; streams, ends, resumes.

import {
  type ActivationEdit,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  type Intervention,
  logitDifference,
  type ModelInputs,
  type PreTrainedModel,
  sweep,
  sweep_stream,
  type Tensor,
} from 'clearformer';
import { describe, expect, it, vi } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath } from '../support/references.js';
import { optionsFor, variants } from '../support/variants.js';

type Floats = Tensor<'float32'>;
const gpt2 = () => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
const ids = [[3, 9, 4, 20, 7, 50, 8], [1, 6, 8, 30, 31, 12, 9]]; // biome-ignore format: two rows
const padded = { input_ids: ids, attention_mask: [[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]] }; // biome-ignore format: two rows

/** A number that depends on every bit of the logits. */
const digest = ({ data }: Floats) => data.reduce((sum, value, at) => sum + value * Math.sin(at + 1), 0);

const value = (count: number, scale = 1) => Float32Array.from({ length: count }, (_, at) => scale * Math.cos(at));
const vector = (count: number) => ({ data: value(count), dims: [count] });

/** Interventions at every place that a stack of two layers has. */
function interventions(stack: string, width: number, heads: number): Intervention[] {
  const hook = (layer: number, leaf: string) => `${stack}${layer}.${leaf}` as `${string}*`;
  const by = (layer: number, leaf: string, edit: Omit<ActivationEdit, 'hook'>) => ({
    hook: hook(layer, leaf),
    ...edit,
  });
  const positions = [0, 3, -1, 5].flatMap((pos): Intervention[] => [
    by(0, 'hook_resid_pre', { pos, op: 'zero' }),
    by(1, 'hook_resid_pre', { pos, op: 'add', value: vector(width) }),
    by(1, 'hook_attn_out', { pos: [pos], op: 'scale', value: 0.5 }),
    by(0, 'hook_mlp_out', { pos, op: 'replace', value: vector(width) }),
    by(1, 'attn.hook_z', { pos, head: -1, op: 'zero' }),
    by(1, 'attn.hook_k', { pos, head: 0, op: 'zero' }),
    by(0, 'attn.hook_pattern', { pos, head: 0, op: 'zero' }),
    by(1, 'hook_q_input', { pos, head: 0, op: 'scale', value: 2 }),
    by(1, 'hook_mlp_in', { pos, op: 'zero' }),
    by(1, 'attn.hook_result', { pos, head: 0, op: 'zero' }),
    by(1, 'attn.hook_pattern', { pos, key_pos: 0, op: 'replace', value: 0.5 }),
    [by(0, 'attn.hook_z', { pos, op: 'zero' }), by(1, 'hook_mlp_out', { pos: 4, op: 'zero' })],
  ]);
  const all = Array.from({ length: heads }, (_, head) => by(head % 2, 'attn.hook_z', { head, op: 'zero' }));
  return [
    ...positions,
    ...all,
    by(1, 'attn.hook_z', { head: 0, op: 'mean' }),
    by(1, 'hook_resid_pre', { pos: 2, row: 1, op: 'noise', value: 0.5, seed: 3 }),
    by(0, 'mlp.hook_post', { row: [-1, 0], feature: [1, 2], op: 'noise', value: 1 }),
    { hook: `${stack}*.hook_mlp_out` as const, pos: 2, op: 'zero' },
    { hook: 'ln_final.hook_out', pos: 6, op: 'scale', value: 2 },
    { hook: 'hook_embed', pos: 4, op: 'zero' },
    [],
  ] as Intervention[];
}

async function expectBits(
  model: PreTrainedModel,
  base: ModelInputs,
  wanted: readonly Intervention[],
  options: { edits?: readonly ActivationEdit[]; logits_to_keep?: number | readonly number[] } = {},
): Promise<void> {
  const { edits = [], logits_to_keep } = options;
  const { values, base: without } = await sweep(model, { base, interventions: wanted, metric: digest, ...options });
  expect(without).toBe(digest(await model.run_with_hooks(base, { edits, logits_to_keep })));
  for (const [at, intervention] of wanted.entries()) {
    const all = [...edits, ...[intervention].flat()];
    const logits = await model.run_with_hooks(base, { edits: all, logits_to_keep });
    expect([at, JSON.stringify(intervention), values[at]]).toEqual([at, JSON.stringify(intervention), digest(logits)]);
  }
  await model.dispose();
}

const has = (model: PreTrainedModel, given: Intervention[]) =>
  given.filter((one) =>
    [one]
      .flat()
      .every(({ hook }) =>
        model.hooks({ on_request: true }).some(({ name }) => name === hook || String(hook).includes('*')),
      ),
  );

describe.each(variants)('%s: as one by one, bit for bit', (variant) => {
  it.each(['models/gpt2/odd', 'llama_tiny/odd', 'models/gpt_neox/even', 'models/bloom/odd', 'models/gemma2/even'])(
    '%s',
    async (folder) => {
      const model = await AutoModelForCausalLM.from_pretrained(fixturePath(folder), optionsFor(variant));
      const { d_model, n_heads } = model.cfg;
      await expectBits(model, { input_ids: ids }, has(model, interventions('blocks.', d_model, n_heads)));
    },
  );

  it.each([
    ['the last position', { logits_to_keep: 1 }],
    ['positions', { logits_to_keep: [2, -2, 0] }],
    ['edits of the base', { edits: [{ hook: 'hook_embed', pos: [1, 2], op: 'noise', value: 0.3 }] }],
    ['edits above', { edits: [{ hook: 'blocks.1.attn.hook_z', head: 1, op: 'zero' }], logits_to_keep: 2 }],
    ['edits of means', { edits: [{ hook: 'blocks.1.hook_mlp_out', op: 'mean' }] }],
    [
      'a stream with positions',
      { edits: [{ hook: 'blocks.1.hook_mlp_out', op: 'add', value: { data: value(210), dims: [7, 30] } }] },
    ],
  ] as [string, Parameters<typeof expectBits>[3]][])('padded, with %s', async (_, options) => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), optionsFor(variant));
    const given = interventions('blocks.', 30, 3);
    await expectBits(model, padded, given, options);
  });
});

describe('models of other kinds', () => {
  it('one row of positions for all', async () => {
    const placed = { input_ids: ids, position_ids: [[0, 1, 2, 0, 1, 0, 1]] };
    await expectBits(await gpt2(), placed, interventions('blocks.', 30, 3));
  });

  it('an encoder', async () => {
    const model = await AutoModelForMaskedLM.from_pretrained(fixturePath('models/bert/odd_masked_lm'));
    const { d_model, n_heads } = model.cfg;
    await expectBits(model, padded, has(model, interventions('blocks.', d_model, n_heads)));
  });

  it('a model of images', async () => {
    const model = await AutoModelForImageClassification.from_pretrained(
      fixturePath('models/vit/odd_image_classification'),
    );
    const { d_model, n_heads } = model.cfg;
    const { num_channels = 3, image_size = 0 } = model.config as Record<string, number>;
    const dims = [2, num_channels, image_size, image_size];
    const pixel_values = { data: value(2 * num_channels * image_size * image_size), dims };
    await expectBits(model, { pixel_values }, has(model, interventions('blocks.', d_model, n_heads)).slice(0, 24));
  });

  const targets = ids.map((row) => row.slice(1));
  /** Interventions in both towers, and between them. */
  const inBoth = (model: PreTrainedModel) => {
    const { d_model, n_heads, n_layers } = model.cfg;
    const last = n_layers - 1;
    return has(model, [
      { hook: 'encoder.0.hook_mlp_out', pos: -1, op: 'zero' },
      ...interventions('decoder.', d_model, n_heads).slice(0, 50),
      { hook: `decoder.${last}.cross_attn.hook_pattern`, pos: [2, -1], key_pos: 6, op: 'zero' },
      { hook: `decoder.${last}.cross_attn.hook_z`, head: 1, pos: -2, op: 'zero' },
      { hook: 'decoder.0.hook_cross_attn_out', pos: 3, op: 'scale', value: 2 },
      { hook: `decoder.${last}.cross_attn.hook_k`, pos: -1, op: 'zero' },
      { hook: 'decoder.0.cross_attn.hook_v', pos: 6, op: 'scale', value: 0.5 },
      [
        { hook: 'decoder.0.hook_mlp_out', pos: 1, op: 'zero' },
        { hook: 'encoder.0.hook_resid_post', row: 1, pos: 6, op: 'zero' },
      ],
      { hook: 'decoder.hook_embed', pos: 2, op: 'zero' },
      { hook: 'decoder.ln_final.hook_out', pos: -1, op: 'zero' },
      { hook: 'encoder.hook_embed', pos: 2, op: 'zero' },
    ]);
  };

  it.each(['t5/odd', 't5/even', 'bart/odd', 'marian/even'])('an encoder-decoder: %s', async (folder) => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath(`models/${folder}`));
    const given = inBoth(model);
    expect(given.length).toBeGreaterThan(model.cfg.n_layers > 1 ? 30 : 12);
    await expectBits(model, { ...padded, decoder_input_ids: targets }, given, { logits_to_keep: 2 });
  });

  it.each([
    [{ hook: 'encoder.0.hook_mlp_out', pos: 6, op: 'zero' }],
    [{ hook: 'decoder.0.cross_attn.hook_v', pos: 5, op: 'zero' }],
    [{ hook: 'decoder.0.attn.hook_z', head: 0, op: 'zero' }],
  ] as ActivationEdit[][])('an encoder-decoder with %j in all runs', async (edit) => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'));
    const given = inBoth(model).filter((_, at) => at % 3 === 0);
    await expectBits(model, { input_ids: ids, decoder_input_ids: targets }, given, { edits: [edit as ActivationEdit] });
  });

  it('sound and text', async () => {
    const model = await AutoModelForSpeechSeq2Seq.from_pretrained(fixturePath('models/whisper/odd'));
    const { num_mel_bins = 0, max_source_positions = 0 } = model.config as Record<string, number>;
    const frames = 2 * max_source_positions;
    const input_features = { data: value(num_mel_bins * frames, 0.1), dims: [1, num_mel_bins, frames] };
    const decoder_input_ids = [[3, 9, 4, 20, 7]];
    const wrong = (one: Intervention) =>
      [one]
        .flat()
        .some(({ row, pos }) => [row, pos].flat().some((at) => Number(at) > 4 || (row !== undefined && at !== 0)));
    const given = inBoth(model).filter((one) => !wrong(one));
    await expectBits(
      model,
      { input_features, decoder_input_ids },
      given.filter((_, at) => at % 2 === 0),
    );
  });

  it('edits that no pass may have together', async () => {
    const model = await gpt2();
    const given = [
      { hook: 'blocks.0.ln1.hook_scale', op: 'scale', value: 2 },
      { hook: 'blocks.0.hook_q_input', head: 0, op: 'zero' },
      { hook: 'blocks.0.ln1.hook_normalized', op: 'scale', value: 2 },
    ] as const;
    await expectBits(model, { input_ids: ids }, given);
  });

  it('two towers', async () => {
    const model = await AutoModel.from_pretrained(fixturePath('models/clip/odd'));
    const { image_size, num_channels = 3 } = model.config.vision_config as Record<string, number>;
    const size = image_size as number;
    const pixel_values = { data: value(num_channels * size * size), dims: [1, num_channels, size, size] };
    const base = { input_ids: [[3, 4, 5, 2]], pixel_values };
    const given = ['text_model.blocks.0.hook_mlp_out', 'vision_model.blocks.1.attn.hook_z'] as const;
    await expectBits(
      model,
      base,
      given.map((hook) => ({ hook, op: 'zero' as const })),
    );
  });

  it('keys and values in half precision, which are not shared', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { cache_dtype: 'fp16' });
    await expectBits(model, { input_ids: ids }, interventions('blocks.', 30, 3).slice(0, 12), { logits_to_keep: 1 });
  });
});

const few = interventions('blocks.', 30, 3).slice(0, 20);
const metric = logitDifference(11, 12);

describe('a sweep', () => {
  it('computes what interventions share once', async () => {
    const model = await gpt2();
    const run = vi.spyOn(model, 'run_with_cache');
    const last = {
      length: 60,
      at: (index: number) => ({ hook: 'blocks.1.attn.hook_z', pos: 6, head: index % 3, op: 'zero' }) as const,
    };
    await sweep(model, { base: { input_ids: ids }, interventions: last, metric });
    expect(run).toHaveBeenCalledTimes(2);
    const [inputs, options] = run.mock.calls[1] ?? [];
    expect(inputs?.residual).toMatchObject({ dims: [120, 1, 30] });
    expect(options).toMatchObject({ start_at_layer: 1, logits_to_keep: [0] });
    await model.dispose();
  });

  it('measures what logitDifference reads', async () => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few };
    for (const pos of [-1, 2]) {
      const one = logitDifference(11, 12, pos);
      const { values } = await sweep(model, { ...options, metric: one });
      const whole = await sweep(model, { ...options, metric: (logits) => one(logits) });
      expect(values).toEqual(whole.values);
    }
    await model.dispose();
  });

  it('takes several models, or loads them', async () => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few, metric };
    const alone = await sweep(model, options);
    const other = await gpt2();
    expect(await sweep([model, other], options)).toEqual(alone);
    const loaded: PreTrainedModel[] = [];
    const load = async () => {
      loaded.push(await gpt2());
      return loaded.at(-1) as PreTrainedModel;
    };
    expect(await sweep(load, { ...options, workers: 3 })).toEqual(alone);
    expect(loaded).toHaveLength(3);
    expect(await failureOf(() => loaded[0]?.({ input_ids: ids }))).toMatchObject({ code: 'disposed' });
    await other.dispose();
    expect(await failureOf(() => sweep([model, other], options))).toMatchObject({ code: 'disposed' });
    expect((await model({ input_ids: ids })).logits?.dims[0]).toBe(2);
    await model.dispose();
  });

  it('runs in workers', async () => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few, metric };
    const load = () => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker: true });
    expect(await sweep(load, options)).toEqual(await sweep(model, options));
    const controller = new AbortController();
    const stopped = new Error('stopped');
    const onResult = () => controller.abort(stopped);
    await expect(sweep(load, { ...options, signal: controller.signal, onResult })).rejects.toBe(stopped);
    await model.dispose();
  });

  it('streams results, and ends with the loop', async () => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few, metric };
    const { values } = await sweep(model, options);
    const found: number[] = [];
    for await (const { index, value } of sweep_stream(model, options)) found[index] = value;
    expect(found).toEqual(values);
    for await (const { index, value } of sweep_stream(model, options)) {
      expect(value).toBe(values[index]);
      break;
    }
    await model.dispose();
  });

  it('ends by a signal, and goes on from what is known', async () => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few, metric };
    const { values } = await sweep(model, options);
    const known: (number | null)[] = few.map(() => null);
    const controller = new AbortController();
    const enough = new Error('enough');
    const ended = sweep(model, {
      ...options,
      signal: controller.signal,
      onResult: ({ index, value }) => {
        known[index] = value;
        if (known.filter((one) => one !== null).length === 4) controller.abort(enough);
      },
    });
    await expect(ended).rejects.toBe(enough);
    const before = known.filter((one) => one !== null).length;
    expect(before).toBeGreaterThanOrEqual(4);
    expect(before).toBeLessThan(few.length);
    const steps: number[] = [];
    const resume = JSON.parse(JSON.stringify(known));
    const again = await sweep(model, { ...options, resume, progress: ({ done }) => steps.push(done) });
    expect(again.values).toEqual(values);
    expect(steps).toEqual(few.slice(before).map((_, at) => before + at + 1));
    await model.dispose();
  });

  it.each([
    [{ metric: 3 }, 'metric'],
    [{ metric: () => 'three' }, 'three'],
    [{ interventions: 7 }, 'interventions'],
    [{ interventions: { length: 2, at: () => undefined } }, 'no intervention 0 of 2'],
    [{ interventions: [{ hook: 'blocks.7.hook_z', op: 'zero' }] }, 'blocks.7.hook_z'],
    [{ interventions: [{ hook: 'blocks.1.attn.hook_z', head: 9, op: 'zero' }] }, 'head 9'],
    [{ interventions: [{ hook: 'blocks.1.attn.hook_z', pos: -8, op: 'zero' }] }, '-8'],
    [{ interventions: [{ hook: 'blocks.1.attn.hook_z', pos: 0.5, op: 'zero' }] }, 'whole number'],
    [{ resume: [1] }, 'resume'],
    [{ workers: 0 }, 'workers'],
    [{ workers: 1e9 }, 'workers'],
    [{ interventions: { length: -1, at: () => few[0] } }, 'interventions'],
  ])('refuses %j', async (given, part) => {
    const model = await gpt2();
    const options = { base: { input_ids: ids }, interventions: few, metric, ...given } as Parameters<typeof sweep>[1];
    const failure = await failureOf(() => sweep('workers' in given ? async () => model : model, options));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(part) });
    expect((await model({ input_ids: ids })).logits?.dims[0]).toBe(2);
    await model.dispose();
  });

  it('refuses rows that the base does not have, whatever else is in the batch', async () => {
    const model = await gpt2();
    const all = [-3, 2, 3].map((row) => ({ hook: 'blocks.1.hook_mlp_out', row, op: 'zero' }) as const);
    for (const one of all) {
      const others = Array.from({ length: 3 }, () => few[0] as Intervention);
      const options = { base: { input_ids: ids }, interventions: [...others, one, ...others], metric };
      expect(await failureOf(() => sweep(model, options))).toMatchObject({ code: 'invalid_argument' });
    }
    await model.dispose();
  });

  it('refuses more values than memory has, before the first run', async () => {
    const model = await gpt2();
    const interventions = { length: 1e9, at: () => few[0] };
    const options = { base: { input_ids: ids }, interventions, metric } as Parameters<typeof sweep>[1];
    const failure = await failureOf(() => sweep(model, options));
    expect(failure).toMatchObject({ code: 'out_of_memory', message: expect.stringMatching(/1000000000.*16777216/) });
    await model.dispose();
  });

  it('refuses a cache, options it does not have, and no models', async () => {
    const model = await gpt2();
    const { past_key_values } = await model({ input_ids: [[5]] }, { use_cache: true });
    const options = { base: { input_ids: [[5]], past_key_values }, interventions: few, metric };
    expect(await failureOf(() => sweep(model, options))).toMatchObject({ code: 'unsupported' });
    // @ts-expect-error: misspelt
    expect(await failureOf(() => sweep(model, { ...options, edit: [] }))).toMatchObject({ code: 'unsupported' });
    const workers = { ...options, base: { input_ids: ids }, workers: 2 }; // of a function that loads models
    expect(await failureOf(() => sweep(model, workers))).toMatchObject({ details: { option: 'workers' } });
    expect(await failureOf(() => sweep([], { ...options, base: { input_ids: ids } }))).toMatchObject({
      code: 'invalid_argument',
    });
    await model.dispose();
  });
});
