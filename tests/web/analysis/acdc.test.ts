// acdc: the same circuit as the algorithm computed from its definition, with whole passes repeated until they settle.

import {
  type Acdc,
  type ActivationCache,
  type ActivationEdit,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  acdc,
  type GenerativeModel,
  logitDifference,
  type Metric,
  Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath } from '../support/references.js';

type Floats = Tensor<'float32'>;
const base = { input_ids: [[6, 9, 40, 20, 7]] };
const source = { input_ids: [[6, 30, 40, 8, 7]] };
const metric: Metric = (logits) => -(logitDifference(11, 12)(logits) as number);

/** What each node adds to the residual stream of a pass. */
function addedIn(cache: ActivationCache, layers: number, heads: number): Map<string, Floats> {
  const all = new Map<string, Floats>([['input', cache['blocks.0.hook_resid_pre'] as Floats]]);
  for (let layer = 0; layer < layers; layer++) {
    all.set(`m${layer}`, cache[`blocks.${layer}.hook_mlp_out`] as Floats);
    for (let head = 0; head < heads; head++) {
      const result = cache[`blocks.${layer}.attn.hook_result`] as Floats;
      all.set(`a${layer}.h${head}`, result.slice(null, null, head, null) as Floats);
    }
  }
  return all;
}

/** A model whose removed edges are edits of whole passes: each pass takes what nodes add from the one before. */
class Circuit {
  readonly #model: GenerativeModel;
  readonly #other: Map<string, Floats>;

  private constructor(model: GenerativeModel, other: Map<string, Floats>) {
    this.#model = model;
    this.#other = other;
  }
  static async of(model: GenerativeModel): Promise<Circuit> {
    const circuit = new Circuit(model, new Map());
    return new Circuit(model, (await circuit.#pass(source, [])).added);
  }
  async #pass(inputs: typeof base, edits: ActivationEdit[]) {
    const { n_layers, n_heads } = this.#model.cfg;
    const names_filter = ['*.hook_resid_pre', '*.hook_result', '*.hook_mlp_out'] as const;
    const [logits, cache] = await this.#model.run_with_cache(inputs, { names_filter, edits });
    return { logits, added: addedIn(cache, n_layers, n_heads) };
  }
  async metric(removed: readonly [from: string, to: string][]): Promise<number> {
    let { logits, added } = await this.#pass(base, []);
    for (let round = 0; round < 6; round++) {
      const edits = removed.map(([from, to]): ActivationEdit => {
        const [own, other] = [added, this.#other].map((all) => all.get(from) as Floats) as [Floats, Floats];
        const value = new Tensor('float32', other.data.map((one, i) => one - (own.data[i] as number)), own.dims); // biome-ignore format: short
        return { ...this.#placeOf(to), op: 'add', value };
      });
      ({ logits, added } = await this.#pass(base, edits));
    }
    return metric(logits);
  }
  #placeOf(to: string): Pick<ActivationEdit, 'hook' | 'head'> {
    const [, layer, head, part] = /^a(\d+)\.h(\d+)<(.)>$/.exec(to) ?? [];
    if (part !== undefined) return { hook: `*.${layer}.hook_${part}_input`, head: Number(head) };
    const { n_layers } = this.#model.cfg;
    return { hook: to === 'logits' ? `blocks.${n_layers - 1}.hook_resid_post` : `*.${to.slice(1)}.hook_mlp_in` };
  }
}

/** Every edge in the order of the algorithm. */
function edgesOf(layers: number, heads: number, groups: number): [string, string][] {
  const down = (count: number) => Array.from({ length: count }, (_, at) => count - 1 - at);
  const headsIn = (layer: number) => down(heads).map((head) => `a${layer}.h${head}`);
  const before = (layer: number) => [...down(layer).flatMap((one) => [`m${one}`, ...headsIn(one)]), 'input'];
  const readers = down(layers).flatMap((layer) => [
    ...[...headsIn(layer), ...before(layer)].map((from) => [from, `m${layer}`] as [string, string]),
    ...(['v', 'k', 'q'] as const).flatMap((part) =>
      down(part === 'q' ? heads : groups).flatMap((head) =>
        before(layer).map((from) => [from, `a${layer}.h${head}<${part}>`] as [string, string]),
      ),
    ),
  ]);
  return [...before(layers).map((from) => [from, 'logits'] as [string, string]), ...readers];
}

describe('acdc', () => {
  it('removes what the definition removes', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const threshold = 0.02;
    const found = await acdc(model, { base, source, metric, threshold });
    const circuit = await Circuit.of(model);
    const removed: [string, string][] = [];
    const { n_layers, n_heads } = model.cfg;
    const all = edgesOf(n_layers, n_heads, n_heads);
    expect(found.total).toBe(all.length);
    let current = await circuit.metric([]);
    expect(found.whole).toBeCloseTo(current, 4);
    for (const edge of all) {
      const value = await circuit.metric([...removed, edge]);
      expect(Math.abs(value - current - threshold), String(edge)).toBeGreaterThan(1e-4); // no decision is close
      if (value - current >= threshold) continue;
      removed.push(edge);
      current = value;
    }
    const kept = all.filter(([from, to]) => !removed.some(([one, other]) => one === from && other === to));
    const names = ({ edges }: Acdc) => edges.map(({ from, to }) => `${from}->${to}`);
    expect(kept.map((edge) => edge.join('->'))).toEqual(expect.arrayContaining(names(found)));
    const reached = kept.filter(([from]) => from === 'input' || kept.some(([, to]) => to.replace(/<.>/, '') === from));
    expect(names(found)).toEqual(reached.map((edge) => edge.join('->')));
    expect(found.edges.length).toBeGreaterThan(3);
    expect(found.edges.length).toBeLessThan(all.length / 2);
    expect(found.circuit).toBeCloseTo(current, 4);
    await model.dispose();
  });

  it.each(['models/gpt2/odd', 'llama_tiny/odd', 'models/gpt_neox/even', 'models/granite/even'])(
    'keeps all or nothing of %s',
    async (folder) => {
      const model = await AutoModelForCausalLM.from_pretrained(fixturePath(folder));
      const whole = await acdc(model, { base, source, metric, threshold: Number.NEGATIVE_INFINITY });
      expect(whole.edges).toHaveLength(whole.total);
      expect(whole.circuit).toBe(whole.whole);
      expect(whole.whole).toBeCloseTo((await metric((await model(base)).logits)) as number, 4);
      const steps: number[] = [];
      const progress = ({ done }: { done: number }) => steps.push(done);
      const none = await acdc(model, { base, source, metric, threshold: Number.POSITIVE_INFINITY, progress });
      expect(none.edges).toEqual([]);
      expect(none.circuit).toBeCloseTo((await metric((await model(source)).logits)) as number, 4);
      expect(steps.at(-1)).toBe(none.total);
      const divergence = await acdc(model, { base, source, threshold: 0.01 });
      expect(divergence.whole).toBe(0);
      expect(divergence.circuit).toBeGreaterThan(0);
      expect(divergence.edges.length).toBeLessThan(divergence.total);
      await model.dispose();
    },
  );

  it('refuses other models and arguments', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const options = { base, source, metric, threshold: 0.1 };
    const code = async (call: () => Promise<unknown>) => (await failureOf(call)).code;
    expect(await code(() => acdc(model, { ...options, threshold: Number.NaN }))).toBe('invalid_argument');
    expect(await code(() => acdc(model, { ...options, source: { input_ids: [[1, 2]] } }))).toBe('shape_mismatch');
    const past_key_values = (await model({ input_ids: [[1, 2]] }, { use_cache: true })).past_key_values;
    for (const given of [{ base: { ...base, past_key_values } }, { source: { ...source, past_key_values } }]) {
      const failure = await failureOf(() => acdc(model, { ...options, ...given }));
      expect(failure).toMatchObject({ code: 'unsupported', details: { option: 'past_key_values' } });
    }
    const signal = AbortSignal.abort(new Error('no'));
    await expect(acdc(model, { ...options, signal })).rejects.toThrow('no');
    const bert = await AutoModelForMaskedLM.from_pretrained(fixturePath('models/bert/odd_masked_lm'));
    for (const measured of [options, { ...options, metric: undefined }]) {
      const { code, message } = await failureOf(() => acdc(bert, measured));
      expect([code, message]).toEqual(['unsupported', 'acdc: bert is not decoder-only']);
    }
    const both = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gemma2/even'));
    expect(await code(() => acdc(both, options))).toBe('unsupported');
    const words = await AutoModel.from_pretrained(fixturePath('models/gpt2/odd')); // without them
    expect(await failureOf(() => acdc(words, { base, source, threshold: 0.1 }))).toMatchObject({
      code: 'unsupported',
      details: { option: 'metric' },
    });
    for (const one of [model, bert, both, words]) await one.dispose();
  });
});
