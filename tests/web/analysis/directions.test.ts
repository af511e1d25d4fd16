// Control vectors and linear probes against float64 (tests/references/directions.py), their files, and what they do to a
// model; the readers of files take no byte for granted.

import { readFileSync } from 'node:fs';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  ControlVector,
  type ControlVectorOptions,
  type GenerativeModel,
  LinearProbe,
  type ModelInputs,
  Tensor,
  toSafetensors,
} from 'clearformer';
import { describe, expect, it, vi } from 'vitest';
import { failureOf } from '../support/failures.js';
import { type Case, casesOf, fixturePath, storiesPath, tensorsOf } from '../support/references.js';

const cases = casesOf('directions');
const vectors = cases.filter(({ op }) => op === 'control_vector');
const probes = cases.filter(({ op }) => op === 'probe');

const modelOf = (one: Case, options = {}): Promise<GenerativeModel> =>
  AutoModelForCausalLM.from_pretrained(fixturePath(String(one.options.checkpoint)), {
    deterministic: true,
    ...options,
  });

/** The rows of a case as inputs of their own. */
function inputsOf(one: Case): ModelInputs[] {
  const { data, dims } = tensorsOf('directions', one)('ids');
  const [rows = 0, length = 0] = dims;
  return Array.from({ length: rows }, (_, row) => ({
    input_ids: [Array.from((data as BigInt64Array).subarray(row * length, (row + 1) * length), Number)],
  }));
}

function pairsOf(one: Case) {
  const inputs = inputsOf(one);
  return Array.from({ length: inputs.length / 2 }, (_, pair) => ({
    positive: inputs[2 * pair] as ModelInputs,
    negative: inputs[2 * pair + 1] as ModelInputs,
  }));
}

const distance = (found: ArrayLike<number>, expected: ArrayLike<number | bigint>) =>
  Math.sqrt(Array.from(found).reduce((sum, value, i) => sum + (value - Number(expected[i])) ** 2, 0));

describe('control vectors', () => {
  it.each(vectors)('of $name are repeng’s', async (one) => {
    const model = await modelOf(one);
    const expected = tensorsOf('directions', one);
    const hidden_layers = Array.from({ length: model.cfg.n_layers }, (_, layer) => layer);
    for (const method of ['pca_diff', 'pca_center', 'mean_diff'] as const) {
      const found = await ControlVector.train(model, pairsOf(one), { method, hidden_layers });
      expect([...found.directions.keys()]).toEqual(hidden_layers);
      for (const [layer, { data }] of found.directions) {
        // The states are float32 with errors of some 1e-6 of their size; a principal direction multiplies them by the
        // size over the gap to the second one, here below 30.
        expect(distance(data, expected(`${method} ${layer}`).data)).toBeLessThan(2e-4);
      }
    }
    await model.dispose();
  });

  it('are files of repeng, byte for byte, and safetensors', async () => {
    const file = new Uint8Array(readFileSync(fixturePath('directions/repeng.gguf')));
    const read = ControlVector.import_gguf(file);
    expect(read.model_type).toBe('gpt2');
    expect(read.export_gguf()).toEqual(file);
    expect(ControlVector.import_gguf(readFileSync(fixturePath('directions/repeng.gguf'))).export_gguf()).toEqual(file);
    const one = vectors.find(({ name }) => name === 'gpt2') as Case;
    for (const [layer, { data }] of read.directions) {
      expect(data).toEqual(tensorsOf('directions', one)(`pca_diff ${layer}`).data);
    }
    const again = ControlVector.from_safetensors(read.mul(2).to_safetensors());
    expect(again.sub(read).export_gguf()).toEqual(file);
  });

  it('steer generation in every dtype, and leave no trace', async () => {
    const texts = [
      'Lily was happy.',
      'Tom was happy.',
      'Sue was glad.',
      'Ben was glad.',
      'Mia was good.',
      'Sam was good.',
    ];
    const dataset = [0, 2, 4].map((at) => ({ positive: texts[at] as string, negative: texts[at + 1] as string }));
    for (const dtype of ['fp32', 'q4'] as const) {
      const model = await AutoModelForCausalLM.from_pretrained(storiesPath, { dtype, deterministic: true });
      const options: ControlVectorOptions = { method: 'mean_diff', hidden_layers: [2, 3] };
      const girl = await ControlVector.train(model, dataset, options);
      const prompt = { input_ids: [[1, 403, 407, 261]] };
      const plain = await model.generate(prompt, { max_new_tokens: 8 });
      const steered = await model.generate(prompt, { max_new_tokens: 8, edits: girl.edits(model, { strength: 30 }) });
      expect(steered.tolist()).not.toEqual(plain.tolist());
      const nothing = await model.generate(prompt, { max_new_tokens: 8, edits: girl.edits(model, { strength: 0 }) });
      expect(nothing.tolist()).toEqual(plain.tolist());
      const { logits } = await model(prompt);
      const edited = await model.run_with_hooks(prompt, { edits: girl.edits(model) });
      const direction = girl.directions.get(3) as Tensor<'float32'>;
      const [, cache] = await model.run_with_cache(prompt, {
        names_filter: 'blocks.3.hook_resid_post',
        edits: girl.edits(model),
      });
      expect(edited.data).not.toEqual(logits.data);
      expect(direction.dims).toEqual([cache['blocks.3.hook_resid_post']?.dims.at(-1)]);
      expect((await model(prompt)).logits.data).toEqual(logits.data);
      await model.dispose();
    }
  });

  it('refuse what they cannot do', async () => {
    const one = vectors[0] as Case;
    const model = await modelOf(one);
    const [first] = pairsOf(one);
    const other = new ControlVector('gpt2', new Map([[0, new Tensor('float32', new Float32Array(3), [3])]]));
    const refused: [() => unknown, string][] = [
      [() => ControlVector.train(model, [first as never]), 'invalid_argument'],
      [() => ControlVector.train(model, pairsOf(one), { method: 'umap' as never }), 'unsupported'],
      [() => ControlVector.train(model, pairsOf(one), { hidden_layers: [9] }), 'invalid_argument'],
      [() => ControlVector.train(model, [{ positive: 'a', negative: 'b' }], { method: 'mean_diff' }), 'unsupported'],
      [() => other.edits(model), 'shape_mismatch'],
      [() => new ControlVector('gpt2', new Map()), 'invalid_argument'],
      [() => other.edits(model, { strength: Number.NaN }), 'invalid_argument'],
      [() => other.mul('2' as never), 'invalid_argument'],
    ];
    for (const [failing, code] of refused) expect(await failureOf(async () => failing())).toMatchObject({ code });
    await model.dispose();
  });
});

describe('files of vectors', () => {
  const file = new Uint8Array(readFileSync(fixturePath('directions/repeng.gguf')));
  const codes = ['malformed_file', 'unsupported'];

  it('are read to their end and no further: each shorter file is refused', async () => {
    for (let length = 0; length < file.length - 32; length++) {
      const failure = await failureOf(async () => ControlVector.import_gguf(file.slice(0, length)));
      expect(codes).toContain((failure as { code: string }).code);
    }
  });

  it('with any bytes give a vector or a typed error', async () => {
    const safetensors = ControlVector.import_gguf(file).to_safetensors();
    for (const [read, seed] of [
      [(bytes: Uint8Array) => ControlVector.import_gguf(bytes), file],
      [(bytes: Uint8Array) => ControlVector.from_safetensors(bytes), safetensors],
    ] as const) {
      for (let at = 0; at < seed.length; at++) {
        for (const value of [0, 1, 0x7f, 0xff]) {
          const bytes = seed.slice();
          bytes[at] = value;
          try {
            expect(read(bytes)).toBeInstanceOf(ControlVector);
          } catch (thrown) {
            expect(codes).toContain((thrown as { code: string }).code);
          }
        }
      }
    }
  });

  it('say what is wrong', async () => {
    const changed = (from: string, to: string) => {
      const text = Buffer.from(file).toString('latin1').replace(from, to);
      return new Uint8Array(Buffer.from(text, 'latin1'));
    };
    const tensor = (dims: number[], value = 1) =>
      new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(value), dims);
    const refused: [() => unknown, RegExp][] = [
      [() => ControlVector.import_gguf(changed('GGUF', 'GGML')), /does not begin/],
      [() => ControlVector.import_gguf(changed('controlvector', 'controlvektor')), /general\.architecture/],
      [() => ControlVector.import_gguf(changed('direction.1', 'direction.x')), /names no layer/],
      [() => ControlVector.from_safetensors(toSafetensors({ 'direction.1': tensor([2, 2]) })), /no vector of float32/],
      [() => ControlVector.from_safetensors(toSafetensors({ other: tensor([2]) })), /no tensor is a direction/],
      [
        () => ControlVector.from_safetensors(toSafetensors({ 'direction.1': tensor([2]), 'direction.2': tensor([3]) })),
        /differ/,
      ],
      [() => ControlVector.from_safetensors(toSafetensors({ 'direction.1': tensor([2], Number.NaN) })), /not finite/],
    ];
    for (const [failing, message] of refused) {
      const failure = await failureOf(async () => failing());
      expect(codes).toContain((failure as { code: string }).code);
      expect((failure as Error).message).toMatch(message);
    }
  });
});

describe('linear probes', () => {
  it.each(probes)('$name: weights, bias, loss and score are those of the optimum', async (one) => {
    const { kind, C, alpha, loss, score } = one.options as {
      kind: 'logistic' | 'softmax' | 'ridge';
      C?: number;
      alpha?: number;
      loss: number;
      score: number;
    };
    const expected = tensorsOf('directions', one);
    const model = await modelOf(one);
    const labels = Array.from(expected('labels').data as Float32Array, Number);
    const hook = 'blocks.0.hook_resid_post';
    const probe = await LinearProbe.fit(model, inputsOf(one), labels, { hook, kind, C, alpha });
    const size = Math.sqrt(expected('weights').data.length);
    expect(distance(probe.weights.data, expected('weights').data) / size).toBeLessThan(1e-4);
    const biases = [probe.bias].flat();
    expect(biases.length).toBe(expected('bias').data.length);
    for (const [at, bias] of biases.entries()) expect(bias).toBeCloseTo(Number(expected('bias').data[at]), 4);
    expect(probe.weights.dims).toEqual(expected('weights').dims);
    const found = await probe.predict(model, inputsOf(one));
    expect(found.dims).toEqual(expected('found').dims);
    expect(distance(found.data, expected('found').data) / Math.sqrt(labels.length)).toBeLessThan(2e-4);
    const measured = await probe.evaluate(model, inputsOf(one), labels);
    expect(measured.loss).toBeCloseTo(loss, 4);
    expect(measured.score).toBeCloseTo(score, 3);

    const batch = { input_ids: inputsOf(one).flatMap(({ input_ids }) => input_ids as number[][]) };
    expect((await probe.predict(model, [batch])).data).toEqual(found.data);
    const [input] = inputsOf(one) as [ModelInputs];
    const several = kind === 'softmax';
    const label = several ? 2 : undefined;
    const weights = several ? probe.weights.slice(2) : probe.weights;
    const bias = biases[label ?? 0] as number;
    const first = found.data[label ?? 0] as number;
    const metric = probe.metric(7, label);
    const { value, grad } = await model.backward(input, { metric, with_respect_to: { hooks: hook } });
    expect(value).toBeCloseTo(first - bias, 4);
    expect(grad[hook]?.slice(0, -1).data).toEqual(weights.data);
    const norm = weights.norm().item();
    const along = (x: Tensor<'float32'> | undefined, w = weights) => Number(x?.slice(0, -1).mul(w).sum().item());
    const [, moved] = await model.run_with_cache(input, {
      names_filter: hook,
      edits: probe.edits({ strength: 3, pos: -1, label }),
    });
    expect(along(moved[hook]) + bias).toBeCloseTo(first + 3 * norm, 3);
    const [, without] = await model.run_with_cache(input, {
      names_filter: hook,
      edits: probe.edits({ op: 'project_out' }),
    });
    for (let row = 0; row < biases.length; row++) {
      expect(along(without[hook], several ? probe.weights.slice(row) : weights)).toBeCloseTo(0, 4);
    }
    await model.dispose();
  });

  it('of two classes with softmax are those of logistic: twice the difference', async () => {
    const one = probes.find(({ options }) => options.kind === 'logistic') as Case;
    const model = await modelOf(one);
    const labels = Array.from(tensorsOf('directions', one)('labels').data as Float32Array, Number);
    const hook = 'blocks.0.hook_resid_post';
    // ½|w|² of a difference w is |w/2|² of two weights ±w/2, so that C/2 gives the same optimum.
    const two = await LinearProbe.fit(model, inputsOf(one), labels, { hook, kind: 'softmax', C: 1 });
    const alone = await LinearProbe.fit(model, inputsOf(one), labels, { hook, C: 2 });
    const difference = two.weights.slice(1).sub(two.weights.slice(0));
    expect(distance(difference.data, alone.weights.data)).toBeLessThan(1e-6 * alone.weights.norm().item() + 1e-6);
    const [first, second] = two.bias as number[];
    expect((second as number) - (first as number)).toBeCloseTo(alone.bias as number, 6);
    expect((first as number) + (second as number)).toBeCloseTo(0, 8);
    await model.dispose();
  });

  it('reads a head, and the last position before padding', async () => {
    const one = probes[0] as Case;
    const model = await modelOf(one);
    const inputs = inputsOf(one).slice(0, 6);
    const labels = [0, 1, 1, 0, 1, 0];
    const options = { hook: 'blocks.1.attn.hook_z', head: 1 } as const;
    const probe = await LinearProbe.fit(model, inputs, labels, options);
    expect(probe.weights.size).toBe(model.cfg.d_head);
    const [first] = inputs as [{ input_ids: number[][] }];
    const padded = {
      input_ids: [[...(first.input_ids[0] as number[]), 0, 0]],
      attention_mask: [[1, 1, 1, 1, 1, 1, 1, 0, 0]],
    };
    expect((await probe.predict(model, [padded])).item()).toBe((await probe.predict(model, [first])).item());
    const at = (pos: number) => new LinearProbe({ hook: options.hook, head: 1, pos }, probe.weights);
    const padding = { code: 'invalid_argument', message: expect.stringContaining('is padding') };
    for (const pos of [-8, 7]) expect(await failureOf(() => at(pos).predict(model, [padded]))).toMatchObject(padding);
    const padsFirst = { input_ids: padded.input_ids, attention_mask: [[0, 0, 1, 1, 1, 1, 1, 1, 1]] };
    expect((await at(2).predict(model, [padsFirst])).item()).toBe((await at(-7).predict(model, [padsFirst])).item());
    for (const pos of [-8, 1])
      expect(await failureOf(() => at(pos).predict(model, [padsFirst]))).toMatchObject(padding);
    await model.dispose();
  });

  it('reads the positions of a decoder, and those of images', async () => {
    await using marian = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/marian/even'));
    const source = { input_ids: [[3, 4, 5, 6, 7, 1]], attention_mask: [[1, 1, 1, 1, 1, 0]] };
    const given = [[3], [8, 9], [4]].map((decoder_input_ids) => ({
      ...source,
      decoder_input_ids: [decoder_input_ids],
    }));
    const [one, two, three] = given as ModelInputs[] as [ModelInputs, ModelInputs, ModelInputs];
    const method = 'mean_diff';
    const found = await ControlVector.train(marian, [{ positive: one, negative: two }], { method, hidden_layers: [1] });
    const state = async (inputs: ModelInputs) => {
      const [, cache] = await marian.run_with_cache(inputs, { names_filter: 'decoder.1.hook_resid_post' });
      return cache['decoder.1.hook_resid_post']?.slice(0, -1) as Tensor<'float32'>;
    };
    expect(distance(found.directions.get(1)?.data ?? [], (await state(one)).sub(await state(two)).data)).toBeLessThan(
      1e-6,
    );
    const probe = await LinearProbe.fit(marian, [one, three], [0, 1], { hook: 'decoder.0.hook_resid_post' });
    expect((await probe.predict(marian, [two])).size).toBe(1);
    const other = await LinearProbe.fit(marian, [one, three], [0, 1], { hook: 'decoder.0.hook_out' as never });
    expect(other.direction).toEqual(probe.direction);
    await using clip = await AutoModel.from_pretrained(fixturePath('models/clip/odd'));
    const { image_size, num_channels = 3 } = clip.config.vision_config as Record<string, number>;
    const dims = [1, num_channels, Number(image_size), Number(image_size)];
    const data = new Float32Array(num_channels * Number(image_size) ** 2);
    const inputs = { pixel_values: { data, dims }, input_ids: [[3, 4, 5]], attention_mask: [[1, 1, 0]] };
    const hook = 'vision_model.blocks.0.hook_resid_post';
    const [, cache] = await clip.run_with_cache(inputs, { names_filter: hook });
    const last = cache[hook]?.slice(0, -1) as Tensor<'float32'>;
    const seen = await new LinearProbe({ hook, kind: 'ridge' }, last).predict(clip, [inputs]);
    expect(seen.item()).toBeCloseTo(Number(last.mul(last).sum().item()), 4);
    const pair = { ...inputs, input_ids: [[3, 4, 5], [6, 7, 5]], attention_mask: [[1, 1, 0], [1, 1, 1]] }; // biome-ignore format: two rows
    expect((await new LinearProbe({ hook, kind: 'ridge' }, last).predict(clip, [pair])).data).toEqual(seen.data);
  });

  it('reads all rows of a batch in one pass, which extends a cache once', async () => {
    await using model = await modelOf(probes[0] as Case);
    const hook = 'blocks.1.hook_resid_post';
    const weights = new Tensor('float32', Float32Array.from({ length: model.cfg.d_model }, Math.cos), [
      model.cfg.d_model,
    ]);
    const probe = new LinearProbe({ hook, kind: 'ridge' }, weights);
    const rows = [[5, 6, 7, 8], [9, 3, 4, 2], [1, 2, 3, 4]]; // biome-ignore format: rows
    const mask = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]]; // biome-ignore format: rows
    const run = vi.spyOn(model, 'run_with_cache');
    const found = await probe.predict(model, [{ input_ids: rows, attention_mask: mask }]);
    expect(run).toHaveBeenCalledTimes(1);
    const alone = rows.map((row, at) => ({ input_ids: [row], attention_mask: [mask[at] as number[]] }));
    expect(found.data).toEqual((await probe.predict(model, alone)).data);
    const before = rows.map((row) => row.slice(0, 2));
    const { past_key_values } = await model({ input_ids: before }, { use_cache: true });
    const after = await probe.predict(model, [{ input_ids: rows.map((row) => row.slice(2)), past_key_values }]);
    expect(after.data).toEqual((await probe.predict(model, [{ input_ids: rows }])).data);
    expect(await past_key_values?.info()).toMatchObject({ length: 4 });
    await past_key_values?.dispose();
  });

  it('refuses what it cannot fit', async () => {
    const one = probes[0] as Case;
    const model = await modelOf(one);
    const inputs = inputsOf(one).slice(0, 2);
    const hook = 'blocks.0.hook_resid_post';
    const ofTwo = new LinearProbe({ hook }, new Tensor('float32', Float32Array.of(1, 2), [2]));
    const probeOf = (dims: number[], bias: number | number[] = 0) =>
      new LinearProbe({ hook, kind: 'softmax' }, new Tensor('float32', new Float32Array(6), dims), bias);
    const refused: [() => Promise<unknown>, string][] = [
      [() => LinearProbe.fit(model, inputs, [0, 0], { hook }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0], { hook }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 2], { hook }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 2], { hook, kind: 'softmax' }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 0], { hook, kind: 'softmax' }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, -1], { hook, kind: 'softmax' }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 0.5], { hook, kind: 'softmax' }), 'invalid_argument'],
      [async () => probeOf([2, 3]).direction, 'unsupported'],
      [async () => probeOf([2, 3]).edits(), 'invalid_argument'],
      [async () => probeOf([2, 3]).directionOf(2), 'invalid_argument'],
      [async () => probeOf([2, 3]).metric(7), 'invalid_argument'],
      [async () => probeOf([6]), 'invalid_argument'],
      [async () => probeOf([2, 3], [1, 2, 3]), 'invalid_argument'],
      [
        async () => new LinearProbe({ hook }, new Tensor('float32', new Float32Array(3), [3])).metric(7, 1),
        'invalid_argument',
      ],
      [() => LinearProbe.fit(model, inputs, [0, 1], { hook: 'nothing' as never }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 1], { hook: 'blocks.*.hook_resid_post' as never }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 1], { hook, kind: 'svm' as never }), 'unsupported'],
      [() => LinearProbe.fit(model, inputs, [0, 1], { hook, C: 0 }), 'invalid_argument'],
      [() => LinearProbe.fit(model, inputs, [0, 1], { hook, kind: 'ridge', C: 2 }), 'invalid_argument'], // alpha is its option
      [() => LinearProbe.fit(model, ['text'], [0], { hook, kind: 'ridge' }), 'unsupported'],
      [() => LinearProbe.fit(model, [], [], { hook }), 'invalid_argument'],
      [async () => probeOf([2, 3]).directionOf(0), 'invalid_argument'], // zeros
      [async () => probeOf([2, 3]).edits({ label: 0 }), 'invalid_argument'],
      [async () => probeOf([2, 3]).edits({ op: 'project_out', strength: 2 }), 'invalid_argument'],
      [async () => ofTwo.edits({ label: 1 }), 'invalid_argument'],
      [async () => ofTwo.metric(7n as never), 'invalid_argument'],
      [async () => new LinearProbe({ hook }, ofTwo.weights, 'x' as never), 'invalid_argument'],
    ];
    for (const [failing, code] of refused) expect(await failureOf(failing)).toMatchObject({ code });
    const [controller, progress] = [new AbortController(), vi.fn()];
    const fitted = await LinearProbe.fit(model, inputs, [0, 1], { hook, signal: controller.signal, progress });
    controller.abort();
    await fitted.predict(model, inputs);
    expect(progress).toHaveBeenCalledTimes(2);
    const classes = await LinearProbe.fit(model, inputs, [0, 1], { hook, kind: 'softmax' });
    for (const probe of [fitted, classes]) {
      const failure = await failureOf(() => probe.evaluate(model, inputs, [0, 2]));
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'labels' } });
    }
    await model.dispose();
  });
});
