// Training: losses, norms of gradients and weights of torch.optim's steps (tests/references/training.py), of a model's
// weights and of an adapter's; the same bits with any number of threads.

import { createHash } from 'node:crypto';
import {
  AdamW,
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  clip_grad_norm_,
  type GenerativeModel,
  type Optimizer,
  SGD,
  Tensor,
  type TrainingInputs,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { collectGarbage } from './support/garbage.js';
import { type Case, caseOf, casesOf, fixturePath, tensorsOf } from './support/references.js';

const ignored = 3; // positions of the first row

interface Options extends Record<'warmup' | 'steps' | 'max_norm' | 'label_smoothing', number> {
  checkpoint: string;
  kind: 'AdamW' | 'SGD';
  options: Record<string, unknown>;
  schedule: 'constant' | 'linear' | 'cosine';
  parameters: string;
  adapter?: string;
}
type TrainingCase = Case<Options>;
const cases = casesOf<TrainingCase>('training');

function optimizerOf(model: GenerativeModel, one: TrainingCase): Optimizer {
  const { options, schedule, warmup, steps, parameters, adapter } = one.options;
  const given = {
    ...options,
    lr_scheduler_type: schedule,
    num_warmup_steps: warmup,
    num_training_steps: steps,
    parameters,
    adapter: adapter && 'default',
  };
  return one.options.kind === 'SGD' ? new SGD(model, given) : new AdamW(model, given);
}

function batchOf(one: TrainingCase, step: number): TrainingInputs {
  const { data, dims } = tensorsOf('training', one)(`ids${step % 4}`);
  const labels = (data as BigInt64Array).slice().fill(-100n, 0, ignored);
  return {
    input_ids: new Tensor('int64', data as BigInt64Array, dims),
    labels: new Tensor('int64', labels, dims),
  };
}

async function loaded(one: TrainingCase, options = {}): Promise<GenerativeModel> {
  const { checkpoint, adapter } = one.options;
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath(checkpoint), {
    deterministic: true,
    ...options,
  });
  if (adapter) await model.load_adapter(fixturePath(`adapters/${adapter}`));
  return model;
}

async function train(model: GenerativeModel, one: TrainingCase, steps: number) {
  const { max_norm, label_smoothing } = one.options;
  const optimizer = optimizerOf(model, one);
  const losses: number[] = [];
  const norms: number[] = [];
  for (let step = 0; step < steps; step++) {
    losses.push(await optimizer.backward(batchOf(one, step), { label_smoothing }));
    norms.push(await clip_grad_norm_(optimizer, max_norm));
    await optimizer.step();
  }
  await optimizer.dispose();
  return { losses, norms };
}

async function weightsOf(model: GenerativeModel, one: TrainingCase): Promise<Map<string, ArrayLike<number>>> {
  const names = Object.keys(one.outputs).filter((name) => !['losses', 'norms'].includes(name));
  if (one.op === 'training') {
    return new Map(await Promise.all(names.map(async (name) => [name, (await model.parameter(name)).data] as const)));
  }
  const again = await AutoModelForCausalLM.from_pretrained(fixturePath(one.options.checkpoint));
  const files = await model.save_adapter('default');
  await again.load_adapter(files);
  const bytes = files['adapter_model.safetensors'] as Uint8Array;
  return new Map(names.map((name) => [name, floatsOf(bytes, name)]));
}

/** A tensor of a safetensors file. */
function floatsOf(bytes: Uint8Array, name: string): Float32Array {
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const { data_offsets } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)))[name];
  return new Float32Array(bytes.slice(8 + length + data_offsets[0], 8 + length + data_offsets[1]).buffer);
}

/** The largest difference, of numbers above 1 in proportion to them. */
const worst = (found: ArrayLike<number>, expected: ArrayLike<number>) =>
  Array.from(found).reduce(
    (most, value, at) =>
      Math.max(most, Math.abs(value - Number(expected[at])) / Math.max(1, Math.abs(Number(expected[at])))),
    0,
  );

describe('steps of optimisers', () => {
  it.each(cases)('$name are torch’s', async (one) => {
    const expected = tensorsOf('training', one);
    const error = one.float32_error as { losses: number; norms: number; weights: number };
    const model = await loaded(one);
    const { losses, norms } = await train(model, one, Number(one.options.steps));
    expect(worst(losses, expected('losses').data as Float32Array)).toBeLessThanOrEqual(1e-5);
    expect(worst(norms, expected('norms').data as Float32Array)).toBeLessThanOrEqual(Math.max(1e-5, 8 * error.norms));
    expect(losses.at(-1)).toBeLessThan(0.95 * (losses[0] as number));
    const weights = await weightsOf(model, one);
    for (const [name, data] of weights) {
      expect(worst(data, expected(name).data as Float32Array)).toBeLessThanOrEqual(Math.max(1e-5, 8 * error.weights));
    }
    await model.dispose();
  });

  it('have the same bits with 1, 2 and 4 threads, and in a worker', async () => {
    const one = caseOf<TrainingCase>('training', 'adamw');
    const digests: string[] = [];
    for (const options of [{ numThreads: 1 }, { numThreads: 2 }, { numThreads: 4 }, { worker: true }]) {
      const model = await loaded(one, options);
      const hash = createHash('sha256');
      hash.update(new Uint8Array(Float64Array.from((await train(model, one, 12)).losses).buffer));
      for (const { name } of await model.named_parameters()) {
        hash.update(new Uint8Array((await model.parameter(name)).data.slice().buffer));
      }
      digests.push(hash.digest('hex'));
      await model.dispose();
    }
    expect(new Set(digests).size).toBe(1);
  });

  it('change nothing after clip_grad_norm_ at 0', async () => {
    const one = caseOf<TrainingCase>('training', 'adamw');
    await using model = await loaded(one);
    const name = (await model.named_parameters())[0]?.name as string;
    const before = (await model.parameter(name)).data.slice();
    await using optimizer = new SGD(model, { lr: 0.1 });
    await optimizer.backward(batchOf(one, 0));
    const norm = await clip_grad_norm_(optimizer, 0);
    expect(norm).toBeGreaterThan(0);
    expect(await clip_grad_norm_(optimizer, 1)).toBe(0);
    await optimizer.step();
    expect((await model.parameter(name)).data).toEqual(before);
  });

  it('train some weights and leave the others', async () => {
    const one = caseOf<TrainingCase>('training', 'some');
    const model = await loaded(one);
    const before = new Map<string, Float32Array>();
    for (const { name } of await model.named_parameters()) before.set(name, (await model.parameter(name)).data.slice());
    await train(model, one, 2);
    for (const [name, data] of before) {
      const same = (await model.parameter(name)).data.every((value, at) => Object.is(value, data[at]));
      expect(same).toBe(!/mlp.*weight$/.test(name));
    }
  });
});

// AdamW's decay and SGD's momentum, of torch.optim, do not change weights without a gradient.
describe('weights that a pass does not reach keep their bits', () => {
  const inputs_embeds = new Tensor('float32', Float32Array.from({ length: 3 * 16 }, Math.sin), [1, 3, 16]);
  const labels = [[4, 5, 6]];
  const shared = { vocab_size: 40, hidden_size: 16, num_attention_heads: 2, initializer_range: 0.2 };

  it('the token embeddings, where embeddings are given', async () => {
    const config = { ...shared, model_type: 'llama', intermediate_size: 24, num_hidden_layers: 1 };
    for (const kind of [AdamW, SGD]) {
      await using model = await AutoModelForCausalLM.from_config(config, { seed: 1 });
      const table = async () => (await model.parameter('model.embed_tokens.weight')).data.slice();
      const given = kind === SGD ? { momentum: 0.9 } : {};
      const optimizer = new kind(model, { lr: 0.1, weight_decay: 0.5, ...given });
      const step = async (inputs: object) => {
        await optimizer.backward({ ...inputs, labels } as TrainingInputs);
        await optimizer.step();
        return table();
      };
      const first = await table();
      expect(await step({ inputs_embeds })).toEqual(first);
      const trained = await step({ input_ids: labels });
      expect(trained.every((value, at) => value !== first[at])).toBe(true); // rows without a token decay
      expect(await step({ inputs_embeds })).toEqual(trained);
    }
  });

  it('a group of ALBERT’s weights that no layer uses', async () => {
    const config = { ...shared, model_type: 'albert', embedding_size: 8, intermediate_size: 16, num_hidden_groups: 3 };
    const layers = { num_hidden_layers: 2, inner_group_num: 1, max_position_embeddings: 8 };
    await using model = await AutoModelForMaskedLM.from_config({ ...config, ...layers }, { seed: 1 });
    const names = (await model.named_parameters()).map(({ name }) => name).filter((name) => /ffn.weight/.test(name));
    const read = () => Promise.all(names.map(async (name) => (await model.parameter(name)).data.slice()));
    const before = await read();
    const optimizer = new AdamW(model, { lr: 0.1 });
    await optimizer.backward({ input_ids: labels, labels });
    await optimizer.step();
    const kept = (await read()).map((data, at) => String(data) === String(before[at]));
    expect(kept).toEqual([false, false, true]);
  });
});

describe('optimisers refuse', () => {
  it('what they cannot train, and options that are none', async () => {
    const one = caseOf<TrainingCase>('training', 'adamw');
    const model = await loaded(one);
    const batch = batchOf(one, 0);
    const half = await loaded(one, { dtype: 'fp16' });
    const refused: [() => unknown, string, message?: string][] = [
      [() => new AdamW(half).backward(batch), 'unsupported'],
      [() => new AdamW(model, { parameters: 'model.nothing' }).backward(batch), 'invalid_argument'],
      [() => new AdamW(model, { adapter: 'none' }).backward(batch), 'invalid_argument'],
      [() => new AdamW(model, { lr: -1 }).backward(batch), 'invalid_argument'],
      [() => new AdamW(model, { lr: Number.POSITIVE_INFINITY }).backward(batch), 'invalid_argument'],
      [() => new AdamW(model, { betas: 0.9 as never }), 'invalid_argument'],
      [() => new AdamW(model, { betas: [0.9] as never }), 'invalid_argument', 'not two numbers'],
      [() => new AdamW(model).backward(batch, { label_smoothing: Number.NaN }), 'invalid_argument'],
      [() => new AdamW(model).backward({ ...batch, labels: [[97]] }), 'shape_mismatch'],
      [() => new AdamW(model).backward({ ...batch, labels: null as never }), 'invalid_argument'],
      [() => model.backward(batch, { metric: { labels: null as never } }), 'invalid_argument'],
      [() => new AdamW(model).step(), 'invalid_argument'],
      [() => clip_grad_norm_(new AdamW(model), 1), 'invalid_argument'],
      [() => new AdamW(model, { momentum: 1 } as object), 'unsupported'],
      [() => new AdamW({} as never), 'invalid_argument'],
      [() => new SGD(null as never), 'invalid_argument'],
      [() => new SGD(model, { lr_scheduler_type: 'polynomial' as 'linear' }), 'unsupported'],
      [() => new SGD(model, { lr_scheduler_type: 'linear' }), 'invalid_argument'],
      [() => new SGD(model, { lr_scheduler_type: 'constant', num_warmup_steps: 1 }), 'invalid_argument'],
      [() => new SGD(model, { parameters: [] }), 'invalid_argument'],
      [() => new SGD(model).backward({ input_ids: batch.input_ids } as TrainingInputs), 'invalid_argument'],
      [() => clip_grad_norm_(new SGD(model), Number.NaN), 'invalid_argument'],
      [() => clip_grad_norm_(new SGD(model), -1), 'invalid_argument', 'max_norm is -1'],
    ];
    for (const [failing, code, message = ''] of refused) {
      expect(await failureOf(failing)).toMatchObject({ code, message: expect.stringContaining(message) });
    }
    const optimizer = new AdamW(model);
    await optimizer.backward(batch);
    const { workspace } = model.info().memory;
    await optimizer.dispose();
    expect(await failureOf(() => optimizer.step())).toMatchObject({ code: 'disposed' });
    await model({ input_ids: [[1]] });
    expect(model.info().memory.workspace).toBeLessThan(workspace);
    const unused = new AdamW(model);
    await unused.dispose();
    expect(await failureOf(() => unused.backward(batch))).toMatchObject({ code: 'disposed' });
  });

  it('adapters that are not in force, or were deleted', async () => {
    const one = cases.find(({ options }) => options.adapter !== undefined) as TrainingCase;
    await using model = await loaded(one);
    const batch = batchOf(one, 0);
    const optimizer = new AdamW(model, { adapter: 'default' });
    await model.disable_adapters();
    const failure = await failureOf(() => optimizer.backward(batch));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('is not in force') });
    await model.enable_adapters();
    await optimizer.backward(batch);
    await model.delete_adapter('default');
    expect(await failureOf(() => optimizer.step())).toMatchObject({ code: 'invalid_argument' });
    await model.load_adapter(fixturePath(`adapters/${one.options.adapter}`));
    const other = await failureOf(() => optimizer.backward(batch));
    expect(other).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('was deleted') });
  });

  it('no memory after they are forgotten', async () => {
    await using model = await loaded(cases[0] as TrainingCase);
    await model({ input_ids: [[1]] });
    const { workspace } = model.info().memory;
    await (async () => {
      for (let i = 0; i < 3; i++) await new AdamW(model).backward(batchOf(cases[0] as TrainingCase, 0));
    })();
    await collectGarbage();
    await model({ input_ids: [[1]] });
    expect(model.info().memory.workspace).toBeLessThan(1.5 * workspace);
  });

  it('a rate that is no number: the weights keep their bits', async () => {
    const one = caseOf<TrainingCase>('training', 'adamw');
    await using model = await loaded(one);
    const bits = async () => [...(await model({ input_ids: [[1, 2]] })).logits.data];
    const before = await bits();
    const optimizer = new AdamW(model);
    await optimizer.backward(batchOf(one, 0));
    for (const lr of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      optimizer.lr = lr;
      expect(await failureOf(() => optimizer.step())).toMatchObject({ code: 'invalid_argument' });
    }
    expect(await bits()).toEqual(before);
  });
});

// A pass of 2,000 positions takes far longer than the signal.
it.each([false, true])('backward of an optimiser is aborted between two layers; worker: %s', async (worker) => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker });
  const bits = async () => [...(await model({ input_ids: [[1, 2]] })).logits.data];
  const before = await bits();
  const optimizer = new SGD(model);
  const rows = Array.from({ length: 48 }, () => Array.from({ length: 64 }, (_, at) => at));
  const { signal, abort } = abortion();
  const failing = optimizer.backward({ input_ids: rows, labels: rows }, { signal });
  setTimeout(abort, 1);
  const reason = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(reason).toBe(signal.reason);
  expect(await failureOf(() => optimizer.step())).toMatchObject({ code: 'invalid_argument' });
  expect(await bits()).toEqual(before);
  expect(await optimizer.backward({ input_ids: [[1, 2]], labels: [[1, 2]] })).toBeGreaterThan(0);
  await model.dispose();
});

describe.each([false, true])('what is not awaited keeps its order; worker: %s', (worker) => {
  const batch = { input_ids: [[1, 2, 3]], labels: [[1, 2, 3]] };
  const digest = (bytes: Uint8Array | undefined) =>
    createHash('sha256')
      .update(bytes as Uint8Array)
      .digest('hex');
  const stepped = async (model: GenerativeModel, options: object) => {
    const optimizer = new SGD(model, { lr: 0.5, ...options });
    await optimizer.backward(batch);
    return optimizer;
  };

  it('files of a model, steps, edits and passes', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker });
    const optimizer = await stepped(model, {});
    const written = async (one = model) => digest((await one.save_pretrained())['model.safetensors']);
    const [before, , passed, after, , , edited] = await Promise.all([
      written(),
      optimizer.step(),
      model(batch),
      written(),
      optimizer.dispose(),
      model.edit_parameter('ln_f.weight', { op: 'scale', value: 2 }),
      written(),
    ]);
    await using untrained = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker });
    expect(before).toBe(await written(untrained));
    expect(edited).toBe(await written());
    await model.undo_edits();
    expect(after).toBe(await written());
    expect(passed).toEqual(await model(batch));
    expect(new Set([before, after, edited]).size).toBe(3);
  });

  it('files of an adapter, steps and its release', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker });
    await model.load_adapter(fixturePath('adapters/llama'));
    const optimizer = await stepped(model, { adapter: 'default' });
    const written = async () => digest((await model.save_adapter('default'))['adapter_model.safetensors']);
    const first = await written();
    const [before, , after] = await Promise.all([
      written(),
      optimizer.step(),
      written(),
      model.delete_adapter('default'),
    ]);
    expect(before).toBe(first);
    expect(after).not.toBe(first);
    expect(await failureOf(written)).toMatchObject({ code: 'invalid_argument' });
  });

  it('adapters that are loaded, set and released, one of them in vain', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker });
    const inputs = { input_ids: [[3, 9, 4, 20, 7]] };
    const passed = async () => digest(new Uint8Array((await model(inputs)).logits.data.buffer));
    const text = async () => [...(await model.generate(inputs, { max_new_tokens: 12 })).data].join();
    const load = (name: string) => model.load_adapter(fixturePath(`adapters/${name}`), { adapter_name: 'a' });
    const [before, , , failure, loaded, names, , without, , again] = await Promise.all([
      passed(),
      load('llama'),
      model.set_adapter('a', { scale: 3 }),
      failureOf(() => load('nowhere')),
      passed(),
      model.active_adapters(),
      model.disable_adapters(),
      passed(),
      model.enable_adapters(),
      passed(),
      model.delete_adapter('a'),
      load('llama'),
    ]);
    expect([failure.code, names, without, again]).toEqual(['file_not_found', ['a'], before, loaded]);
    await model.delete_adapter('a');
    const [, generated] = await Promise.all([load('llama'), text()]);
    expect(generated).toBe(await text());
  });
});

function abortion(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
