// Models of whose layers some are gated delta rules in place of attention (Qwen3.5): their states in activations and caches,
// what analyses, sweeps and pipelines do without patterns and parts of texts, gradients, and new models.

import {
  AdamW,
  AutoConfig,
  AutoModelForCausalLM,
  acdc,
  attentionRollout,
  copyCache,
  DynamicCache,
  detectHeads,
  inspect,
  pathPatching,
  Qwen3_5ForCausalLM,
  stack_head_results,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { expectAnswersAgain, expectSweepOfWholePasses } from './support/mixers.js';
import { fixturePath } from './support/references.js';

const here = { worker: false } as const;
const folder = (size: string) => fixturePath(`models/qwen3_5_text/${size}`);
const load = (size = 'even') => AutoModelForCausalLM.from_pretrained(folder(size), here);
const rules = [0, 2, 3]; // of the layers of `even`
const ids = [[5, 9, 14, 20, 7, 33, 41, 8]];
const other = [[5, 9, 14, 21, 7, 33, 41, 8]];
type Floats = Tensor<'float32'>;

const unit = (x: readonly number[]) => {
  const length = Math.sqrt(x.reduce((sum, one) => sum + one * one, 1e-6));
  return x.map((one) => one / length);
};

/** The recurrence as loops, of one text and head: what it reads, and the state after it. */
function recurrence(at: (leaf: string) => Floats, head: number) {
  const rows = (leaf: string, index: number) => at(leaf).slice(0, null, index).tolist() as number[][];
  const repeats = (at('hook_v').dims[2] as number) / (at('hook_k').dims[2] as number);
  const of = Math.floor(head / repeats);
  const [keys, queries] = [rows('hook_k', of).map(unit), rows('hook_q', of).map(unit)];
  const width = keys[0]?.length as number;
  let state = Array.from({ length: width }, () => rows('hook_v', head)[0]?.map(() => 0) as number[]);
  const read = (by: readonly number[], column: number) =>
    state.reduce((sum, row, i) => sum + (row[column] as number) * (by[i] as number), 0);
  const out = rows('hook_v', head).map((value, t) => {
    const [decay, beta] = ['hook_decay', 'hook_beta'].map((leaf) => at(leaf).slice(0, t, head).item());
    state = state.map((row) => row.map((one) => one * Number(decay)));
    const key = keys[t] as number[];
    const change = value.map((one, column) => Number(beta) * (one - read(key, column)));
    state = state.map((row, i) => row.map((one, column) => one + (key[i] as number) * (change[column] as number)));
    return value.map((_, column) => read(queries[t] as number[], column) / Math.sqrt(width));
  });
  return { out, state };
}

describe('a model with delta rules', () => {
  it('has hook points of each layer for what it is', async () => {
    await using model = await Qwen3_5ForCausalLM.from_pretrained(folder('even'), here);
    const names = model.hooks({ on_request: true }).map(({ name }) => name);
    const within = (layer: number) => names.filter((name) => name.startsWith(`blocks.${layer}.`));
    const leaves = ['q', 'k', 'v', 'beta', 'decay', 'state', 'o', 'gate', 'z'].map(
      (leaf) => `blocks.0.delta.hook_${leaf}`,
    );
    expect(
      within(0)
        .filter((name) => name.includes('.delta.hook'))
        .sort(),
    ).toEqual(leaves.sort());
    expect(within(0).some((name) => name.includes('attn.'))).toBe(false);
    expect(within(1).some((name) => name.includes('delta'))).toBe(false);
    expect(within(1)).toContain('blocks.1.attn.hook_gate');
    for (const layer of [0, 1]) expect(within(layer)).toContain(`blocks.${layer}.hook_attn_out`);
    const out = await model({ input_ids: ids }, { output_attentions: true, output_hidden_states: true });
    expect([out.attentions?.length, out.hidden_states?.length]).toEqual([1, 5]); // as transformers: of attention alone
  });

  it('shows what its recurrence reads, the state, and what it gives', async () => {
    await using model = await load('odd');
    const [, cache] = await model.run_with_cache({ input_ids: ids }, { names_filter: 'blocks.0.delta.*' });
    const at = (leaf: string) => cache[`blocks.0.delta.${leaf}` as keyof typeof cache] as Floats;
    for (let head = 0; head < 3; head++) {
      const { out, state } = recurrence(at, head);
      const [o, last] = [at('hook_o').slice(0, null, head), at('hook_state').slice(0, head)];
      expect(last.dims).toEqual([5, 7]);
      const close = (found: Floats, wanted: readonly (readonly number[])[]) =>
        expect(Math.max(...wanted.flat().map((one, i) => Math.abs((found.data[i] as number) - one)))).toBeLessThan(
          1e-5,
        );
      close(o, out);
      close(last, state);
    }
    const [none] = await model.run_with_cache(
      { input_ids: ids },
      { edits: [{ hook: 'blocks.0.delta.hook_z', op: 'zero' }] },
    );
    const zero = await model.run_with_hooks(
      { input_ids: ids },
      { edits: [{ hook: 'blocks.0.hook_attn_out', op: 'zero' }] },
    );
    expect((none as Floats).tolist()).toEqual((zero as Floats).tolist());
  });

  it('goes back in a cache to the beginning of the latest call', async () => {
    await using model = await load();
    const whole = (await model({ input_ids: ids })).logits?.slice(null, [5, null]).tolist();
    const [row] = ids as [number[]];
    await using past_key_values = new DynamicCache();
    await model({ input_ids: [row.slice(0, 5)], past_key_values });
    await model({ input_ids: [[1, 2, 3]], past_key_values });
    await using copy = await copyCache(past_key_values, { length: 5 });
    await past_key_values.crop(5);
    for (const cache of [past_key_values, copy]) {
      const rest = await model({ input_ids: [row.slice(5)], past_key_values: cache });
      expect(rest.logits?.tolist()).toEqual(whole);
    }
    const error = { code: 'unsupported', message: expect.stringContaining('layer 0 is a delta rule') };
    await expect(past_key_values.crop(4)).rejects.toMatchObject(error);
    await expect(copyCache(past_key_values, { length: 7 })).rejects.toMatchObject(error);
    expect(await past_key_values.get_seq_length()).toBe(8);
    await past_key_values.crop(0);
    expect(await past_key_values.get_seq_length()).toBe(0);
  });

  it('is named with the layers that have no attention by what needs all of them', async () => {
    await using model = await load();
    const [, cache] = await model.run_with_cache({ input_ids: ids });
    const both = { base: { input_ids: ids }, source: { input_ids: other } };
    const metric = (logits: Floats) => logits.data[0] as number;
    const refused = { code: 'unsupported', message: expect.stringContaining(rules.join(', ')) };
    await expect(acdc(model, { ...both, threshold: 0.1 })).rejects.toMatchObject(refused);
    await expect(pathPatching(model, { ...both, metric })).rejects.toMatchObject(refused);
    expect(() => attentionRollout(cache as never)).toThrow('the cache lacks blocks.0.attn.hook_pattern');
    const { heads } = await detectHeads(model, { threshold: 0 });
    expect(new Set(heads.map(({ layer }) => layer))).toEqual(new Set([1]));
    const { labels } = await stack_head_results(model, cache);
    expect(labels).toEqual(['L1H0', 'L1H1', 'L1H2', 'L1H3']);
  });

  it('computes each pass of a sweep from the first position', async () => {
    await using model = await load('odd');
    await expectSweepOfWholePasses(model, ids, other);
  });

  it('answers a conversation again', async () => {
    await expectAnswersAgain('models/qwen3_5_text/even', 20);
  });

  it('has gradients of all its weights, also where positions are padded', async () => {
    await using model = await load('odd');
    const weights = (await model.named_parameters()).map(({ name }) => name);
    const attention_mask = [[0, 0, 1, 1, 1, 1, 1, 1]];
    const labels = [[-100, -100, -100, ...(ids[0] as number[]).slice(3)]]; // the first token is not predicted
    const inputs = { input_ids: ids, attention_mask };
    const found = await model.backward(inputs, { metric: { labels }, with_respect_to: { weights } });
    for (const name of weights) expect(found.weights[name]?.data.every(Number.isFinite), name).toBe(true);
    expect(weights.filter((name) => found.weights[name]?.data.every((value) => value === 0))).toEqual([]);
    const short = { input_ids: [(ids[0] as number[]).slice(2)] };
    const alone = await model.backward(short, { metric: { labels: short.input_ids }, with_respect_to: { weights } });
    expect(found.value).toBeCloseTo(alone.value, 5);
    for (const name of weights) {
      const [one, of] = [found.weights[name]?.data ?? [], alone.weights[name]?.data ?? []];
      const largest = Math.max(...of.map(Math.abs));
      expect(Math.max(...one.map((value, i) => Math.abs(value - (of[i] as number)))), name).toBeLessThan(
        1e-4 * largest,
      );
    }
  });

  it('is made anew, trained, saved and loaded', async () => {
    const config = await AutoConfig.from_pretrained(folder('odd'));
    await using model = await AutoModelForCausalLM.from_config(config, here);
    const optimizer = new AdamW(model, { lr: 1e-2 });
    const given = { input_ids: ids, labels: ids };
    const before = await optimizer.backward(given);
    for (let step = 0; step < 5; step++) {
      await optimizer.backward(given);
      await optimizer.step();
    }
    expect(await optimizer.backward(given)).toBeLessThan(before - 0.5);
    await using again = await AutoModelForCausalLM.from_pretrained(await model.save_pretrained(), here);
    expect((await again({ input_ids: ids })).logits.data).toEqual((await model({ input_ids: ids })).logits.data);
  });

  it('is read from a file of the whole model, whose vision tower is ignored', async () => {
    const found = await inspect(folder('whole'));
    expect(found).toMatchObject({
      valid: true,
      model_type: 'qwen3_5',
      kind: 'decoder-only',
      task: 'causal-lm',
      unexpected_tensors: [],
    });
    const state = 4 * 8 * 16 + 3 * (2 * 2 * 8 + 4 * 16); // of a layer: matrices, and inputs of the convolution
    expect(found.cache?.fp32).toEqual({
      per_position: 2 * 2 * 16 * 4,
      per_source_position: 0,
      per_sequence: 2 * 3 * state * 4,
    });
    await using model = await Qwen3_5ForCausalLM.from_pretrained(folder('whole'), here);
    expect(model.hooks().some(({ name }) => name.startsWith('vision'))).toBe(false);
  });
});
