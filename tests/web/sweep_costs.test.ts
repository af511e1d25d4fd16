// What a patching grid costs as a sweep, against one run per patch: the products of matrices, counted; and, with
// SWEEP_GRID=printed, processor time for a part of the grid of GPT-2 small at 128 tokens.

import {
  type ActivationEdit,
  AutoModelForCausalLM,
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
