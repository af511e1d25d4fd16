// Every architecture through the package against transformers: outputs, hidden states, attention maps, on both builds.

import { readFileSync } from 'node:fs';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  type ModelInputs,
  type ModelOutput,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { type Case, casesOf, expectClose, fixturePath, type Reference, readReferences } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const architectures = [
  ...['bert', 'roberta', 'distilbert', 'modernbert'],
  ...[
    'xlm_roberta',
    'camembert',
    'data2vec_text',
    'electra',
    'albert',
    'mpnet',
    'deberta_v2',
    'esm',
    'nomic_bert',
    'eurobert',
  ],
  ...['gpt2', 'gpt_neo', 'mistral', 'qwen2', 'qwen3', 'phi', 'phi3', 'gemma', 'gemma2', 'gemma3_text'],
  ...['olmo', 'olmo2', 'olmo3', 'smollm3', 'granite', 'starcoder2', 'opt', 'openai_gpt'],
  ...['gpt_neox', 'gptj', 'codegen', 'bloom', 'falcon', 'mpt', 'stablelm', 'cohere', 'cohere2', 'lfm2'],
  ...[
    'nn_transformer',
    'marian',
    'bart',
    'mbart',
    'm2m_100',
    'pegasus',
    'blenderbot',
    'blenderbot_small',
    't5',
    'mt5',
    'whisper',
  ],
  ...['ernie4_5', 'helium', 'glm', 'glm4', 'exaone4', 'arcee', 'vaultgemma', 'gpt_bigcode', 'decoder_classifiers'],
  ...['nemotron', 'xglm', 'biogpt'],
  ...['hunyuan_v1_dense', 'nanochat', 'modernbert_decoder', 'granitemoehybrid'],
  ...['granitemoe', 'olmoe', 'qwen3_moe', 'mixtral', 'qwen3_5_text'],
  ...[
    'vit',
    'deit',
    'dinov2',
    'dinov2_with_registers',
    'dinov3_vit',
    'clip',
    'siglip',
    'wav2vec2',
    'hubert',
    'audio_spectrogram_transformer',
  ],
];
/** A member of an output by its path, `text_model_output.hidden_states.1`. */
function memberOf(output: ModelOutput, path: string): Tensor {
  const found = path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], output);
  expect(found, path).toBeDefined();
  return found as Tensor;
}

/** The elements to compare: those of unmasked positions, including rows of attention maps. */
function comparedWhere(path: string, wanted: Reference, mask: Reference | undefined) {
  const axis = path.includes('attentions.') ? 2 : 1;
  if (mask === undefined || wanted.dims[axis] !== mask.dims[1]) return undefined;
  const inner = wanted.dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const length = wanted.dims[axis] as number;
  const heads = axis === 2 ? (wanted.dims[1] as number) : 1;
  return (index: number) => {
    const position = Math.floor(index / inner);
    const row = Math.floor(position / length / heads);
    return mask.data[row * length + (position % length)] !== 0n;
  };
}

function maskFor(one: Case, path: string): string | undefined {
  if (!one.name.includes('padding')) return undefined;
  const target = /^(decoder_|cross_)/.test(path) || (one.inputs.decoder_input_ids !== undefined && path === 'logits');
  return target ? one.inputs.decoder_attention_mask : one.inputs.attention_mask;
}

describe.each(variants)('%s equals transformers', (variant) => {
  it.each(architectures)('%s', async (architecture) => {
    const folder = `models/${architecture}`;
    const models = new Map<string, PreTrainedModel>();
    for (const one of casesOf(folder).filter(({ op }) => op === 'model_forward')) {
      const { checkpoint, task } = one.options as { checkpoint: string; task: string };
      let model = models.get(checkpoint);
      if (model === undefined) {
        model = await classOf(task, architecture).from_pretrained(
          fixturePath(`${folder}/${checkpoint}`),
          optionsFor(variant),
        );
        models.set(checkpoint, model);
      }
      const tensors = readReferences(fixturePath(`${folder}/${one.file}`));
      const inputs = Object.fromEntries(Object.entries(one.inputs).map(([name, key]) => [name, tensors.get(key)]));
      const out = await model(inputs as ModelInputs, { output_attentions: true, output_hidden_states: true });
      for (const [path, key] of Object.entries(one.outputs)) {
        const wanted = tensors.get(key) as Reference;
        const where = comparedWhere(path, wanted, tensors.get(maskFor(one, path) ?? ''));
        expectClose(`${one.name} ${path}`, memberOf(out, path), wanted, where);
      }
    }
    for (const model of models.values()) await model.dispose();
  });
});

describe('what a model does not have', () => {
  const bert = fixturePath('models/bert/even_base');

  it('is refused by name: a head, an input, an architecture', async () => {
    expect(await failureOf(() => AutoModelForCausalLM.from_pretrained(bert))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('causal-lm'),
    });
    expect(await failureOf(() => AutoModelForMaskedLM.from_pretrained(bert))).toMatchObject({
      code: 'missing_tensor',
      message: expect.stringContaining('cls.predictions'),
    });
    const model = await AutoModel.from_pretrained(fixturePath('models/distilbert/even_base'));
    expect(await failureOf(() => model({ input_ids: [[1]], decoder_input_ids: [[0]] }))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('decoder_input_ids'),
    });
    expect(await failureOf(() => model({ input_ids: [[1]], token_type_ids: [[0, 0]] }))).toMatchObject({
      code: 'shape_mismatch',
      message: expect.stringContaining('token_type_ids'),
    });
    expect(await failureOf(() => model({ pixel_values: [[[[1]]]] }))).toMatchObject({
      message: expect.stringContaining('input_ids'),
    });
    expect(await failureOf(() => model({ input_ids: [[1]] }, { use_cache: true }))).toMatchObject({
      code: 'unsupported',
    });
    await model.dispose();
    const config = new TextEncoder().encode('{"model_type": "mamba"}');
    expect(await failureOf(() => AutoModel.from_pretrained({ 'config.json': config }))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('mamba'),
    });
  });

  it('weights in another form are named', async () => {
    const config = new Uint8Array(readFileSync(`${bert}/config.json`));
    const files = { 'config.json': config, 'pytorch_model.bin': new Uint8Array(8) };
    expect(await failureOf(() => AutoModel.from_pretrained(files))).toMatchObject({
      code: 'unsupported',
      details: { file: 'pytorch_model.bin' },
    });
  });
});

describe('inside every kind of model', () => {
  it.each([
    ['bert/odd_sequence_classification', AutoModelForSequenceClassification],
    ['vit/odd_image_classification', AutoModelForImageClassification],
  ] as const)(
    'what a classifier reads has a hook, and its gradient is a row of the weights: %s',
    async (folder, kind) => {
      await using model = await kind.from_pretrained(fixturePath(`models/${folder}`));
      const { image_size = 0, num_channels = 0 } = model.config as { image_size?: number; num_channels?: number };
      const dims = [1, num_channels, image_size, image_size];
      const pixel_values = { data: new Float32Array(num_channels * image_size ** 2).fill(0.5), dims };
      const inputs = image_size > 0 ? { pixel_values } : { input_ids: [[3, 9, 4]] };
      const hooks = 'classifier.hook_pooler_out';
      const metric = { logits: [{ token: 1 }] };
      const { grad } = await model.backward(inputs, { metric, with_respect_to: { hooks } });
      expect(grad[hooks]?.data).toEqual((await model.parameter('classifier.weight', { at: [1] })).data);
      const zero = await model.run_with_hooks(inputs, { edits: [{ hook: hooks, op: 'zero' }] });
      expect(zero.data).toEqual((await model.parameter('classifier.bias')).data);
    },
  );

  it('hooks, cfg and run_with_cache speak of both towers', async () => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/odd'));
    expect(model.cfg).toMatchObject({
      kind: 'encoder-decoder',
      task: 'seq2seq-lm',
      n_layers: 2,
      encoder: { n_layers: 2 },
    });
    const names = model.hooks().map(({ name }) => name);
    expect(names).toContain('encoder.0.attn.hook_pattern');
    expect(names).toContain('decoder.1.cross_attn.hook_pattern');
    const inputs = { input_ids: [[5, 6, 7]], decoder_input_ids: [[2, 8]] };
    const [, cache] = await model.run_with_cache(inputs, { names_filter: '*cross_attn.hook_pattern' });
    expect(Object.keys(cache)).toEqual(['decoder.0.cross_attn.hook_pattern', 'decoder.1.cross_attn.hook_pattern']);
    expect(cache['decoder.0.cross_attn.hook_pattern']?.dims).toEqual([1, 3, 2, 3]);
    await model.dispose();
  });

  it('a cache keeps the source for the next tokens', async () => {
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/t5/even'), { deterministic: true });
    const whole = await model({ input_ids: [[5, 6, 7]], decoder_input_ids: [[0, 8, 9]] });
    const first = await model({ input_ids: [[5, 6, 7]], decoder_input_ids: [[0, 8]] }, { use_cache: true });
    const past_key_values = first.past_key_values;
    const next = await model({ decoder_input_ids: [[9]], past_key_values });
    expect(next.logits.data).toEqual(whole.logits.data.slice(2 * model.cfg.d_vocab));
    await past_key_values?.dispose();
    await model.dispose();
  });
});
