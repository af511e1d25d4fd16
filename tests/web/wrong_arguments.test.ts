// Arguments that no function takes, as JavaScript without types passes them: the package takes them or throws its own
// error, which tells what is needed. Every function, constructor and method, with arguments of which all may be wrong;
// and valid calls, with one wrong argument or member of one, which the checks of those before it do not hide.

import * as clearformer from 'clearformer';
import {
  AdamW,
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoTokenizer,
  ClearformerError,
  FactoredMatrix,
  LensWeights,
  type PipelineName,
  pipeline,
  RawImage,
  Tensor,
} from 'clearformer';
import * as chatTemplate from 'clearformer/chat_template';
import * as tokenizerPart from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { Draw } from './corpus/folders.js';
import { filesOf, pipelineCase } from './support/pipeline_cases.js';
import { storiesPath } from './support/references.js';
import {
  callsOfModels,
  callsOfPipelines,
  callsOfTexts,
  callsOfValues,
  type ValidCalls,
} from './support/valid_calls.js';

const models = 'web/demo/public/models';
const float = (values: number[], ...dims: number[]) => new Tensor('float32', Float32Array.from(values), dims);
const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);

type Call = (...given: unknown[]) => unknown;
type Calls = (readonly [name: string, call: Call])[];

/** No texts: they would be ids of the Hub, which are looked for. */
const junk: readonly unknown[] = [
  undefined,
  null,
  3,
  -1,
  Number.NaN,
  '',
  true,
  10n,
  {},
  [],
  [[]],
  [null],
  [Number.NaN],
  { input_ids: null },
  { input_ids: [[1, 2]] },
  { dtype: 'x' },
  () => 1,
  float([1, 2], 2),
  float([], 0),
  new Float32Array(2),
  new Date(0),
  new Map(),
  new Blob([]),
  new AbortController().signal,
  tokenizer,
];

const isClass = (value: Call) => /^class\b/.test(Function.prototype.toString.call(value));
const tasks = {
  'text-generation': 'stories260K',
  'image-classification': 'vit-mnist',
  'image-feature-extraction': 'vit-mnist',
  'fill-mask': 'bert-tiny-fill',
  'feature-extraction': 'bert-tiny-fill',
  'sentence-similarity': 'bert-tiny-fill',
  translation: 'marian-tiny-en-fr',
};

/** The caller's own fetch. */
const own = /^env\.fetch$/;

function exportsOf(name: string, part: object): Calls {
  return Object.entries(part).flatMap(([key, value]): Calls => {
    const at = `${name}${key}`;
    if (typeof value === 'object' && value !== null && !(value instanceof Tensor)) return exportsOf(`${at}.`, value);
    if (typeof value !== 'function') return [];
    if (!isClass(value)) return [[at, value as Call], ...exportsOf(`${at}.`, value)];
    const fixed = Object.getOwnPropertyNames(value).filter((one) => typeof value[one] === 'function');
    const made: Call = (...given) => new value(...given);
    return [
      [`new ${at}`, made],
      ...fixed.map((one) => [`${at}.${one}`, (...given: unknown[]) => value[one](...given)] as const),
    ];
  });
}

/** The public methods of an object, and itself if it is called. */
function methodsOf(name: string, object: object): Calls {
  const calls: Calls = typeof object === 'function' ? [[`${name}()`, object as Call]] : [];
  const isOurs = (prototype: object) => prototype && ![Object.prototype, Function.prototype].includes(prototype);
  for (let prototype = Object.getPrototypeOf(object); isOurs(prototype); prototype = Object.getPrototypeOf(prototype)) {
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (key in Object.prototype || key === 'dispose' || typeof value !== 'function') continue;
      calls.push([`${name}.${key}`, (...given) => (object as Record<string, Call>)[key]?.(...given)]);
    }
  }
  return calls;
}

/** What a call ends in, a stream after its first step. */
async function ended(call: Call, given: readonly unknown[]): Promise<unknown> {
  try {
    const result = (await call(...given)) as Partial<AsyncGenerator & { dispose: () => unknown }> | undefined;
    if (typeof result?.next === 'function' && typeof result.return === 'function') {
      await result.next();
      await result.return(undefined);
    }
    if (result !== model) await result?.dispose?.();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

/** An error of the package that writes values as what they are. */
const isTyped = (thrown: unknown) => thrown instanceof ClearformerError && !thrown.message.includes('[object ');

async function expectTyped(calls: Calls, rounds: number): Promise<void> {
  const draw = new Draw(1);
  const others: string[] = [];
  for (const [name, call] of calls) {
    for (let round = 0; round < rounds; round++) {
      const given = Array.from({ length: Math.min(round, 1 + draw.below(3)) }, () => junk[draw.below(junk.length)]);
      const thrown = await ended(call, given);
      if (thrown === undefined || isTyped(thrown)) continue;
      others.push(`${name}(${given.map((one) => Object.prototype.toString.call(one)).join(', ')}): ${thrown}`);
    }
  }
  expect([...new Set(others)]).toEqual([]);
}

it('functions, constructors and static methods', async () => {
  const calls = [clearformer, { chat_template: chatTemplate }, { tokenizer: tokenizerPart }]
    .flatMap((part) => exportsOf('', part))
    .filter(([name]) => !own.test(name));
  expect(calls.length).toBeGreaterThan(400);
  await expectTyped(calls, 30);
}, 120_000);

it('methods, and objects that are called', async () => {
  const [, cache] = await model.run_with_cache({ input_ids: [[1, 2, 3]] });
  const calls = [
    ...methodsOf('model', model),
    ...methodsOf('tokenizer', tokenizer),
    ...methodsOf('tensor', float([1, 2, 3, 4], 2, 2)),
    ...methodsOf('cache', cache),
    ...methodsOf('weights', new LensWeights(model)),
    ...methodsOf('optimizer', new AdamW(model)),
    ...methodsOf('image', new RawImage(new Uint8Array(48), 4, 4, 3)),
    ...methodsOf('factored', new FactoredMatrix(float([1, 2], 1, 2), float([1, 2], 2, 1))),
    ...methodsOf('processor', await AutoImageProcessor.from_pretrained(`./${models}/vit-mnist`)),
    ...(await Promise.all(
      Object.entries(tasks).map(async ([task, name]): Promise<Calls[number]> => {
        const pipe = await pipeline(task as PipelineName, `./${models}/${name}`);
        return [task, (...given) => (pipe as unknown as Call)(...given)];
      }),
    )),
  ];
  expect(calls.length).toBeGreaterThan(110);
  await expectTyped(calls, 60);
}, 120_000);

const wrong: readonly unknown[] = [undefined, null, 3, -1.5, 'x', '', {}, [], [null], [undefined], true, () => 1];

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** A value, with each wrong one in place of it or of one of its members. */
function* changes(value: unknown, at: string): Generator<readonly [place: string, value: unknown]> {
  for (const other of wrong) yield [at, other];
  if (Array.isArray(value)) {
    for (const [i, member] of value.entries())
      for (const [place, other] of changes(member, `${at}[${i}]`)) yield [place, value.with(i, other)];
  } else if (isPlain(value) && Object.keys(value).length < 12) {
    // A cache has more members.
    for (const [key, member] of Object.entries(value))
      for (const [place, other] of changes(member, `${at}.${key}`)) yield [place, { ...value, [key]: other }];
  }
}

it.each<[string, () => ValidCalls | Promise<ValidCalls>]>([
  ['models', callsOfModels],
  ['texts', callsOfTexts],
  ['values', callsOfValues],
  ['pipelines', callsOfPipelines],
])(
  'valid calls of %s, with one wrong argument or member of one',
  async (_, made) => {
    const others: string[] = [];
    for (const [name, [call, given]] of Object.entries(await made())) {
      expect([name, await ended(call as Call, given)]).toEqual([name, undefined]);
      for (const [index, argument] of given.entries()) {
        for (const [place, other] of changes(argument, `argument ${index}`)) {
          const thrown = await ended(call as Call, given.with(index, other));
          if (thrown !== undefined && !isTyped(thrown)) others.push(`${name}, ${place}: ${thrown}`);
        }
      }
    }
    expect([...new Set(others)]).toEqual([]);
  },
  120_000,
);

const one = { input_ids: [[1, 403]] };
const metric = { labels: one.input_ids };

it('arguments behind others, and options of analyses', async () => {
  const linear = await new clearformer.nn.Linear(2, 1).load_state_dict({ weight: [[1, 2]], bias: [0] });
  const two = float([1, 2], 1, 2);
  const data = new Float32Array(2);
  await expectTyped(
    [
      ['new Tensor', (...given) => new Tensor('float32', data, ...(given as [number[]]))],
      ['slice', (given) => two.slice(given as number)],
      ['slice of two', (...given) => two.slice(given as never)],
      ['backward', (...given) => linear.backward([two], ...(given as [never]))],
      ['forward', (...given) => linear.forward(two, ...(given as [never]))],
      ['at', (at) => clearformer.integratedGradients(model, one, { metric, steps: 1, at: at as never })],
      [
        'at, patterns',
        (leaf) => clearformer.integratedGradients(model, one, { metric, at: `blocks.*.${typeof leaf}` as never }),
      ],
      ['hook of saliency', (hook) => clearformer.tokenSaliency(model, one, { metric, hook: hook as never })],
      ['hook of probes', (hook) => clearformer.LinearProbe.fit(model, [one, one], [0, 1], { hook: hook as never })],
      ['hook of heads', (hook) => clearformer.detectHeads(model, { inputs: one, hook: hook as never })],
    ],
    60,
  );
  for (const hook of ['blocks.*.hook_resid_pre', 'hook_*'] as never[]) {
    const calls: Calls = [
      ['at', () => clearformer.integratedGradients(model, one, { metric, at: hook })],
      ['saliency', () => clearformer.tokenSaliency(model, one, { metric, hook })],
    ];
    for (const [name, call] of calls) {
      expect([name, await ended(call, [])]).toEqual([name, expect.objectContaining({ code: 'invalid_argument' })]);
    }
  }
}, 60_000);
const embedding = `./${models}/bert-tiny-fill`;
const flagged: Readonly<Record<string, { call: (options: object) => unknown; flags: string[]; others?: string[] }>> = {
  model: {
    call: (options) => model(one, options),
    flags: ['output_attentions', 'output_hidden_states', 'use_cache'],
    others: ['signal'],
  },
  'model.generate': {
    call: (options) => model.generate(one, { max_new_tokens: 1, ...options }),
    flags: ['use_cache', 'output_scores', 'output_logits', 'return_dict_in_generate'],
    others: ['signal', 'tokenizer', 'streamer', 'edits', 'fwd_hooks', 'stopping_criteria'],
  },
  'model.run_with_cache': {
    call: (options) => model.run_with_cache(one, options),
    flags: [],
    others: ['signal', 'edits', 'fwd_hooks', 'bwd_hooks', 'select'],
  },
  tokenizer: {
    call: (options) => tokenizer('Once', options),
    flags: [
      ...['overflowing_tokens', 'token_type_ids', 'attention_mask', 'special_tokens_mask', 'offsets_mapping'].map(
        (name) => `return_${name}`,
      ),
      ...['return_length', 'return_tensor', 'add_special_tokens'],
    ],
    others: ['padding', 'truncation', 'max_length', 'stride'],
  },
  'tokenizer.decode': {
    call: (options) => tokenizer.decode([1], options),
    flags: ['skip_special_tokens', 'clean_up_tokenization_spaces'],
  },
  from_pretrained: {
    call: (options) => AutoModelForCausalLM.from_pretrained(storiesPath, options),
    flags: ['local_files_only', 'deterministic', 'worker'],
    others: ['signal', 'progress_callback', 'integrity', 'cache', 'dtype', 'numThreads', 'wasmBinary'],
  },
  inspect: {
    call: (options) => clearformer.inspect(storiesPath, options),
    flags: ['local_files_only'],
    others: ['signal', 'cache'],
  },
  'text-generation': {
    call: async (options) =>
      (await pipeline('text-generation', storiesPath))('Once', { max_new_tokens: 1, ...options }),
    flags: ['return_full_text', 'add_special_tokens'],
    others: ['signal', 'batch_size', 'streamer'],
  },
  'feature-extraction': {
    call: async (options) => (await pipeline('feature-extraction', embedding))('big', options),
    flags: ['normalize', 'quantize'],
    others: ['signal', 'batch_size', 'pooling'],
  },
};

describe.each(Object.entries(flagged))('options of %s', (_, { call, flags, others = [] }) => {
  it.each(flags)('%s is true or false', async (option) => {
    for (const value of ['false', 0, 1, {}, []]) {
      const thrown = (await ended(() => call({ [option]: value }), [])) as ClearformerError;
      expect([value, thrown?.code, thrown?.details?.option]).toEqual([value, 'invalid_argument', option]);
    }
    for (const value of [null, undefined]) expect(await ended(() => call({ [option]: value }), [])).toBe(undefined);
  });

  it.each(others)('%s is of its kind', async (option) => {
    for (const value of ['x', -1, Number.NaN, { none: 1 }, { aborted: false, addEventListener() {} }]) {
      const thrown = (await ended(() => call({ [option]: value }), [])) as ClearformerError;
      expect([value, thrown?.constructor]).toEqual([value, ClearformerError]);
      expect(['invalid_argument', 'unsupported']).toContain(thrown.code);
    }
  });
});

it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s is no name of anything', async (name) => {
  const calls: Calls = [
    ['type', () => new Tensor(name as 'float32', new Float32Array(1), [1])],
    ['to', () => float([1], 1).to(name as 'int32')],
    ['task', () => pipeline(name as PipelineName, storiesPath)],
    ['dtype', () => AutoModelForCausalLM.from_pretrained(storiesPath, { dtype: name as 'q8' })],
    ['by', () => clearformer.attributionPatching(model, { clean: one, corrupted: one, metric, by: name as 'head' })],
    ['pooling', async () => (await pipeline('feature-extraction', embedding))('big', { pooling: name as 'mean' })],
    ['parameter', () => model.parameter(name)],
    ['hook', () => model.run_with_hooks(one, { edits: [{ hook: name as 'hook_embed', op: 'zero' }] })],
  ];
  for (const [what, call] of calls) {
    const thrown = await ended(call, []);
    expect([what, thrown instanceof ClearformerError]).toEqual([what, true]);
  }
});

describe('what would give a wrong result is refused', () => {
  const ids = (dims: number[], ...values: number[]) => new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  const probe = new clearformer.LinearProbe({ hook: 'blocks.0.hook_resid_post' }, float(new Array(64).fill(1), 64));
  it.each<[string, Call, string]>([
    ['to_str_tokens of an object', () => clearformer.to_str_tokens(model, {} as never), 'token ids'],
    ['to_str_tokens of floats', () => clearformer.to_str_tokens(model, float([1, 2], 2)), 'float32'],
    ['to_str_tokens of rows', () => clearformer.to_str_tokens(model, ids([2, 1], 1, 2)), '[2, 1]'],
    ['resample_audio of a text', () => clearformer.resample_audio('abcd' as never, 16000, 8000), 'Float32Array'],
    ['resample_audio of an object', () => clearformer.resample_audio({} as never, 16000, 8000), 'Float32Array'],
    ['probe.edits', () => probe.edits({ op: 'projekt_out' as never }), "'projekt_out' (known: add, project_out)"],
    ['probe.edits: strength', () => probe.edits({ strength: '2' as never }), 'strength is 2'],
    ['MaxLengthCriteria', () => new clearformer.MaxLengthCriteria('x' as never), 'needs a number, got x'],
    ['EosTokenCriteria', () => new clearformer.EosTokenCriteria({} as never), 'needs token ids'],
    ['clearCache', () => clearformer.clearCache({ source: 3 as never }), 'source is 3'],
    ['listCache', () => clearformer.listCache({ cache_dir: '' }), 'cache_dir'],
    ['FactoredMatrix', () => new FactoredMatrix(ids([1, 1], 2) as never, ids([1, 1], 2) as never), 'int64'],
    ['apply_chat_template', () => tokenizer.apply_chat_template([], { return_dict: 'no' as never }), "is 'no'"],
    ['configure: onWarning', () => clearformer.configure({ onWarning: 3 as never }), 'onWarning is 3, not a function'],
  ])('%s', async (_, call, words) => {
    const thrown = (await ended(call, [])) as Error;
    expect(thrown).toBeInstanceOf(ClearformerError);
    expect(thrown.message).toContain(words);
  });

  it('ids of a row have their texts', async () => {
    const wanted = await clearformer.to_str_tokens(model, [1, 403]);
    expect(await clearformer.to_str_tokens(model, ids([1, 2], 1, 403))).toEqual(wanted);
    expect(await clearformer.to_str_tokens(model, ids([2], 1, 403))).toEqual(wanted);
  });

  it('a fetch that gives no Response is named', async () => {
    clearformer.configure({ fetch: (async () => ({})) as never });
    for (const read of [
      () => AutoTokenizer.from_pretrained('http://127.0.0.1/x', { cache: 'none' }),
      () => RawImage.read('http://127.0.0.1/x.png'),
    ]) {
      const { code, message } = (await ended(read, [])) as ClearformerError;
      expect([code, message]).toEqual(['invalid_argument', expect.stringContaining('fetch must give a Response')]);
    }
    clearformer.configure({ fetch: undefined });
  });

  it('null is as not given', async () => {
    const entities = await pipeline('token-classification', filesOf(pipelineCase('entities')));
    const speech = await pipeline('automatic-speech-recognition', filesOf(pipelineCase('speech')));
    const [text, sound] = ['the man is in rome', new Float32Array(1600)];
    expect(await entities(text, { ignore_labels: null as never })).toEqual(await entities(text));
    const wrong = await ended(() => entities(text, { ignore_labels: 'O' as never }), []);
    expect(String(wrong)).toContain('token-classification: ignore_labels: needs an array of labels, got O');
    const chunked = { max_new_tokens: 2, chunk_length_s: 1 };
    const nulls = { stride_length_s: null as never };
    expect(await speech(sound, { ...chunked, ...nulls })).toEqual(await speech(sound, chunked));
    expect(await speech(sound, { max_new_tokens: 2, chunk_length_s: null as never, ...nulls })).toEqual(
      await speech(sound, { max_new_tokens: 2 }),
    );
    for (const stride_length_s of [['', null], [0.1], [0.1, 0.1, 0.1], '0.1', true]) {
      const failure = await ended(() => speech(sound, { ...chunked, stride_length_s } as never), []);
      expect(failure).toHaveProperty('code', 'invalid_argument');
    }
  });
});
