// Valid calls of functions and methods, of which one argument, or one member of one, is to be replaced by something else.

import * as clearformer from 'clearformer';
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  ControlVector,
  LensWeights,
  LinearProbe,
  type PipelineName,
  pipeline,
  RawImage,
  SGD,
  Tensor,
} from 'clearformer';
import * as chatTemplate from 'clearformer/chat_template';
import { filesOf, pipelineCase } from './pipeline_cases.js';
import { storiesPath } from './references.js';

// biome-ignore lint/suspicious/noExplicitAny: arguments of every kind, also of wrong ones
type Call = (...given: any[]) => unknown;
export type ValidCalls = Readonly<Record<string, readonly [call: Call, given: readonly unknown[]]>>;

const floats = (...dims: number[]) => {
  const size = dims.reduce((product, extent) => product * extent, 1);
  return new Tensor(
    'float32',
    Float32Array.from({ length: size }, (_, i) => (i % 7) / 7),
    dims,
  );
};
const messages = [{ role: 'user', content: 'x' }];
const chat_template = '{{ messages[0].content }}';

const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
const inputs = { input_ids: [[1, 403, 407]] };
const others = { input_ids: [[1, 403, 261]] };
const metric = clearformer.logitDifference(5, 6);
const term = clearformer.logitDifferenceTerm(5, 6);
const edit = { hook: 'blocks.0.attn.hook_z', op: 'zero', head: 1 };

/** Of a model, its analyses and its training. */
export async function callsOfModels(): Promise<ValidCalls> {
  const hook = 'blocks.0.hook_resid_post' as const;
  const texts = ['a', 'the', 'is', 'was'];
  const pairs = [
    { positive: 'good', negative: 'bad' },
    { positive: 'big', negative: 'small' },
  ];
  const [, cache] = await model.run_with_cache(inputs);
  const [, largest] = await model.run_with_cache(inputs, {
    names_filter: 'blocks.0.attn.hook_z',
    select: { top_k: 1, over: 'pos' },
  });
  const probe = await LinearProbe.fit(model, texts, [0, 1, 0, 1], { hook });
  const vector = await ControlVector.train(model, pairs);
  const means = await clearformer.meanActivations(model, [inputs], 'blocks.*.attn.hook_z');
  const optimizer = new SGD(model, { lr: 1e-12 });
  return {
    model: [model, [inputs, { output_attentions: true, logits_to_keep: 1 }]],
    run_with_cache: [
      (...given) => (model.run_with_cache as Call)(...given),
      [inputs, { names_filter: '*.hook_z', select: { top_k: 1, over: 'pos' }, edits: [edit], stop_at_layer: 2 }],
    ],
    run_with_hooks: [
      (...given) => (model.run_with_hooks as Call)(...given),
      [inputs, { fwd_hooks: [['blocks.0.attn.hook_z', (value: unknown) => value, { a: 1 }]], return_type: 'loss' }],
    ],
    backward: [
      (...given) => (model.backward as Call)(...given),
      [inputs, { metric: term, with_respect_to: { hooks: '*.hook_z', weights: ['blocks.0.attn.W_Q'] } }],
    ],
    generate: [
      (...given) => (model.generate as Call)(...given),
      [
        inputs,
        { max_new_tokens: 1, max_length: 4, stop_strings: ['a'], tokenizer, eos_token_id: [2], bad_words_ids: [[3]] },
      ],
    ],
    parameter: [(...given) => (model.parameter as Call)(...given), ['blocks.0.attn.W_Q', {}]],
    logitLens: [clearformer.logitLens, [model, inputs, {}]],
    detectHeads: [clearformer.detectHeads, [model, { batch: 1, length: 4, seed: 1, threshold: 0.5 }]],
    meanActivations: [clearformer.meanActivations, [model, [inputs], 'blocks.*.attn.hook_z', { by: 'feature' }]],
    'means.edits': [means.edits as Call, [{ hook: 'blocks.0.attn.hook_z', head: 1 }]],
    sweep: [clearformer.sweep, [model, { base: inputs, metric, interventions: [edit], resume: [1], edits: [] }]],
    pathPatching: [
      clearformer.pathPatching,
      [model, { base: inputs, source: others, metric, receivers: [{ part: 'q', layer: 1, head: 0 }], mlps: 'frozen' }],
    ],
    causalTracing: [
      clearformer.causalTracing,
      [model, { inputs, subject: [1], noise: 0.1, metric, samples: 1, seed: 1, window: 1 }],
    ],
    attributionPatching: [
      clearformer.attributionPatching,
      [model, { clean: inputs, corrupted: others, metric: term, by: 'head' }],
    ],
    decompose_resid: [clearformer.decompose_resid, [model, cache, {}]],
    to_tokens: [clearformer.to_tokens, [model, 'a', { prepend_bos: true }]],
    to_str_tokens: [clearformer.to_str_tokens, [model, 'a', { prepend_bos: true }]],
    'to_str_tokens of ids': [clearformer.to_str_tokens, [model, [1, 2]]],
    capturedIndices: [clearformer.capturedIndices, [largest, 'blocks.0.attn.hook_z']],
    logitDifference: [clearformer.logitDifference, [5, 6, -1]],
    LensWeights: [(...given) => new LensWeights(...(given as [never])).W_E(), [model, { fold_ln: true }]],
    'LinearProbe.fit': [
      (...given) => (LinearProbe.fit as Call)(...given),
      [model, texts, [0, 1, 0, 1], { hook, pos: -1, kind: 'logistic', C: 1 }],
    ],
    'probe.predict': [(...given) => (probe.predict as Call)(...given), [model, ['a']]],
    'probe.evaluate': [(...given) => (probe.evaluate as Call)(...given), [model, ['a'], [0]]],
    'probe.edits': [(...given) => (probe.edits as Call)(...given), [{ op: 'add', strength: 1, pos: -1 }]],
    'ControlVector.train': [
      (...given) => (ControlVector.train as Call)(...given),
      [model, pairs, { method: 'mean_diff', hidden_layers: [1] }],
    ],
    'vector.edits': [(...given) => (vector.edits as Call)(...given), [model, { strength: 1, pos: [1] }]],
    'optimizer.backward': [
      (...given) => (optimizer.backward as Call)(...given),
      [{ ...inputs, labels: inputs.input_ids }, { label_smoothing: 0.1 }],
    ],
  };
}

/** Of tokenizers, chat templates, streamers and criteria. */
export function callsOfTexts(): ValidCalls {
  return {
    tokenizer: [tokenizer, ['a b', { text_pair: 'c', padding: false, truncation: true, max_length: 5, stride: 0 }]],
    'tokenizer.encode': [(...given) => (tokenizer.encode as Call)(...given), ['a', { text_pair: 'b' }]],
    'tokenizer.decode': [(...given) => (tokenizer.decode as Call)(...given), [[1, 2], { skip_special_tokens: true }]],
    'tokenizer.apply_chat_template': [
      (...given) => (tokenizer.apply_chat_template as Call)(...given),
      [messages, { chat_template, tools: [{}], chat_template_kwargs: { a: 1 }, return_dict: false }],
    ],
    apply_chat_template: [
      chatTemplate.apply_chat_template,
      [tokenizer, messages, { chat_template, tokenizer_kwargs: { padding: true } }],
    ],
    TextStreamer: [
      (...given) => new clearformer.TextStreamer(...(given as [never])).put([[1n, 2n]]),
      [tokenizer, { skip_prompt: true, callback_function: () => {}, token_callback_function: () => {} }],
    ],
    WhisperTextStreamer: [
      (...given) => new clearformer.WhisperTextStreamer(...(given as [never])).put([[1n, 2n]]),
      [tokenizer, { skip_prompt: true, on_chunk_start: () => {}, on_finalize: () => {} }],
    ],
    MaxLengthCriteria: [(...given) => new clearformer.MaxLengthCriteria(...(given as [never])), [3]],
    EosTokenCriteria: [(...given) => new clearformer.EosTokenCriteria(...(given as [never])), [[3]]],
  };
}

/** Of tensors, images, sound, sources and settings. */
export function callsOfValues(): ValidCalls {
  const image = () => new RawImage(new Uint8Array(48), 4, 4, 3);
  return {
    softmax: [clearformer.softmax, [floats(2), -1]],
    layer_norm: [clearformer.layer_norm, [floats(2), [2], { eps: 1e-5 }]],
    matmul: [clearformer.matmul, [floats(2, 2), floats(2, 2)]],
    interpolate: [clearformer.interpolate, [floats(1, 2, 2), [3, 3], 'bilinear']],
    interpolate_4d: [clearformer.interpolate_4d, [floats(1, 1, 2, 2), { size: [1, 1, 3, 3], mode: 'bilinear' }]],
    mean_pooling: [clearformer.mean_pooling, [floats(1, 2, 3), clearformer.ones([1, 2])]],
    topk: [clearformer.topk, [floats(2, 3), 1]],
    cat: [clearformer.cat, [[floats(1), floats(1)], 0]],
    FactoredMatrix: [
      (...given) => new clearformer.FactoredMatrix(...(given as [never, never])).norm(),
      [floats(2, 2), floats(2, 2)],
    ],
    toSafetensors: [clearformer.toSafetensors, [{ a: floats(2) }, { b: 'c' }]],
    'image.resize': [(...given) => (image().resize as Call)(...given), [2, 2, { resample: 2 }]],
    'image.crop': [(...given) => (image().crop as Call)(...given), [[0, 0, 1, 1]]],
    'image.toBlob': [(...given) => (image().toBlob as Call)(...given), ['image/png', 1]],
    read_audio: [clearformer.read_audio, [new Float32Array(4), 16000, {}]],
    resample_audio: [clearformer.resample_audio, [new Float32Array(8), 16000, 8000]],
    listCache: [clearformer.listCache, [{ cache_dir: '/none' }]],
    clearCache: [clearformer.clearCache, [{ cache_dir: '/none', source: 'a/b' }]],
    configure: [
      async (...given) => {
        (clearformer.configure as Call)(...given);
        await clearformer.AutoConfig.from_pretrained('http://127.0.0.1:59999/x', { cache: 'none' }).finally(() =>
          clearformer.configure({ fetch: undefined, retries: undefined, onWarning: undefined }),
        );
      },
      [{ fetch: async () => Response.json({}), retries: 0, onWarning: () => {} }],
    ],
  };
}

/** Of the pipelines. */
export async function callsOfPipelines(): Promise<ValidCalls> {
  const made = async (task: PipelineName, name: string) =>
    (await pipeline(task, filesOf(pipelineCase(name)))) as unknown as Call;
  const picture = { data: new Uint8Array(300), width: 10, height: 10, channels: 3 };
  return {
    'text-generation': [await made('text-generation', 'texts'), ['a', { max_new_tokens: 1, return_full_text: true }]],
    'text-classification': [
      await made('text-classification', 'classes'),
      [[{ text: 'a', text_pair: 'b' }], { top_k: 2, function_to_apply: 'softmax', batch_size: 1 }],
    ],
    'zero-shot-classification': [
      await made('zero-shot-classification', 'zero_shot_last'),
      ['a', ['b', 'c'], { hypothesis_template: '{}', multi_label: true }],
    ],
    'question-answering': [
      await made('question-answering', 'answers'),
      ['who', 'in rome', { top_k: 1, max_answer_len: 3, doc_stride: 2, max_seq_len: 20 }],
    ],
    'token-classification': [
      await made('token-classification', 'entities'),
      ['a b', { aggregation_strategy: 'simple', ignore_labels: ['O'], stride: 2 }],
    ],
    'fill-mask': [await made('fill-mask', 'masks'), ['the [MASK] man', { top_k: 2 }]],
    'text-ranking': [await made('text-ranking', 'ranking'), ['a', ['b'], { top_k: 1, return_documents: true }]],
    'feature-extraction': [
      await made('feature-extraction', 'features'),
      [['a'], { pooling: 'mean', normalize: true, prompt: 'x', quantize: false }],
    ],
    'image-classification': [await made('image-classification', 'image_classes'), [picture, { top_k: 1 }]],
    translation: [await made('translation', 'translation'), ['a', { max_new_tokens: 1, truncation: true }]],
    'automatic-speech-recognition': [
      await made('automatic-speech-recognition', 'speech'),
      [
        new Float32Array(1600),
        { max_new_tokens: 1, chunk_length_s: 1, stride_length_s: [0.1, 0.1], return_timestamps: false },
      ],
    ],
  };
}
