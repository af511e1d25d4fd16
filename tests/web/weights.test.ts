// Weights in TypeScript: read under the checkpoint's and TransformerLens' names, edited and restored, in this thread and
// in a worker, compared with PyTorch (tests/references/weights.py).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  FactoredMatrix,
  LensWeights,
  matmul,
  type ParameterEdit,
  svd,
  Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { type Case, casesOf, fixturePath, type Reference, tensorsOf } from './support/references.js';

const cases = casesOf('weights');
const input_ids = [[3, 9, 4, 20, 7]];
const marianPath = fileURLToPath(new URL('../../web/demo/public/models/marian-tiny-en-fr', import.meta.url));

async function modelOf(one: Case) {
  return AutoModelForCausalLM.from_pretrained(fixturePath(String(one.options.checkpoint)));
}

/** The largest difference, in units of the largest expected number. */
function difference(found: Tensor, expected: Pick<Tensor, 'dims' | 'data'>): number {
  expect(found.dims).toEqual(expected.dims);
  const largest = (expected.data as Float32Array).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let worst = 0;
  expected.data.forEach((value, at) => {
    worst = Math.max(worst, Math.abs(Number(value) - Number(found.data[at])));
  });
  return worst / (largest || 1);
}

function same(one: Tensor, other: Tensor): boolean {
  return one.data.every((value: number | bigint, at: number) => Object.is(value, other.data[at]));
}

describe('named_parameters and parameter', () => {
  it('give the tensors of the file, stacked and transposed as they are there', async () => {
    const folder = fixturePath('models/gpt2/odd');
    const model = await AutoModelForCausalLM.from_pretrained(folder);
    const file = JSON.parse(headerOf(join(folder, 'model.safetensors'))) as Record<string, { shape: number[] }>;
    const listed = await model.named_parameters();
    const skipped = /__metadata__|\.attn\.(masked_)?bias$|^lm_head/;
    expect(listed.map(({ name }) => name).sort()).toEqual(
      Object.keys(file)
        .filter((name) => !skipped.test(name))
        .sort(),
    );
    for (const { name, dims, dtype, quantized, bytes } of listed) {
      const { data } = await model.parameter(name);
      expect([dims, dtype, quantized]).toEqual([file[name]?.shape, 'fp32', false]);
      expect(bytes).toBeGreaterThanOrEqual(4 * data.length);
    }
    const query = await model.parameter('blocks.0.attn.W_Q', { at: [2, null, [0, -1]] });
    expect(query.dims).toEqual([30, 9]);
    const stacked = await model.parameter('h.0.attn.c_attn.weight', { at: [null, [20, 29]] });
    expect(same(query, stacked)).toBe(true);
    await model.dispose();
  });

  it('read what q8 and q4 store, and say so', async () => {
    for (const dtype of ['fp16', 'q8', 'q4'] as const) {
      const model = await AutoModelForSeq2SeqLM.from_pretrained(marianPath, { dtype, deterministic: true });
      const exact = await AutoModelForSeq2SeqLM.from_pretrained(marianPath);
      const quantized = (await model.named_parameters()).filter((one) => one.dtype === dtype);
      expect(quantized.length).toBeGreaterThan(5);
      expect(quantized.every((one) => one.quantized === (dtype !== 'fp16'))).toBe(true);
      for (const { name, dims } of quantized) {
        const [read, whole] = [await model.parameter(name), await exact.parameter(name)];
        expect(difference(read, { dims, data: whole.data })).toBeLessThan(dtype === 'q4' ? 0.2 : 0.02);
      }
    }
  });
});

function headerOf(path: string): string {
  const bytes = readFileSync(path);
  return bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString();
}

describe('LensWeights', () => {
  it.each(cases.filter(({ op }) => op === 'weights'))('$name are TransformerLens’', async (one) => {
    const model = await modelOf(one);
    const { checkpoint: _, ...processing } = one.options;
    const expected = tensorsOf('weights', one);
    for (const name of Object.keys(one.outputs)) {
      const found = await model.parameter(name, processing);
      expect([name, difference(found, expected(name)) <= 2.4e-7]).toEqual([name, true]);
    }
  });

  it('has a method for each name, of each layer', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/sharded'));
    const weights = new LensWeights(model);
    const layered = ['W_Q', 'W_K', 'W_V', 'W_O', 'b_Q', 'b_K', 'b_V', 'b_O', 'W_in', 'W_gate', 'W_out', 'b_in', 'b_gate', 'b_out'] as const; // biome-ignore format: a list
    for (const name of layered) {
      const scope = /[QKVO]$/.test(name) ? 'attn' : 'mlp';
      expect(same(await weights[name](2), await model.parameter(`blocks.2.${scope}.${name}`))).toBe(true);
    }
    for (const name of ['W_E', 'W_U', 'b_U'] as const) {
      expect(same(await weights[name](), await model.parameter(name))).toBe(true);
    }
    expect(await failureOf(() => weights.W_pos())).toMatchObject({ code: 'invalid_argument' });
    expect(await failureOf(() => weights.W_Q(3))).toMatchObject({ code: 'invalid_argument' });
    expect(await failureOf(() => weights.QK(0, 4))).toMatchObject({ code: 'invalid_argument' });
  });

  it.each([
    ['bart/odd', 2],
    ['mbart/odd', 2],
    ['whisper/odd', 0],
  ] as const)('are the decoder’s: %s', async (folder, offset) => {
    await using model = await classOf('seq2seq-lm', folder).from_pretrained(fixturePath(`models/${folder}`));
    const weights = new LensWeights(model);
    const positions = await model.parameter('model.decoder.embed_positions.weight');
    expect(same(await weights.W_pos(), positions.slice([offset, null]))).toBe(true);
    const bias = await weights.b_U();
    expect(bias.dims).toEqual([(await weights.W_E()).dims[0]]);
    if (folder !== 'whisper/odd') expect(bias.data).toEqual((await model.parameter('final_logits_bias')).data);
  });

  it.each([
    ['cohere/odd', AutoModelForCausalLM, 'ln_final.hook_out'],
    ['granite/even', AutoModelForCausalLM, 'ln_final.hook_out'],
    ['t5/even', AutoModelForSeq2SeqLM, 'decoder.ln_final.hook_out'],
  ] as const)('map to the logits, with the factor of %s', async (folder, kind, names_filter) => {
    await using model = await kind.from_pretrained(fixturePath(`models/${folder}`));
    const inputs = { input_ids, ...(folder === 't5/even' && { decoder_input_ids: [[0, 7, 5]] }) };
    const [logits, cache] = await model.run_with_cache(inputs, { names_filter });
    const weights = new LensWeights(model);
    const product = await matmul(cache[names_filter] as Tensor<'float32'>, await weights.W_U());
    expect(difference(product.add(await weights.b_U()), logits)).toBeLessThan(1e-5);
    const before = (await weights.W_U()).slice(null, 5);
    await model.edit_parameter('W_U', { op: 'scale', value: 2, at: [null, 5] });
    expect(difference((await weights.W_U()).slice(null, 5), before.mul(2))).toBeLessThan(1e-6);
  });

  it.each(['clip', 'siglip'])('are those of the text: %s', async (name) => {
    await using model = await AutoModel.from_pretrained(fixturePath(`models/${name}/odd`));
    const weights = new LensWeights(model);
    const embeddings = 'text_model.embeddings';
    expect(same(await weights.W_E(), await model.parameter(`${embeddings}.token_embedding.weight`))).toBe(true);
    expect(same(await weights.W_pos(), await model.parameter(`${embeddings}.position_embedding.weight`))).toBe(true);
  });

  it('has the layers that share weights (ALBERT)', async () => {
    await using model = await AutoModel.from_pretrained(fixturePath('models/albert/even_base'));
    const { n_heads, d_head, d_model } = model.cfg;
    for (const [layer, group] of [
      [0, 0],
      [1, 0],
      [2, 1],
    ]) {
      // biome-ignore format: a list
      const shared = `encoder.albert_layer_groups.${group}.albert_layers.0`;
      const stored = await model.parameter(`${shared}.attention.query.weight`);
      const found = await model.parameter(`blocks.${layer}.attn.W_Q`);
      expect(same(found, stored.view(n_heads, d_head, d_model).permute(0, 2, 1))).toBe(true);
      const bias = await model.parameter(`blocks.${layer}.mlp.b_out`);
      expect(same(bias, await model.parameter(`${shared}.ffn_output.bias`))).toBe(true);
    }
    expect(await failureOf(() => model.parameter('blocks.3.attn.W_Q'))).toMatchObject({ code: 'invalid_argument' });
    const [first = ''] = (await model.named_parameters()).map(({ name }) => name);
    expect((await failureOf(() => model.parameter(first, { fold_ln: true }))).message).toContain("checkpoint's name");
  });

  it('folds the bias of a norm into that of the gate', async () => {
    await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/stablelm/odd'));
    const hooks = ['blocks.1.ln2.hook_normalized', 'blocks.1.mlp.hook_pre'] as const;
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: [...hooks] });
    const weights = new LensWeights(model, { fold_ln: true });
    const bias = await weights.b_gate(1);
    expect(bias.data.some((value) => Math.abs(value) > 0.01)).toBe(true);
    const [normalized, expected] = hooks.map((name) => cache[name]) as [Tensor<'float32'>, Tensor<'float32'>];
    const found = (await matmul(normalized, await weights.W_gate(1))).add(bias);
    // two sums of d_model products, in float32
    expect(difference(found, { ...expected, dims: [...expected.dims] })).toBeLessThan(2 * model.cfg.d_model * 2 ** -24);
  });

  it.each(cases.filter(({ op }) => op === 'composition'))('$name scores are TransformerLens’', async (one) => {
    const model = await modelOf(one);
    const { checkpoint: _, ...processing } = one.options;
    const weights = new LensWeights(model, processing);
    const expected = tensorsOf('weights', one);
    for (const mode of ['Q', 'K', 'V'] as const) {
      const found = await weights.all_composition_scores(mode);
      expect(difference(found, expected(mode))).toBeLessThan(1e-5);
    }
    await expect(weights.all_composition_scores('Q', AbortSignal.abort('no more'))).rejects.toBe('no more');
    const options = { signal: new AbortController().signal } as never; // as in other calls
    const refused = { code: 'invalid_argument', details: { option: 'signal' } };
    await expect(weights.all_composition_scores('Q', options)).rejects.toMatchObject(refused);
  });

  it.each(cases.filter(({ op }) => op === 'svd'))('$name values of circuits are torch’s', async (one) => {
    const weights = new LensWeights(await modelOf(one));
    const layer = Number(one.options.layer);
    const expected = tensorsOf('weights', one);
    for (const circuit of ['QK', 'OV'] as const) {
      const all = expected(circuit);
      const values = new Tensor('float32', all.data as Float32Array, all.dims);
      for (let head = 0; head < (all.dims[0] ?? 0); head++) {
        const matrix = await weights[circuit](layer, head);
        const { U, S, Vh } = await matrix.svd();
        const rank = S.dims[0] as number;
        expect(difference(S, values.slice(head, [0, rank]) as Reference & Tensor)).toBeLessThan(2e-7);
        const product = await matrix.AB();
        const rebuilt = await matmul(U.mul(S), Vh);
        expect(difference(rebuilt, { dims: [...product.dims], data: product.data })).toBeLessThan(1e-5);
        const norm = Math.hypot(...product.data);
        expect(Math.abs(matrix.norm() - norm)).toBeLessThan(1e-5 * norm);
        expect(same(await matrix.T.AB(), (await matrix.AB()).transpose(0, 1))).toBe(true);
      }
    }
  });
});

describe('edits', () => {
  it.each(cases.filter(({ op }) => op === 'edit'))('$name gives torch’s logits, and is undone', async (one) => {
    const given = tensorsOf('weights', one);
    const { name, ...edit } = one.options.edit as ParameterEdit & { name: string };
    const values = Object.fromEntries(
      Object.keys(one.inputs)
        .filter((key) => key !== 'input_ids')
        .map((key) => [key, given(key)]),
    );
    const ids = given('input_ids');
    const inputs = { input_ids: new Tensor('int64', ids.data as BigInt64Array, ids.dims) };
    const bound = 4 * (one.float32_error as { logits: number }).logits;
    for (const worker of [false, true]) {
      const model = await AutoModelForCausalLM.from_pretrained(fixturePath(String(one.options.checkpoint)), { worker });
      const before = (await model(inputs)).logits as Tensor;
      const passing = model(inputs); // ends before the edit
      expect(await model.edit_parameter(name, { ...edit, ...values } as ParameterEdit)).toBe(1);
      expect(same((await passing).logits as Tensor, before)).toBe(true);
      const after = (await model(inputs)).logits as Tensor;
      const logits = given('logits');
      const largest = (logits.data as Float32Array).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      expect(difference(after, logits) * largest).toBeLessThanOrEqual(bound);
      expect(await model.undo_edits()).toBe(0);
      expect(same((await model(inputs)).logits as Tensor, before)).toBe(true);
      await model.dispose();
      expect(await failureOf(() => model.edit_parameter(name, { op: 'zero' }))).toMatchObject({ code: 'disposed' });
    }
  });

  it('ablate a head and a neuron as zeroing what they add does', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'));
    const weights = new LensWeights(model);
    const edits = [{ hook: 'blocks.1.attn.hook_z', head: 2, op: 'zero' }] as const;
    const silent = await model.run_with_hooks({ input_ids }, { edits });
    await weights.ablate_head(1, 2);
    expect(difference((await model({ input_ids })).logits as Tensor, silent as Reference & Tensor)).toBeLessThan(1e-6);
    await model.undo_edits(1);
    const hook = 'blocks.0.mlp.hook_post';
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: [hook] });
    const value = (cache[hook] as Tensor<'float32'>).clone();
    for (let at = 5; at < value.data.length; at += value.dims[2] as number) value.data[at] = 0;
    const without = await model.run_with_hooks({ input_ids }, { edits: [{ hook, op: 'replace', value }] });
    await weights.ablate_neuron(0, 5);
    expect(difference((await model({ input_ids })).logits as Tensor, without as Reference & Tensor)).toBeLessThan(1e-6);
    await model.undo_edits();
    for (const none of [undefined, null, -1, '0', [0, 2], Number.NaN, 1000] as never[]) {
      const calls = [
        () => weights.ablate_head(0, none),
        () => weights.ablate_neuron(0, none),
        () => weights.ablate_head(none, 0),
        () => weights.QK(0, none),
        () => weights.W_Q(none),
      ];
      for (const call of calls) expect(await failureOf(call)).toMatchObject({ code: 'invalid_argument' });
    }
    expect((await failureOf(() => weights.W_Q('0' as never))).message).toContain("there is no layer '0' of");
    expect(await model.edit_parameter('W_E', { op: 'scale', value: 1 })).toBe(1);
  });

  it('of a tied table change both uses', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/tied'));
    const [, before] = await model.run_with_cache({ input_ids }, { names_filter: ['hook_embed'] });
    const { logits } = await model({ input_ids });
    await model.edit_parameter('W_U', { op: 'scale', value: 2 });
    const [after, embedded] = await model.run_with_cache({ input_ids }, { names_filter: ['hook_embed'] });
    expect(same(embedded.hook_embed, before.hook_embed.mul(2))).toBe(true);
    expect(same(after, logits as Tensor)).toBe(false);
  });

  it('are refused where they can not be made, and change nothing then', async () => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(marianPath, { dtype: 'q8', deterministic: true });
    const half = await AutoModelForSeq2SeqLM.from_pretrained(marianPath, { dtype: 'fp16' });
    const name = (await model.named_parameters()).find((one) => one.quantized)?.name ?? '';
    expect(await failureOf(() => model.edit_parameter(name, { op: 'zero' }))).toMatchObject({ code: 'unsupported' });
    const whole = await half.parameter(name);
    const refused: [ParameterEdit, string][] = [
      [{ op: 'replace', value: 70_000 }, 'invalid_argument'],
      [{ op: 'replace', value: 1e40 }, 'dtype_mismatch'],
      [{ op: 'add', value: [1, 2, 3] }, 'shape_mismatch'],
      [{ op: 'rank_one', left: [1], right: [1] }, 'shape_mismatch'],
      [{ op: 'zero', at: [99_999] }, 'invalid_argument'],
      [{ op: 'zero', at: [0.5] }, 'invalid_argument'],
      [{ op: 'zero', at: [[1, 3, 5] as never] }, 'invalid_argument'],
      [{ op: 'zero', at: [[1] as never] }, 'invalid_argument'],
      [{ op: 'turn' } as unknown as ParameterEdit, 'invalid_argument'],
      [{ op: 'zero', value: 1 } as ParameterEdit, 'unsupported'],
    ];
    for (const [edit, code] of refused) {
      expect(await failureOf(() => half.edit_parameter(name, edit))).toMatchObject({ code });
    }
    const [left, right] = [[Number.NaN, 1e40], [1]];
    for (const [edit, part] of [
      [{ left, right }, 'left: '],
      [{ left: right, right: left }, 'right: '],
    ] as const) {
      const failure = await failureOf(() => half.edit_parameter(name, { op: 'rank_one', ...edit }));
      expect([failure.code, failure.message]).toEqual(['dtype_mismatch', expect.stringContaining(part)]);
    }
    for (const op of ['turn', undefined]) {
      const { message } = await failureOf(() => half.edit_parameter(name, { op } as unknown as ParameterEdit));
      expect(message).toContain(`there is no op "${op}"`); // and not its value
    }
    expect(await failureOf(() => half.undo_edits(1))).toMatchObject({ code: 'invalid_argument' });
    expect(same(await half.parameter(name), whole)).toBe(true);
  });
});

it.each([false, true])('edits and passes that are not awaited keep their order; worker: %s', async (worker) => {
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker });
  const inputs = { input_ids: [[1, 2, 3]] };
  const edit = { op: 'scale', value: 2 } as const;
  const results = await Promise.all([
    model.run_with_hooks(inputs),
    model.edit_parameter('ln_f.weight', edit),
    model.run_with_hooks(inputs),
    model.undo_edits(),
    model.run_with_hooks(inputs),
    model.edit_parameter('ln_f.weight', edit),
    model(inputs),
    model.backward(inputs, { metric: { output: 'logits', weights: 1 } }),
    model.undo_edits(),
    model(inputs),
  ]);
  const [plain, one, edited, none, again, , output, { outputs }, , last] = results;
  expect([one, none]).toEqual([1, 0]);
  expect(edited.data).not.toEqual(plain.data);
  expect(again).toEqual(plain);
  expect([output.logits, outputs.logits, last.logits]).toEqual([edited, edited, plain]);
});

it('what no final norm reads is not folded, what none follows is not centred', async () => {
  const path = fixturePath('models/opt/even/config.json');
  const config = { ...JSON.parse(readFileSync(path, 'utf8')), _remove_final_layer_norm: true };
  await using model = await AutoModelForCausalLM.from_config(config);
  const folded = await new LensWeights(model, { fold_ln: true }).W_U();
  expect(folded).toEqual(await new LensWeights(model).W_U());
  const centred = new LensWeights(model, { center_writing_weights: true });
  for (const read of [() => centred.W_E(), () => centred.W_O(0)]) {
    expect(await failureOf(read)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('no norm follows'),
    });
  }
});

it('svd and FactoredMatrix refuse what is no matrix', async () => {
  expect(await failureOf(() => svd([1, 2]))).toMatchObject({ code: 'shape_mismatch' });
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const found = { code: 'invalid_argument', message: expect.stringContaining('svd: ') };
    expect(await failureOf(() => svd([[1, wrong], [2, 3]]))).toMatchObject(found); // biome-ignore format: a matrix
    const factor = new Tensor('float32', Float32Array.of(1, wrong), [2, 1]);
    const product = new FactoredMatrix(factor, new Tensor('float32', Float32Array.of(1, 2), [1, 2]));
    expect(await failureOf(() => product.svd())).toMatchObject(found);
  }
  const { S } = await svd([
    [3, 0],
    [0, -4],
  ]);
  expect([...S.data]).toEqual([4, 3]);
  const x = new Tensor('float32', new Float32Array(6), [2, 3]);
  expect(() => new FactoredMatrix(x, x)).toThrow(/have no product/);
});
