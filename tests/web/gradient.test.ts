// backward(): gradients with respect to activations, inputs, weights and edits, by central differences of the same model;
// the same in a worker; errors that name what is missing. Values against PyTorch: attribution.test.ts and natively
// (gradient_reference_test.cpp).
import {
  type ActivationEdit,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  type DifferentiableMetric,
  type GenerativeModel,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

type Float = Tensor<'float32'>;
const folder = fixturePath('models/gpt2/odd');
const input_ids = [[5, 6, 7, 8, 9]];
const metric = { logits: [{ token: 3 }, { token: 4, pos: 1, weight: -2 }] };
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
const floats = (length: number, value: (at: number) => number) => Float32Array.from({ length }, (_, at) => value(at));
const wave = (length: number) => floats(length, (at) => Math.sin(at + 1));

describe('backward', () => {
  let model: GenerativeModel;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(folder, { worker: false });
  });
  afterAll(() => model.dispose());

  /** The slope of the metric of logits as x moves along `direction`. */
  async function slope(run: (step: number) => Promise<Tensor<'float32'>>): Promise<number> {
    const step = 1e-2;
    const [up, down] = [await run(step), await run(-step)];
    const at = (logits: Tensor<'float32'>, pos: number, token: number) => logits.data[pos * 97 + token] as number;
    const value = (logits: Tensor<'float32'>) => at(logits, 4, 3) - 2 * at(logits, 1, 4);
    return (value(up) - value(down)) / (2 * step);
  }

  it('gives the gradient of any activation', async () => {
    for (const hook of ['blocks.0.hook_resid_post', 'blocks.1.attn.hook_q', 'blocks.1.mlp.hook_post'] as const) {
      const { grad, value, outputs } = await model.backward(
        { input_ids },
        { metric, with_respect_to: { hooks: hook } },
      );
      const { data, dims } = grad[hook] as Float;
      const direction = new Tensor('float32', wave(data.length), dims);
      const expected = sum(Array.from(data, (one, at) => (one as number) * (direction.data[at] as number)));
      const found = await slope((step) =>
        model.run_with_hooks({ input_ids }, { edits: [{ hook, op: 'add', value: direction.mul(step) }] }),
      );
      expect(found).toBeCloseTo(expected, 1);
      const logits = outputs.logits as Tensor<'float32'>;
      expect(value).toBeCloseTo((logits.data[4 * 97 + 3] as number) - 2 * (logits.data[97 + 4] as number), 4);
      expect(logits.data).toEqual((await model({ input_ids })).logits.data);
    }
  });

  it('gives the gradient of embeddings, whether they or the ids are given, and of a residual stream', async () => {
    const wte = await model.parameter('W_E');
    const rows = Float32Array.from((input_ids[0] as number[]).flatMap((id) => [...wte.slice(id).data]) as number[]);
    const inputs_embeds = new Tensor('float32', rows, [1, 5, 30]);
    const ask = { metric, with_respect_to: { inputs: 'inputs_embeds' } } as const;
    const [given, looked_up] = [await model.backward({ inputs_embeds }, ask), await model.backward({ input_ids }, ask)];
    expect(given.inputs.inputs_embeds?.data).toEqual(looked_up.inputs.inputs_embeds?.data);
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: 'blocks.1.hook_resid_pre' });
    const residual = cache['blocks.1.hook_resid_pre'] as Float;
    const late = await model.backward(
      { residual },
      { metric, start_at_layer: 1, with_respect_to: { inputs: 'residual' } },
    );
    const whole = await model.backward(
      { input_ids },
      { metric, with_respect_to: { hooks: 'blocks.1.hook_resid_pre' } },
    );
    expect(late.inputs.residual?.data).toEqual(whole.grad['blocks.1.hook_resid_pre']?.data);
    const edits = [{ hook: 'blocks.1.hook_resid_pre', op: 'zero' }] as const;
    const cut = await model.backward(
      { residual },
      { metric, edits, start_at_layer: 1, with_respect_to: { inputs: 'residual' } },
    );
    expect(cut.inputs.residual?.data.every((one) => one === 0)).toBe(true);
    const [end] = await model.run_with_cache({ input_ids }, { stop_at_layer: 2, names_filter: [] });
    const last = await model.backward(
      { residual: end },
      { metric, start_at_layer: 2, with_respect_to: { inputs: 'residual' } },
    );
    const all = await model.backward({ input_ids }, { metric, with_respect_to: { hooks: 'blocks.1.hook_resid_post' } });
    expect(last.inputs.residual?.data).toEqual(all.grad['blocks.1.hook_resid_post']?.data);
  });

  it('gives the gradients of weights under both names, as edits of them change the metric', async () => {
    const names = ['h.0.attn.c_attn.weight', 'blocks.0.attn.W_Q', 'h.1.mlp.c_fc.bias', 'h.*.ln_1.weight'];
    const { weights } = await model.backward({ input_ids }, { metric, with_respect_to: { weights: names } });
    expect(Object.keys(weights)).toEqual([...names.slice(0, 3), 'h.0.ln_1.weight', 'h.1.ln_1.weight']);
    for (const name of Object.keys(weights)) {
      const gradient = weights[name] as Tensor<'float32'>;
      expect(gradient.dims).toEqual((await model.parameter(name)).dims);
      const direction = new Tensor('float32', wave(gradient.data.length), gradient.dims);
      const expected = sum(Array.from(gradient.data, (one, at) => (one as number) * (direction.data[at] as number)));
      const found = await slope(async (step) => {
        await model.edit_parameter(name, { op: 'add', value: direction.mul(step / 10) });
        const { logits } = await model({ input_ids });
        await model.undo_edits();
        return logits;
      });
      expect(Math.abs(10 * found - expected)).toBeLessThan(0.05 * Math.max(1, Math.abs(expected)));
    }
  });

  it('differentiates through edits, with respect to their values', async () => {
    const hook = 'blocks.0.hook_resid_post';
    const value = Array.from(wave(30));
    const edits = [
      { hook: 'blocks.*.attn.hook_z', head: 1, op: 'scale', value: 0.5 },
      { hook, pos: -1, op: 'add', value },
    ] as const;
    const found = await model.backward(
      { input_ids },
      { metric, edits, with_respect_to: { hooks: hook, edits: [1, 0] } },
    );
    const [steering, factor] = found.edits as [Tensor<'float32'>, Tensor<'float32'>];
    expect([steering.dims, factor.dims]).toEqual([[30], []]);
    expect(steering.data).toEqual(found.grad[hook]?.slice(0, -1).data);
    const along = await slope((step) =>
      model.run_with_hooks({ input_ids }, { edits: [{ ...edits[0], value: 0.5 + step }, edits[1]] }),
    );
    expect(along).toBeCloseTo(factor.data[0] as number, 1);
    const cut = [{ hook, op: 'zero' }] as const;
    const { grad } = await model.backward(
      { input_ids },
      { metric, edits: cut, with_respect_to: { hooks: 'blocks.0.hook_resid_pre' } },
    );
    expect(grad['blocks.0.hook_resid_pre']?.data.every((one) => one === 0)).toBe(true);
  });

  it('takes null for no edits and no functions, as a forward pass does', async () => {
    const hook = 'blocks.0.hook_resid_post';
    const none = { edits: null, fwd_hooks: null, bwd_hooks: null } as unknown as { edits?: ActivationEdit[] };
    const at = { metric, with_respect_to: { hooks: hook } } as const;
    const found = await model.backward({ input_ids }, { ...at, ...none });
    expect(found.grad[hook]?.data).toEqual((await model.backward({ input_ids }, at)).grad[hook]?.data);
    await expect(
      model.backward({ input_ids }, { metric, with_respect_to: { edits: [0] }, ...none }),
    ).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('there is no edit 0') });
  });

  it('takes losses, read-outs and functions of activations', async () => {
    const at = { with_respect_to: { hooks: 'blocks.0.hook_mlp_out' } } as const;
    const gradient = async (given: DifferentiableMetric) => {
      const { value, grad } = await model.backward({ input_ids }, { metric: given, ...at });
      return { value, data: grad['blocks.0.hook_mlp_out']?.data };
    };
    const hook = 'blocks.1.hook_resid_post';
    const squares = await gradient({
      names_filter: hook,
      compute: ({ [hook]: value }) => {
        const { data } = value as Float;
        return { value: sum(data.map((one) => one * one)), gradients: { [hook]: (value as Float).mul(2) } };
      },
    });
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: hook });
    expect(squares.data).toEqual((await gradient({ hook, weights: (cache[hook] as Float).mul(2) })).data);
    const { logits } = await model({ input_ids });
    const outside = await gradient({ output: 'logits', weights: logits });
    expect(outside.value).toBeCloseTo(sum(logits.data.map((one) => one * one)), 2);
    const loss = await gradient({ labels: input_ids });
    const rows = [0, 1, 2, 3].map((row) => Array.from(logits.data.slice(row * 97, (row + 1) * 97)));
    const losses = rows.map(
      (row, at) => Math.log(sum(row.map(Math.exp))) - (row[input_ids[0]?.[at + 1] as number] as number),
    );
    expect(loss.value).toBeCloseTo(sum(losses) / 4, 4);
    const { loss: same } = await model({ input_ids, labels: input_ids });
    expect(same?.item()).toBe(Math.fround(loss.value));
    const edits = [{ hook: 'blocks.0.attn.hook_z', op: 'zero' }] as const;
    const edited = await model.run_with_hooks({ input_ids }, { return_type: 'loss', edits });
    expect(edited.dims).toEqual([]);
    expect(edited.item()).not.toBe(same?.item());
    const padded = { input_ids: [[5, 6, 7, 8, 9], [0, 0, 9, 10, 11]], attention_mask: [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]] }; // biome-ignore format: rows
    const ofText = await model.run_with_hooks(padded, { return_type: 'loss' });
    const labels = [[5, 6, 7, 8, 9], [-100, -100, -100, 10, 11]]; // biome-ignore format: rows
    expect(ofText.item()).toBe((await model({ ...padded, labels })).loss?.item());
    const { inputs_embeds } = { inputs_embeds: new Tensor('float32', wave(5 * model.cfg.d_model), [1, 5, model.cfg.d_model]) }; // biome-ignore format: short
    expect(await failureOf(() => model.run_with_hooks({ inputs_embeds }, { return_type: 'loss' }))).toMatchObject({
      code: 'invalid_argument',
      details: { option: 'return_type' },
    });
    const twice = await gradient([{ labels: input_ids }, { labels: input_ids, weight: 2 }]);
    expect(twice.value).toBeCloseTo(3 * loss.value, 4);
  });

  it('takes the loss of an encoder-decoder of its decoder_input_ids', async () => {
    await using bart = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/even'), { worker: false });
    const own = { input_ids: [[5, 6, 7, 8], [9, 8, 7, 6]], decoder_input_ids: [[2, 9, 4, 0], [2, 3, 5, 6]] }; // biome-ignore format: rows
    const whole = { mask: undefined, labels: [[9, 4, 0, -100], [3, 5, 6, -100]] }; // biome-ignore format: rows
    const hidden = { mask: [[1, 1, 1, 0], [0, 1, 1, 1]], labels: [[9, 4, -100, -100], [-100, 5, 6, -100]] }; // biome-ignore format: rows
    for (const { mask, labels } of [whole, hidden]) {
      const inputs = { ...own, decoder_attention_mask: mask };
      const loss = await bart.run_with_hooks(inputs, { return_type: 'loss' });
      expect(loss.item()).toBe((await bart({ ...inputs, labels })).loss?.item());
    }
    const { input_ids: source } = own;
    const failure = await failureOf(() => bart.run_with_hooks({ input_ids: source }, { return_type: 'loss' }));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('decoder_input_ids')]);
  });

  it('computes layers twice instead of keeping what they compute, and logits in blocks, with the same bits', async () => {
    const ask = {
      metric: { labels: input_ids },
      names_filter: 'blocks.*.hook_mlp_out',
      edits: [{ hook: 'blocks.*.attn.hook_z', op: 'noise', value: 0.1 }],
      with_respect_to: { hooks: 'blocks.*', weights: '*', edits: [0] },
    } as const;
    const kept = await model.backward({ input_ids }, { ...ask, memory: 'keep' });
    const again = await model.backward({ input_ids }, { ...ask, memory: 'recompute' });
    expect(again).toEqual(kept);
    const { outputs, ...rest } = await model.backward({ input_ids }, { ...ask, return_logits: false });
    expect(outputs).toEqual({});
    expect({ ...rest, outputs: kept.outputs }).toEqual(kept);
  });

  it('calls bwd_hooks with gradients, which they may change, and fills cache.grad', async () => {
    const hooks = 'blocks.*.hook_resid_pre';
    const [logits, cache] = await model.run_with_cache({ input_ids }, { metric, names_filter: hooks });
    expect(logits.data).toEqual((await model({ input_ids })).logits.data);
    const seen: string[] = [];
    await model.run_with_hooks(
      { input_ids },
      {
        metric,
        bwd_hooks: [
          [
            hooks,
            (value, { name }) => {
              seen.push(name);
              expect(value.data).toEqual(cache.grad[name]?.data);
            },
          ],
        ],
      },
    );
    expect(seen).toEqual(['blocks.1.hook_resid_pre', 'blocks.0.hook_resid_pre']);
    const stopped = await model.backward(
      { input_ids },
      {
        metric,
        bwd_hooks: [['blocks.1.hook_resid_pre', (value) => void value.data.fill(0)]],
        with_respect_to: { hooks },
      },
    );
    expect(stopped.grad['blocks.0.hook_resid_pre']?.data.every((one) => one === 0)).toBe(true);
    const thrown = new Error('mine');
    const fails = () => {
      throw thrown;
    };
    await expect(model.run_with_hooks({ input_ids }, { metric, bwd_hooks: [[hooks, fails]] })).rejects.toBe(thrown);
  });

  it('gives the gradients of what is projected out, and through what single heads read and write', async () => {
    const read = (edits: ActivationEdit[]) => model.run_with_hooks({ input_ids }, { edits });
    const values = [new Tensor('float32', wave(60), [2, 30]), new Tensor('float32', wave(30 * 3), [3, 30])];
    for (const [at, edit] of (
      [
        { hook: 'blocks.1.hook_resid_pre', op: 'project_out', pos: [0, 2, 4] },
        { hook: 'blocks.1.hook_q_input', op: 'add' },
        { hook: 'blocks.0.hook_v_input', op: 'add' },
        { hook: 'blocks.0.attn.hook_result', op: 'add' },
      ] as const
    ).entries()) {
      const value = values[at === 0 ? 0 : 1] as Float;
      const { edits, grad } = await model.backward(
        { input_ids },
        { metric, edits: [{ ...edit, value }], with_respect_to: { edits: [0], hooks: edit.hook } },
      );
      const found = edits[0] as Float;
      expect(found.dims).toEqual(value.dims);
      expect(grad[edit.hook]?.norm().item()).toBeGreaterThan(0);
      const direction = new Tensor(
        'float32',
        floats(value.data.length, (i) => Math.cos(3 * i)),
        value.dims,
      );
      const expected = sum(Array.from(found.data, (one, i) => one * (direction.data[i] as number)));
      const slopeFound = await slope((step) => read([{ ...edit, value: value.add(direction.mul(step)) }]));
      expect(Math.abs(slopeFound - expected), edit.hook).toBeLessThan(0.08 * (found.norm().item() as number));
    }
    const twin = new Tensor(
      'float32',
      floats(60, (i) => (i % 30) + 1),
      [2, 30],
    );
    const failure = await failureOf(() =>
      model.backward(
        { input_ids },
        {
          metric,
          edits: [{ hook: 'blocks.1.hook_resid_pre', op: 'project_out', value: twin }],
          with_respect_to: { edits: [0] },
        },
      ),
    );
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('depend on each')]);
  });

  it('is aborted by its signal, and leaves the model usable', async () => {
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await expect(model.backward({ input_ids }, { metric, signal: stop.signal })).rejects.toThrow('enough');
    expect((await model.backward({ input_ids }, { metric })).value).toBeTypeOf('number');
  });

  it.each([
    [undefined, 'invalid_argument', 'no metric'],
    [{}, 'invalid_argument', 'no metric'],
    [{ metric: [] }, 'invalid_argument', 'no metric'],
    [{ metric: { logits: [{ token: 97 }] } }, 'invalid_argument', 'no logit'],
    [{ metric: { logit: [{ token: 3 }] } }, 'unsupported', "'logit' (known: logits, labels, "],
    [{ metric: { logits: [{ token: 3, weight: '2' }] } }, 'invalid_argument', 'weight 2 is no number'],
    [{ metric: { hook: 'blocks.9.hook_resid_pre', weights: 1 } }, 'invalid_argument', 'blocks.9'],
    [{ metric: { weights: 1 } }, 'invalid_argument', 'needs a hook or an output'],
    [{ metric, with_respect_to: { hooks: 'blocks.0.hook_resid' } }, 'invalid_argument', 'blocks.0.hook_resid'],
    [{ metric, with_respect_to: { weights: 'nothing' } }, 'invalid_argument', 'nothing'],
    [{ metric, with_respect_to: { weights: 'nothing*' } }, 'invalid_argument', 'nothing*'],
    [{ metric, with_respect_to: { inputs: 'pixel_values' } }, 'invalid_argument', 'pixel_values'],
    [{ metric, with_respect_to: { edits: [0] } }, 'invalid_argument', 'no edit 0'],
    [{ metric, with_respect_to: { hook: '*' } }, 'unsupported', "'hook'"],
    [
      { metric, stop_at_layer: 1, with_respect_to: { hooks: 'blocks.1.hook_resid_post' } },
      'invalid_argument',
      'blocks.1',
    ],
    [{ metric, names: '*' }, 'unsupported', "'names'"],
    [{ metric, memory: 'little' }, 'unsupported', 'auto, keep, recompute'],
    [
      {
        metric,
        with_respect_to: { hooks: 'hook_embed' },
        fwd_hooks: [['blocks.0.hook_resid_pre', (x: Tensor<'float32'>) => x.mul(2)]],
      },
      'unsupported',
      'blocks.0.hook_resid_pre',
    ],
  ])('refuses %j', async (options, code, text) => {
    const failure = await failureOf(() => model.backward({ input_ids }, options as never));
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(text)]);
  });

  it('takes undefined labels for none, as those of every input', async () => {
    const { logits } = await model({ input_ids, labels: undefined });
    expect(logits.data).toEqual((await model({ input_ids })).logits.data);
    expect(await failureOf(() => model({ input_ids, labels: null as never }))).toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('names what labels lack: a head', async () => {
    const base = await AutoModel.from_pretrained(folder, { worker: false });
    const failure = await failureOf(() => base({ input_ids, labels: input_ids }));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining('gpt2 for the task base')]);
    await base.dispose();
  });

  it('refuses a cache of keys and values', async () => {
    const { past_key_values } = await model({ input_ids }, { use_cache: true });
    const failure = await failureOf(() => model.backward({ input_ids: [[4]], past_key_values }, { metric }));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining('past_key_values')]);
    await past_key_values?.dispose();
  });

  it('gives the same bits in a worker, where bwd_hooks run, too', async () => {
    await using there = await AutoModelForCausalLM.from_pretrained(folder, { worker: true });
    const options = { metric, with_respect_to: { hooks: 'blocks.0.attn.hook_q', weights: 'W_E' } } as const;
    const [a, b] = [await model.backward({ input_ids }, options), await there.backward({ input_ids }, options)];
    expect(b).toEqual(a);
    const bwd_hooks = [['blocks.1.hook_resid_pre', (value: Float) => value.mul(2)]] as const;
    const both = await Promise.all([model, there].map((one) => one.backward({ input_ids }, { ...options, bwd_hooks })));
    expect(both[1]).toEqual(both[0]);
    expect(both[0]?.grad['blocks.0.attn.hook_q']).not.toEqual(a.grad['blocks.0.attn.hook_q']);
  });
});
