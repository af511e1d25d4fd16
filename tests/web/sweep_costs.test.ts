// What a patching grid costs as a sweep, against one run per patch: the products of matrices, counted, also of an
// encoder-decoder, whose encoder runs once; and, with SWEEP_GRID=printed, processor time for a part of the grid of GPT-2
// small at 128 tokens.

import {
  type ActivationEdit,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  get_act_patch_resid_pre,
  logitDifference,
  type ModelInputs,
  type PreTrainedModel,
  sweep,
  type Tensor,
} from 'clearformer';
import { expect, it, vi } from 'vitest';
import { checkpointFiles } from '../bench/models/checkpoint.js';
import { shapes } from '../bench/models/shapes.js';
import { randomWeights } from '../bench/models/weights.js';
import { median } from '../bench/statistics.js';

const metric = logitDifference(5, 6);
const shown = process.env.SWEEP_GRID === 'printed';

async function load(name: 'gpt2' | 'gpt2-tiny'): Promise<PreTrainedModel> {
  const files = Object.entries(checkpointFiles(shapes[name], randomWeights(shapes[name])));
  const source = Object.fromEntries(files.map(([file, parts]) => [file, new Blob(parts)]));
  return AutoModelForCausalLM.from_pretrained(source, { worker: false, numThreads: 1 });
}

const tokens = (length: number, changed: number) => ({
  input_ids: [Array.from({ length }, (_, at) => (at === changed ? 99 : (at * 37) % 500))],
});

/** Multiplications of a pass in matrix products of linear layers. */
function productsOf(model: PreTrainedModel, inputs: ModelInputs, start: number, kept: number | undefined): number {
  const { n_layers, d_model, d_mlp, d_vocab } = model.cfg as typeof model.cfg & { d_mlp: number };
  const { dims } = (inputs.residual ?? inputs.input_ids) as Tensor;
  const [rows = 0, length = 0] = dims ?? [1, (inputs.input_ids as number[][])[0]?.length];
  const layer = 4 * d_model ** 2 + 2 * d_model * d_mlp;
  return rows * (length * (n_layers - start) * layer + (kept ?? length) * d_model * d_vocab);
}

it('a grid [layer, pos] takes less than a third of the products', async () => {
  const model = await load('gpt2-tiny');
  const [clean, corrupted] = [tokens(64, -1), tokens(64, 9)];
  const [, cache] = await model.run_with_cache(clean, { names_filter: 'blocks.*.hook_resid_pre' });
  const run = vi.spyOn(model, 'run_with_cache');
  const grid = await get_act_patch_resid_pre(model, corrupted, cache, metric);
  const products = run.mock.calls.map(([inputs, { start_at_layer = 0, logits_to_keep } = {}]) =>
    productsOf(model, inputs, start_at_layer, (logits_to_keep as number[] | undefined)?.length),
  );
  const swept = products.reduce((sum, one) => sum + one, 0);
  const separate = grid.data.length * productsOf(model, corrupted, 0, undefined);
  expect(grid.dims).toEqual([5, 64]);
  expect(run.mock.calls.length).toBeLessThan(0.6 * grid.data.length);
  if (shown) console.log(`products: ${(swept / separate).toFixed(3)} of one by one`);
  expect(swept / separate).toBeLessThan(1 / 3);
  await model.dispose();
});

/** Multiplications of a pass of an encoder-decoder in matrix products of linear layers, in both towers. */
function productsOfBoth(
  { cfg }: PreTrainedModel,
  inputs: ModelInputs,
  start: number,
  kept: number | undefined,
): { encoder: number; decoder: number } {
  const { n_layers, d_model, d_mlp, d_vocab, encoder } = cfg as typeof cfg & { d_mlp: number; encoder: typeof cfg };
  const sizes = (given: unknown): readonly number[] =>
    given === undefined ? [0, 0] : ((given as Tensor).dims ?? [1, (given as number[][])[0]?.length]);
  const [rows = 0, length = 0] = sizes(inputs.residual ?? inputs.decoder_input_ids);
  const [sources = 0, source = 0] = sizes(inputs.input_ids);
  const [attention, mlp] = [4 * d_model ** 2, 2 * d_model * d_mlp];
  const memory = 2 * d_model ** 2 * n_layers; // the decoder's keys and values of the encoder's output
  const own = length * (n_layers - start) * (attention + mlp + 2 * d_model ** 2);
  return {
    encoder: sources * source * (encoder.n_layers * (attention + mlp) + memory),
    decoder: rows * (own + (kept ?? length) * d_model * d_vocab),
  };
}

it('interventions in a decoder run the encoder once', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained('./web/demo/public/models/marian-tiny-en-fr', {
    worker: false,
    deterministic: true,
  });
  const { n_layers, d_vocab } = model.cfg;
  const tokens = (count: number, step: number) => [Array.from({ length: count }, (_, at) => (at * step + 7) % d_vocab)];
  const base = { input_ids: tokens(24, 37), decoder_input_ids: tokens(12, 53) };
  const layers = Array.from({ length: n_layers }, (_, layer) => layer);
  const interventions = layers.flatMap((layer) =>
    Array.from({ length: 12 }, (_, pos) =>
      (['attn.hook_z', 'cross_attn.hook_z', 'mlp.hook_post'] as const).map(
        (leaf): ActivationEdit => ({ hook: `decoder.${layer}.${leaf}` as `${string}*`, pos, op: 'zero' }),
      ),
    ).flat(),
  );
  const run = vi.spyOn(model, 'run_with_cache');
  const swept = await sweep(model, { base, interventions, metric });
  const products = run.mock.calls.map(([inputs, { start_at_layer = 0, logits_to_keep } = {}]) =>
    productsOfBoth(model, inputs, start_at_layer, (logits_to_keep as number[] | undefined)?.length),
  );
  const sum = (tower: 'encoder' | 'decoder') => products.reduce((total, one) => total + one[tower], 0);
  const once = productsOfBoth(model, base, 0, undefined);
  expect(sum('encoder')).toBe(once.encoder); // that of the base run
  const separate = interventions.length * (once.encoder + once.decoder);
  if (shown) console.log(`encoder-decoder: ${((sum('encoder') + sum('decoder')) / separate).toFixed(3)} of one by one`);
  expect((sum('encoder') + sum('decoder')) / separate).toBeLessThan(1 / 4);
  for (const at of [0, 17, interventions.length - 1]) {
    const edits = [interventions[at] as ActivationEdit];
    expect(swept.values[at]).toBe(await metric(await model.run_with_hooks(base, { edits })));
  }
  await model.dispose();
});

it.runIf(shown)('takes less than a third of the time for GPT-2 small', { timeout: 3_600_000 }, async () => {
  const model = await load('gpt2');
  const [clean, base] = [tokens(128, -1), tokens(128, 9)];
  const [, cache] = await model.run_with_cache(clean, { names_filter: 'blocks.*.hook_resid_pre' });
  const places = [1, 4, 7, 10].flatMap((layer) =>
    [8, 24, 40, 56, 72, 88, 104, 120].map((pos) => [layer, pos] as const),
  );
  const interventions = places.map(([layer, pos]): ActivationEdit => {
    const hook = `blocks.${layer}.hook_resid_pre` as const;
    return { hook, pos, op: 'replace', value: cache[hook]?.slice(null, pos, null) as Tensor };
  });
  const seconds = async (work: () => Promise<unknown>) => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  const separate = async () => {
    const values: number[] = [];
    for (const edit of interventions) {
      values.push(await metric(await model.run_with_hooks(base, { edits: [edit] })));
    }
    return values;
  };
  const together = async () => (await sweep(model, { base, interventions, metric })).values;
  expect(await together()).toEqual(await separate());
  const rounds: number[] = [];
  for (let round = 0; round < 2; round++) {
    const [alone, swept] = [await seconds(separate), await seconds(together)];
    console.log(
      `${interventions.length} of 1536 patches: ${alone.toFixed(1)} s one by one, ${swept.toFixed(1)} s as a sweep`,
    );
    rounds.push(swept / alone);
  }
  console.log(`ratio ${median(rounds).toFixed(3)}`);
  expect(median(rounds)).toBeLessThan(1 / 3);
  await model.dispose();
});
