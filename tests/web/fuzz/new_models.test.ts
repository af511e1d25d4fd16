// New models of damaged configurations of every architecture: refused with a typed error, or a model whose weights are of
// its config's shapes, finite, the same for the same seed, and which is saved and loaded with the same bits.

import { readdirSync, readFileSync } from 'node:fs';
import type { PreTrainedModel } from 'clearformer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedJson, fuzz, mostly, some } from '../support/fuzzing.js';
import { classes, classOf } from '../support/model_classes.js';
import { casesOf, fixturePath } from '../support/references.js';

type Config = Record<string, unknown>;
const folders = readdirSync(fixturePath('models'));

/** A config of each architecture, and the task of its checkpoint. */
const known = folders.flatMap((folder) =>
  casesOf(`models/${folder}`)
    .filter(({ op, options }) => op === 'model_forward' && String(options.task) in classes)
    .slice(0, 1)
    .map(({ options }) => {
      const path = fixturePath(`models/${folder}/${String(options.checkpoint)}/config.json`);
      return { config: JSON.parse(readFileSync(path, 'utf8')) as Config, task: String(options.task) };
    }),
);

/** Every weight: its name and numbers. */
async function weightsOf(
  model: PreTrainedModel,
): Promise<Map<string, { dims: readonly number[]; data: Float32Array }>> {
  const all = new Map();
  for (const { name } of await model.named_parameters()) {
    const { dims, data } = await model.parameter(name);
    all.set(name, { dims, data });
  }
  return all;
}

const sameBits = (a: Float32Array, b: Float32Array | undefined) =>
  b !== undefined && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength)); // biome-ignore format: short

it('new models', async () => {
  const drawn = fc.tuple(fc.constantFrom(...known), fc.nat()).chain(([{ config, task }]) =>
    fc.record({
      config: fc.oneof(
        { weight: 1, arbitrary: fc.constant(config as unknown) },
        { weight: 3, arbitrary: damagedJson([config]) },
      ),
      task: fc.oneof(
        { weight: 12, arbitrary: fc.constant(task) },
        { weight: 1, arbitrary: fc.constantFrom(...Object.keys(classes)) },
      ),
      options: fc.oneof(
        { weight: 12, arbitrary: some({ seed: mostly(fc.nat()) }) },
        { weight: 1, arbitrary: anything },
      ),
    }),
  );
  const counts = await fuzz('new models', 15, drawn, async ({ config, task, options }, allow) => {
    const made = classOf(task, (config as Config | null)?.model_type);
    // The same build for both, of which one has other bits.
    const build = typeof options === 'object' && options !== null ? { worker: false, deterministic: true } : undefined;
    const given = build ? { ...build, ...(options as object) } : options;
    await using model = await made.from_config(config as never, given as never);
    const weights = await weightsOf(model);
    // Without a key it has its class's default size: up to a billion weights are drawn, saved, loaded and compared.
    allow([...weights.values()].reduce((sum, { data }) => sum + data.length, 0) / 5000);
    for (const [name, { dims, data }] of weights) {
      expect(data.length, name).toBe(dims.reduce((product, extent) => product * extent, 1));
      expect(data.every(Number.isFinite), name).toBe(true);
    }
    await using loaded = await made.from_pretrained(await model.save_pretrained(), build);
    const again = await weightsOf(loaded);
    expect([...again.keys()].sort()).toEqual([...weights.keys()].sort());
    for (const [name, { data }] of weights) expect(sameBits(data, again.get(name)?.data), name).toBe(true);
    if (model.cfg.kind !== 'decoder-only' && model.cfg.kind !== 'encoder-only') return;
    if (model.cfg.task.startsWith('image') || 'patch_size' in (config as Config)) return;
    const inputs = { input_ids: [[1, 0]] };
    const outputs = [model, loaded].map(async (one) => Object.values(await one(inputs)) as { data?: Float32Array }[]);
    const [own = [], other = []] = await Promise.all(outputs);
    own.forEach(({ data }, at) => {
      if (data instanceof Float32Array) expect(sameBits(data, other[at]?.data)).toBe(true);
    });
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});
