// LoRA adapters: PEFT's folders give the logits that PEFT's formula gives in PyTorch (tests/references/adapters.py), here
// and in a worker; they are exchanged, added up, taken away without a trace, written and refused by name.

import { readFileSync } from 'node:fs';
import {
  type AutoModelClass,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  ClearformerError,
  type LoraConfig,
  type ModelInputs,
  type PreTrainedModel,
  Tensor,
  toSafetensors,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Case, casesOf, fixturePath, readReferences, tensorsOf } from './support/references.js';

const classes = { AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM };
const cases = casesOf('adapters');
const folderOf = (name: string) => fixturePath(`adapters/${name}`);
const input_ids = [[3, 9, 4, 20, 7]];

async function modelOf(one: Case, options = {}): Promise<PreTrainedModel> {
  const found = classes[one.options.class as keyof typeof classes];
  return found.from_pretrained(fixturePath(String(one.options.checkpoint)), options) as Promise<PreTrainedModel>;
}

function inputsOf(one: Case): ModelInputs {
  const given = tensorsOf('adapters', one);
  const ids = (name: string) => new Tensor('int64', given(name).data as BigInt64Array, given(name).dims);
  return Object.fromEntries(Object.keys(one.inputs).map((name) => [name, ids(name)])) as unknown as ModelInputs;
}

async function logitsOf(model: PreTrainedModel, inputs: ModelInputs): Promise<Float32Array> {
  return ((await model(inputs)) as unknown as { logits: Tensor<'float32'> }).logits.data;
}

function worst(one: ArrayLike<number>, other: ArrayLike<number>): number {
  expect(one.length).toBe(other.length);
  return Array.from(one).reduce((most, value, at) => Math.max(most, Math.abs(value - Number(other[at]))), 0);
}

const llama = () => AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'));

/** The llama adapter with another configuration or other tensors. */
function altered(config: LoraConfig, tensors?: Record<string, Tensor>): Record<string, Uint8Array> {
  const folder = folderOf('llama');
  const own = JSON.parse(readFileSync(`${folder}/adapter_config.json`, 'utf8'));
  return {
    'adapter_config.json': new TextEncoder().encode(JSON.stringify({ ...own, ...config })),
    'adapter_model.safetensors': tensors ? toSafetensors(tensors) : readFileSync(`${folder}/adapter_model.safetensors`),
  };
}

function tensorsOfLlama(): Record<string, Tensor> {
  const file = readReferences(`${folderOf('llama')}/adapter_model.safetensors`);
  const entries = [...file].map(([name, { data, dims }]) => [name, new Tensor('float32', data as Float32Array, dims)]);
  return Object.fromEntries(entries);
}

describe('load_adapter', () => {
  it.each(cases)('$name gives the logits of PEFT’s formula, and leaves no trace', async (one) => {
    const expected = tensorsOf('adapters', one)('logits');
    const bound = 4 * (one.float32_error as { logits: number }).logits;
    const parts = one.options.adapters as [string, number][];
    const model = await modelOf(one, { worker: parts.length > 1 });
    const inputs = inputsOf(one);
    const before = await logitsOf(model, inputs);
    for (const [name] of parts) {
      expect(await model.load_adapter(folderOf(name), { adapter_name: name })).toBe(name);
      expect(await model.active_adapters()).toEqual([name]);
    }
    const names = parts.map(([name]) => name);
    await model.disable_adapters();
    await model.set_adapter(names, { scale: parts.map(([, factor]) => factor) }); // in force at once
    const adapted = await logitsOf(model, inputs);
    expect(worst(adapted, expected.data as Float32Array)).toBeLessThanOrEqual(bound);
    expect(worst(adapted, before)).toBeGreaterThan(0.1);
    await model.disable_adapters();
    expect(await model.active_adapters()).toEqual([]);
    expect(await logitsOf(model, inputs)).toEqual(before);
    await model.enable_adapters();
    expect(await model.active_adapters()).toEqual(names);
    expect(await logitsOf(model, inputs)).toEqual(adapted);
    const { weights } = model.info().memory;
    await model.delete_adapter(names);
    expect(await logitsOf(model, inputs)).toEqual(before);
    expect(model.info().memory.weights).toBeLessThan(weights);
    await model.dispose();
  });

  it('subtracts where lora_alpha is below 0, as PEFT does', async () => {
    const model = await llama();
    await model.load_adapter(altered({ lora_alpha: -6 }), { adapter_name: 'less' });
    const less = await logitsOf(model, { input_ids });
    await model.delete_adapter('less');
    await model.load_adapter(altered({ lora_alpha: 6 }), { adapter_name: 'more' });
    expect(await logitsOf(model, { input_ids })).not.toEqual(less);
    await model.set_adapter('more', { scale: -1 });
    expect(await logitsOf(model, { input_ids })).toEqual(less);
    await model.dispose();
  });
  it.each(['eva', 'mica'])('takes matrices that began as %s as they are', async (init_lora_weights) => {
    await (await llama()).load_adapter(altered({ init_lora_weights }));
  });

  it('adds to weights of any dtype', async () => {
    for (const dtype of ['fp16', 'q8', 'q4'] as const) {
      const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), {
        dtype,
        deterministic: true,
      });
      const before = await logitsOf(model, { input_ids });
      await model.load_adapter(folderOf('llama'));
      const halves = await logitsOf(model, { input_ids });
      expect(worst(halves, before)).toBeGreaterThan(0.1);
      await model.set_adapter('default', { scale: 0 });
      expect(worst(await logitsOf(model, { input_ids }), before)).toBeLessThan(1e-6);
      await model.dispose();
    }
  });

  it('generates with the adapter in force', async () => {
    const model = await llama();
    const ids = async () => [...(await model.generate({ input_ids, max_new_tokens: 8 })).data];
    const before = await ids();
    await model.load_adapter(folderOf('llama'));
    const adapted = await ids();
    expect(adapted).not.toEqual(before);
    await model.load_adapter(folderOf('llama_patterns'), { adapter_name: 'other' });
    expect(await ids()).not.toEqual(adapted);
    await model.set_adapter('default');
    expect(await ids()).toEqual(adapted);
  });

  it.each<[string, string, string, LoraConfig]>([
    [
      'modules named in full, whatever layers are named',
      'models/openai_gpt/even',
      'transformer.h.0.mlp.c_fc',
      { target_modules: ['transformer.h.0.mlp.c_fc'], layers_to_transform: [1], layers_pattern: 'h' },
    ],
    [
      'modules excluded by PEFT’s name, which has a prefix',
      'models/openai_gpt/even',
      'transformer.h.0.mlp.c_fc',
      { target_modules: ['c_fc'], exclude_modules: ['transformer.h.1.mlp.c_fc'] },
    ],
    [
      'the layers of T5 by the first number in a name, as in PEFT 0.20',
      'models/t5/even',
      'decoder.block.0.layer.1.EncDecAttention.q',
      { target_modules: ['EncDecAttention.q'], layers_to_transform: 0 },
    ],
  ])('finds %s', async (_, checkpoint, module, config) => {
    const auto: AutoModelClass<PreTrainedModel> = /t5/.test(checkpoint) ? AutoModelForSeq2SeqLM : AutoModelForCausalLM;
    await using model = await auto.from_pretrained(fixturePath(checkpoint));
    const weight = (await model.named_parameters()).find(({ name }) => `transformer.${module}.weight`.endsWith(name));
    const [inputs = 0, outputs = 0] = weight?.dims ?? []; // of Conv1D; T5's are square
    const halves = { A: [1, inputs], B: [outputs, 1] };
    const tensors = Object.entries(halves).map(([half, dims]) => [
      `base_model.model.${module}.lora_${half}.weight`,
      new Tensor('float32', new Float32Array(inputs * outputs).subarray(0, Math.max(...dims)), dims),
    ]);
    expect(await model.load_adapter(altered({ r: 1, ...config }, Object.fromEntries(tensors)))).toBe('default');
  });

  it('finds the modules of ViT and DeiT by their names in transformers 5, and by those of before', async () => {
    const linear = [
      ['encoder.layer.1.attention.attention.query', 'layers.1.attention.q_proj'],
      ['encoder.layer.1.attention.attention.key', 'layers.1.attention.k_proj'],
      ['encoder.layer.0.attention.attention.value', 'layers.0.attention.v_proj'],
      ['encoder.layer.1.attention.output.dense', 'layers.1.attention.o_proj'],
      ['encoder.layer.0.intermediate.dense', 'layers.0.mlp.fc1'],
      ['encoder.layer.1.output.dense', 'layers.1.mlp.fc2'],
    ] as const;
    for (const type of ['vit', 'deit']) {
      const checkpoint = fixturePath(`models/${type}/even_image_classification`);
      await using model = await AutoModelForImageClassification.from_pretrained(checkpoint);
      const listed = await model.named_parameters();
      const dimsOf = (path: string) => listed.find(({ name }) => name === `${path}.weight`)?.dims as number[];
      const filesOf = (which: 0 | 1, target_modules: string[]) => {
        const tensors = linear.flatMap((pair, at) => {
          const [outputs = 0, inputs = 0] = dimsOf(`${type}.${pair[0]}`);
          const halves = Object.entries({ A: [1, inputs], B: [outputs, 1] });
          return halves.map(([half, dims]) => [
            `base_model.model.${type}.${pair[which]}.lora_${half}.weight`,
            new Tensor('float32', new Float32Array(Math.max(...dims)).fill(0.1 + 0.1 * at), dims),
          ]);
        });
        return altered({ r: 1, target_modules }, Object.fromEntries(tensors));
      };
      const [channels, size] = [3, Number(JSON.parse(readFileSync(`${checkpoint}/config.json`, 'utf8')).image_size)];
      const pixels = Float32Array.from({ length: channels * size * size }, (_, i) => Math.sin(i));
      const logits = async () =>
        (await model({ pixel_values: new Tensor('float32', pixels, [1, channels, size, size]) })).logits.data;
      const before = await logits();
      await model.load_adapter(
        filesOf(
          0,
          linear.map(([name]) => name),
        ),
        { adapter_name: 'before' },
      );
      const expected = await logits();
      expect(worst(expected, before)).toBeGreaterThan(0.1);
      await model.load_adapter(
        filesOf(
          1,
          linear.map(([, name]) => name),
        ),
        { adapter_name: 'now' },
      );
      expect(await logits()).toEqual(expected);
      const failure = await failureOf(() =>
        model.load_adapter(filesOf(1, ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'fc1', 'fc2']), {
          adapter_name: 'some',
        }),
      );
      expect(failure).toMatchObject({
        code: 'missing_tensor',
        message: expect.stringMatching(/_proj\.weight is one of/),
      });
    }
  });

  it('is written as PEFT’s folder, which gives the same bits', async () => {
    for (const one of cases.filter(({ name }) => /^(gpt2|gpt_neox|llama_patterns)$/.test(name))) {
      const model = await modelOf(one);
      await model.load_adapter(folderOf(one.name), { adapter_name: 'a' });
      const files = await model.save_adapter('a');
      expect(Object.keys(files).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
      const path = `${folderOf(one.name)}/adapter_model.safetensors`;
      expect(Buffer.from(files['adapter_model.safetensors'] as Uint8Array).equals(readFileSync(path))).toBe(true);
      const config = Buffer.from(files['adapter_config.json'] as Uint8Array).toString();
      expect(config).toBe(readFileSync(`${folderOf(one.name)}/adapter_config.json`, 'utf8'));
      const adapted = await logitsOf(model, inputsOf(one));
      await model.load_adapter(files, { adapter_name: 'b' });
      expect(await logitsOf(model, inputsOf(one))).toEqual(adapted);
      await model.dispose();
    }
  });
});

describe('load_adapter refuses', () => {
  it.each<[string, LoraConfig, string, RegExp]>([
    ['other methods', { peft_type: 'IA3' as 'LORA' }, 'unsupported', /peft_type "IA3"/],
    ['DoRA', { use_dora: true }, 'unsupported', /: use_dora true is not supported$/],
    ['trained biases', { bias: 'lora_only' }, 'unsupported', /bias "lora_only"/],
    ['modules_to_save', { modules_to_save: ['lm_head'] }, 'unsupported', /modules_to_save/],
    [
      'PiSSA',
      { init_lora_weights: 'pissa_niter_4' },
      'unsupported',
      /pissa_niter_4.*base weights.*merge it; it is not supported$/,
    ],
    ['what it does not know', { layer_replication: [[0, 1]] }, 'unsupported', /layer_replication/],
    ['a rank that is no number', { r: '4' as unknown as number }, 'malformed_config', /r is "4"/],
    [
      'a regular expression that is none',
      { target_modules: '(' },
      'unsupported',
      /: the regular expression "\(" \(the pattern .* is not supported$/,
    ],
    [
      'a lora_alpha that is no number',
      { lora_alpha: '4' as never },
      'malformed_config',
      /lora_alpha is "4", no number/,
    ],
    ['a rank that is none', { r: 0 }, 'malformed_config', /r is 0, no rank/],
    ['patterns that are none', { rank_pattern: [4] as never }, 'malformed_config', /rank_pattern is \[4\], no object/],
    ['layers that are none', { layers_to_transform: ['0'] as never }, 'malformed_config', /layers_to_transform/],
    [
      'more names than a model has modules',
      { target_modules: Array.from({ length: 5000 }, String) },
      'malformed_config',
      /5000 members/,
    ],
    ['a scale that is not finite', { lora_alpha: 1e300 }, 'invalid_argument', /is not finite/],
    ['another rank', { r: 8 }, 'shape_mismatch', /4 rows.*rank 8/],
    ['matrices that PEFT would ignore', { target_modules: ['q_proj'] }, 'shape_mismatch', /none of target_modules/],
    [
      'targets without matrices',
      { target_modules: ['q_proj', 'v_proj', 'down_proj', 'o_proj'] },
      'missing_tensor',
      /o_proj/,
    ],
  ])('%s', async (_, config, code, message) => {
    const model = await llama();
    const before = await logitsOf(model, { input_ids });
    const failure = await failureOf(() => model.load_adapter(altered(config)));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await model.active_adapters()).toEqual([]);
    expect(await logitsOf(model, { input_ids })).toEqual(before);
  });

  // Backtracking engines would not finish.
  it.each(['(a+)+$', '(.*a){30}', '(?:(?:[a-z.]?){9}){9}b', '([a-z_.0-9]+)*='])(
    'modules that %s does not match, in linear time',
    async (pattern) => {
      const model = await llama();
      const long = `base_model.model.${'a'.repeat(5000)}`;
      const one = new Tensor('float32', new Float32Array(4), [4, 1]);
      const tensors = { [`${long}.lora_A.weight`]: one, [`${long}.lora_B.weight`]: one };
      const start = performance.now();
      for (const files of [
        altered({ target_modules: pattern }),
        altered({ rank_pattern: { [pattern]: 3 } }, tensors),
      ]) {
        expect(await failureOf(() => model.load_adapter(files))).toBeInstanceOf(ClearformerError);
      }
      expect(performance.now() - start).toBeLessThan(2000);
    },
  );

  it('two pairs of matrices for one weight', async () => {
    const model = await llama();
    const own = tensorsOfLlama();
    const first = 'model.layers.0.self_attn.q_proj';
    const twice = { ...own };
    for (const half of ['lora_A', 'lora_B']) {
      twice[`layers.0.self_attn.q_proj.${half}.weight`] = own[`base_model.model.${first}.${half}.weight`] as Tensor;
    }
    const failure = await failureOf(() => model.load_adapter(altered({}, twice)));
    expect(failure).toMatchObject({
      code: 'shape_mismatch',
      message: expect.stringMatching(/both of model\.layers\.0/),
    });
  });

  it('tensors that are no pair of matrices of a linear layer of this model', async () => {
    const model = await llama();
    const own = tensorsOfLlama();
    const first = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';
    const ones = (rows: number, columns: number) =>
      new Tensor('float32', new Float32Array(rows * columns).fill(1), [rows, columns]);
    const { [first]: _, ...half } = own;
    const embedding = 'base_model.model.model.embed_tokens';
    const cases: [Record<string, Tensor>, string, RegExp][] = [
      [half, 'missing_tensor', /q_proj.lora_A.weight is missing/],
      [{ ...own, [`${embedding}.lora_embedding_A`]: ones(4, 3) }, 'unsupported', /adapters of embeddings/],
      [{ ...own, 'base_model.model.lm_head.weight': ones(4, 3) }, 'unsupported', /modules_to_save/],
      [{ ...own, [first]: ones(4, 3) }, 'shape_mismatch', /expected \(r, /],
      [{}, 'missing_tensor', /no tensors/],
    ];
    for (const [tensors, code, message] of cases) {
      const failure = await failureOf(() => model.load_adapter(altered({}, tensors)));
      expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    }
    const gpt2 = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'));
    const halfOf = (name: string, dims: [number, number]) => [`base_model.model.lm_head.${name}.weight`, ones(...dims)];
    const [, width = 0] = (await gpt2.parameter('W_U')).dims;
    const head = Object.fromEntries([halfOf('lora_A', [4, width]), halfOf('lora_B', [97, 4])]);
    expect(await failureOf(() => gpt2.load_adapter(altered({ target_modules: ['lm_head'] }, head)))).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/lm_head: .*tied to the embedding/),
    });
    const misfit = await failureOf(() => gpt2.load_adapter(folderOf('llama')));
    expect(misfit).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/no such module/),
    });
  });

  it('missing and broken files, and names that are taken or unknown', async () => {
    const model = await llama();
    const { 'adapter_config.json': config, 'adapter_model.safetensors': file } = altered({});
    const refused: [Record<string, Uint8Array>, string][] = [
      [{ 'adapter_model.safetensors': file as Uint8Array }, 'file_not_found'],
      [{ 'adapter_config.json': config as Uint8Array }, 'file_not_found'],
      [
        { 'adapter_config.json': config as Uint8Array, 'adapter_model.safetensors': new Uint8Array(99) },
        'malformed_file',
      ],
    ];
    for (const [files, code] of refused) {
      expect(await failureOf(() => model.load_adapter(files))).toMatchObject({ code });
    }
    await model.load_adapter(altered({}));
    const failures = [
      () => model.load_adapter(altered({})),
      () => model.load_adapter(altered({}), { adapter_name: '' }),
      () => model.set_adapter('other'),
      () => model.set_adapter(['default', 'default']),
      () => model.set_adapter('default', { scale: [1, 2] }),
      () => model.delete_adapter('other'),
      () => model.save_adapter('other'),
    ];
    for (const failing of failures) expect(await failureOf(failing)).toMatchObject({ code: 'invalid_argument' });
    expect(await model.active_adapters()).toEqual(['default']);
    await model.dispose();
    expect(await failureOf(() => model.set_adapter('default'))).toMatchObject({ code: 'disposed' });
    expect(await failureOf(() => model.load_adapter({}))).toMatchObject({ code: 'disposed' });
  });
});
