// Mixtures of experts: what the router's hooks show, edits and gradients there, experts stored one by one or in a stack, and
// checkpoints whose experts are not those of the config.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AutoModelForCausalLM, inspect, type PreTrainedModel, pipeline, Tensor, toSafetensors } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, readReferences } from './support/references.js';

const input_ids = [
  [3, 9, 4, 20, 7],
  [11, 5, 8, 8, 30],
];
const normalized: Record<string, boolean> = { 'olmoe/even': false, 'qwen3_moe/odd': false };
const checkpoints = ['granitemoe', 'olmoe', 'qwen3_moe', 'mixtral'].flatMap((name) => [`${name}/even`, `${name}/odd`]);
const deterministic = true; // Node 20's relaxed SIMD has no q8 and q4
const load = (name: string, options = {}) =>
  AutoModelForCausalLM.from_pretrained(fixturePath(`models/${name}`), { deterministic, ...options });
const logitsOf = async (model: PreTrainedModel) => (await model({ input_ids })).logits as Tensor<'float32'>;

type Weights = Record<string, Tensor>;

/** A checkpoint's files, with other keys of its config or other tensors. */
function altered(name: string, keys: object, change: (weights: Weights) => Weights = (weights) => weights) {
  const folder = fixturePath(`models/${name}`);
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const stored = [...readReferences(join(folder, 'model.safetensors'))].map(([key, { data, dims }]) => [
    key,
    new Tensor('float32', data as Float32Array, dims),
  ]);
  return {
    'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...keys })),
    'model.safetensors': toSafetensors(change(Object.fromEntries(stored))),
  };
}

/** The tensors with every stack of experts as matrices under the names that transformers saves. */
function oneByOne(weights: Weights): Weights {
  const apart = Object.entries(weights).flatMap(([name, stack]) => {
    if (!/experts\.(gate_up|down)_proj$/.test(name)) return [[name, stack] as const];
    const [experts = 0, rows = 0, columns = 0] = stack.dims;
    const parts = name.endsWith('gate_up_proj') ? ['gate_proj', 'up_proj'] : ['down_proj'];
    const height = rows / parts.length;
    return Array.from({ length: experts * parts.length }, (_, at) => {
      const part = parts[at % parts.length];
      const own = `${name.replace(/\w+$/, '')}${Math.floor(at / parts.length)}.${part}.weight`;
      const numbers = stack.data.slice(at * height * columns, (at + 1) * height * columns) as Float32Array;
      return [own, new Tensor('float32', numbers, [height, columns])] as const;
    });
  });
  return Object.fromEntries(apart);
}

describe.each(checkpoints)('%s', (name) => {
  it('shows logits and weights of its experts', async () => {
    await using model = await load(name);
    const experts = name.endsWith('even') ? 4 : 5;
    const chosen = experts - 2;
    const hooks = model.hooks().filter(({ axes }) => axes.at(-1) === 'expert');
    const layers = name === 'qwen3_moe/even' ? [1] : [0, 1];
    expect(hooks.map((hook) => hook.name)).toEqual(
      layers.flatMap((layer) => [`blocks.${layer}.mlp.hook_router_logits`, `blocks.${layer}.mlp.hook_expert_weights`]),
    );
    expect(hooks.map(({ dims }) => dims)).toEqual(hooks.map(() => ['batch', 'pos', experts]));
    const [, cache] = await model.run_with_cache({ input_ids });
    for (const layer of layers) {
      const weights = cache[`blocks.${layer}.mlp.hook_expert_weights`] as Tensor<'float32'>;
      for (let row = 0; row < 10; row++) {
        const own = [...weights.data.slice(row * experts, (row + 1) * experts)];
        expect(own.filter((weight) => weight !== 0)).toHaveLength(chosen);
        const sum = own.reduce((total, weight) => total + weight, 0);
        if (normalized[name] ?? true) expect(sum).toBeCloseTo(1, 5);
        else expect(sum).toBeLessThan(1);
      }
    }
  });

  it('chooses the experts that an edit says, also in a generation', async () => {
    await using model = await load(name);
    const hook = 'blocks.1.mlp.hook_router_logits';
    const weights = 'blocks.1.mlp.hook_expert_weights';
    const only = [{ hook, op: 'replace', feature: 2, value: 60 }] as const;
    const [, cache] = await model.run_with_cache({ input_ids }, { edits: only });
    const found = cache[weights] as Tensor<'float32'>;
    const experts = found.dims[2] as number;
    expect(found.data.every((weight, at) => Math.abs(weight - (at % experts === 2 ? 1 : 0)) < 1e-5)).toBe(true);
    const [, none] = await model.run_with_cache({ input_ids }, { edits: [{ hook: weights, op: 'zero' }] });
    expect((none['blocks.1.hook_mlp_out'] as Tensor<'float32'>).data.every((number) => number === 0)).toBe(true);
    const prompt = { input_ids: [input_ids[0] as number[]] };
    const made = await model.generate(prompt, { max_new_tokens: 4, edits: only, do_sample: false });
    const logits = (await model.run_with_hooks({ input_ids: made }, { edits: only })) as Tensor<'float32'>;
    const [, length = 0, width = 0] = logits.dims;
    const tokens = Array.from({ length }, (_, at) => {
      const row = logits.data.slice(at * width, (at + 1) * width);
      return row.indexOf(Math.max(...row));
    });
    expect([...made.data].slice(5).map(Number)).toEqual(tokens.slice(4, -1));
  });

  it('has gradients of its router and of the experts, also of those not chosen', async () => {
    await using model = await load(name);
    const hook = 'blocks.1.mlp.hook_expert_weights';
    const metric = { output: 'logits', weights: new Tensor('float32', [1], [1]) } as const;
    const { grad } = await model.backward({ input_ids }, { metric, with_respect_to: { hooks: hook } });
    const gradient = grad[hook] as Tensor<'float32'>;
    const sum = (values: Float32Array) => values.reduce((total, value) => total + value, 0);
    const at = 1e-2;
    const moved = async (feature: number, value: number) => {
      const edits = [{ hook, op: 'add', row: 0, pos: 4, feature, value }] as const;
      return sum(((await model.run_with_hooks({ input_ids }, { edits })) as Tensor<'float32'>).data);
    };
    const experts = gradient.dims[2] as number;
    for (let feature = 0; feature < experts; feature++) {
      const slope = ((await moved(feature, at)) - (await moved(feature, -at))) / (2 * at);
      expect(gradient.data[4 * experts + feature]).toBeCloseTo(slope, 1);
    }
  });

  it.each(['fp32', 'fp16', 'q8', 'q4'] as const)(
    'computes a position by itself with the same bits in %s',
    async (dtype) => {
      await using model = await load(name, { dtype });
      const whole = await logitsOf(model);
      const alone = (await model({ input_ids: [input_ids[1] as number[]] })).logits as Tensor<'float32'>;
      expect(alone.data).toEqual(whole.data.slice(alone.data.length));
    },
  );

  it('is saved as it was loaded', async () => {
    await using model = await load(name);
    const saved = await model.save_pretrained();
    await using again = await AutoModelForCausalLM.from_pretrained(saved, { deterministic });
    expect((await logitsOf(again)).data).toEqual((await logitsOf(model)).data);
    const names = (files: Iterable<string>) => [...files].sort();
    expect(names((await again.named_parameters()).map((one) => one.name))).toEqual(
      names((await model.named_parameters()).map((one) => one.name)),
    );
  });
});

describe('checkpoints', () => {
  it.each(['olmoe/odd', 'qwen3_moe/odd'])('%s has the same numbers with experts one by one', async (name) => {
    for (const dtype of ['fp32', 'q8', 'q4'] as const) {
      await using stacked = await load(name, { dtype });
      await using apart = await AutoModelForCausalLM.from_pretrained(altered(name, {}, oneByOne), {
        dtype,
        deterministic,
      });
      expect((await logitsOf(apart)).data).toEqual((await logitsOf(stacked)).data);
      const told = await Promise.all([inspect(fixturePath(`models/${name}`)), inspect(altered(name, {}, oneByOne))]);
      expect(told[1].memory).toEqual(told[0].memory);
      expect(told[1].parameters).toEqual(told[0].parameters);
    }
  });

  it('an expert that is missing, or one too many, is named', async () => {
    const name = 'model.layers.1.mlp.experts.2.up_proj.weight';
    const without = altered('olmoe/even', {}, ({ [name]: _, ...weights }) => weights);
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(without));
    expect([failure.code, failure.message]).toEqual(['missing_tensor', expect.stringContaining(`"${name}"`)]);
    const more = 'model.layers.1.mlp.experts.4.up_proj.weight';
    const extra = altered('olmoe/even', {}, (weights) => ({ ...weights, [more]: weights[name] as Tensor }));
    expect((await inspect(extra)).unexpected_tensors).toEqual([more]);
  });

  it.each([
    ['granitemoe/even', 'model.layers.0.block_sparse_moe.input_linear.weight', [80, 4, 32]],
    ['granitemoe/even', 'model.layers.0.block_sparse_moe.output_linear.weight', [2, 64, 40]],
    ['granitemoe/even', 'model.layers.0.block_sparse_moe.router.layer.weight', [32, 4]],
    ['mixtral/odd', 'model.layers.1.mlp.experts.gate_up_proj', [370, 30]],
  ])('%s with another shape of %s', async (checkpoint, name, dims) => {
    const wrong = altered(checkpoint, {}, (weights) => ({
      ...weights,
      [name]: new Tensor('float32', weights[name]?.data as Float32Array, dims),
    }));
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(wrong, { dtype: 'q4', deterministic }));
    expect([failure.code, failure.message]).toEqual(['shape_mismatch', expect.stringContaining(`"${name}"`)]);
    expect(failure.message).toContain(`[${dims.join(', ')}]`);
  });

  it.each([
    ['granitemoe/even', { output_router_logits: true }, '"output_router_logits"'],
    ['mixtral/even', { output_router_logits: true }, '"output_router_logits"'],
    ['olmoe/even', { num_experts_per_tok: 5 }, '"num_experts_per_tok" is 5 of 4'],
    ['olmoe/even', { clip_qkv: 2 }, '"clip_qkv"'],
    ['qwen3_moe/even', { num_local_experts: 1e9 }, '"num_experts" is 1000000000, too many for 4 layers'],
    ['qwen3_moe/even', { decoder_sparse_step: 0 }, '"decoder_sparse_step"'],
  ])('%s refuses %o by name', async (checkpoint, keys, words) => {
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(altered(checkpoint, keys)));
    expect(failure.message).toContain(words);
  });

  it('new ones have the tensors that transformers saves', async () => {
    const { 'config.json': text } = altered('mixtral/odd', {});
    await using model = await AutoModelForCausalLM.from_config(JSON.parse(new TextDecoder().decode(text)), { seed: 3 });
    const names = (await model.named_parameters()).map(({ name }) => name);
    expect(names).toContain('model.layers.1.block_sparse_moe.experts.4.w2.weight');
    expect((await logitsOf(model)).data.every(Number.isFinite)).toBe(true);
    const experts = await model.parameter('blocks.1.mlp.experts.4.W_in');
    expect(experts.dims).toEqual([30, 37]);
  });
});

it('text is generated through the pipeline', async () => {
  const files = (folder: string) =>
    readdirSync(folder).map((file) => [file, new Uint8Array(readFileSync(join(folder, file)))] as const);
  const model = files(fixturePath('models/granitemoe/even'));
  const tokens = files(fixturePath('pipelines/gpt2_64')).filter(([file]) => /token/.test(file));
  await using generate = await pipeline('text-generation', Object.fromEntries([...tokens, ...model]));
  const [{ generated_text: text } = { generated_text: '' }] = (await generate('a b', { max_new_tokens: 5 })) as {
    generated_text: string;
  }[];
  expect(text.startsWith('a b')).toBe(true);
  expect(text.length).toBeGreaterThan(3);
});
