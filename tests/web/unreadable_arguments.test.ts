// Arguments that the engine itself refuses to read: lists that contain themselves or are too deep, typed arrays whose buffer
// was transferred, revoked proxies, holes. The package's own error names the argument and has the engine's as its cause.

import {
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoTokenizer,
  AutoModelForSequenceClassification as Classifier,
  copyCache,
  DynamicCache,
  pipeline,
  validate,
} from 'clearformer';
import { apply_chat_template } from 'clearformer/chat_template';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
const processor = await AutoImageProcessor.from_pretrained('./web/demo/public/models/vit-mnist');
const inputs = { input_ids: [[1, 2, 3]] };

const cyclic: unknown[] = [1];
cyclic.push(cyclic);
const cyclicObject: Record<string, unknown> = {};
cyclicObject.own = cyclicObject;
let deep: unknown[] = [];
for (let i = 0; i < 20_000; i++) deep = [deep];
const transferred = <T extends Int32Array | BigInt64Array>(data: T): T => {
  structuredClone(data.buffer, { transfer: [data.buffer as ArrayBuffer] });
  return data;
};
const revoked = (): never => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy as never;
};
const lists = [
  ['a list in itself', () => cyclic],
  ['a deep list', () => deep],
  ['transferred int32', () => transferred(Int32Array.of(1, 2))],
  ['transferred int64', () => transferred(BigInt64Array.of(1n))],
  ['a revoked proxy', revoked],
] as const;

describe.each(lists)('%s', (_, make) => {
  it.each(['suppress_tokens', 'eos_token_id', 'max_new_tokens', 'sequence_bias'])('as %s', async (option) => {
    const failure = await failureOf(() => model.generate(inputs, { [option]: make() }));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(option) });
    expect(failure.cause).toBeInstanceOf(Error);
  });

  it('as token ids', async () => {
    const ids = make() as number[];
    for (const call of [
      () => tokenizer.decode(ids),
      () => tokenizer.batch_decode([ids]),
      () => tokenizer.convert_ids_to_tokens(ids),
    ]) {
      expect((await failureOf(call)).code).toBe('invalid_argument');
    }
  });
});

it.each([
  ['a list in itself', [cyclic]],
  ['a deep list', [deep]],
])('labels: %s', async (_, labels) => {
  const failure = await failureOf(() => model({ ...inputs, labels: labels as never }));
  expect(failure.message).toMatch(/^labels/);
});

it.each([
  ['an object in itself', cyclicObject],
  ['a list in itself', cyclic],
  ['a bigint', [1n]],
])('options of an image processor: %s', async (_, image_mean) => {
  const image = { data: new Uint8Array(784), width: 28, height: 28 };
  const failure = await failureOf(() => processor(image, { image_mean: image_mean as never }));
  expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('image_mean') });
});

it('a config in itself', async () => {
  const config = { model_type: 'bert', id2label: cyclicObject };
  const failure = await failureOf(() => Classifier.from_config(config));
  expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('the config') });
});

it('holes of a list of images', async () => {
  expect((await failureOf(() => processor(new Array(1) as never))).message).toContain('an image is');
});

it('a transferred file', async () => {
  const contents = new ArrayBuffer(8);
  structuredClone(contents, { transfer: [contents] });
  const failure = await failureOf(() => validate({ 'config.json': contents }));
  expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('config.json') });
});

it.each([
  ['messages in themselves', [{ role: 'user', content: cyclic }], '{{ messages }}', 'without end'],
  [
    'a macro that calls itself',
    [],
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'calls itself, more than 400 times',
  ],
  ['parentheses', [], `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`, 'nested more than 200 times'],
  [
    'lists in one another',
    [],
    '{% set n = namespace(x=[]) %}{% for i in range(300) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}',
    'lists in one another',
  ],
  ['minus signs', [], `{{ ${'- '.repeat(20_000)}1 }}`, 'nested more than 200 times'],
  ['blocks', [], '{% if true %}'.repeat(5000) + '{% endif %}'.repeat(5000), 'nested more than 200 times'],
  ['sums', [], `{{ ${'1 + '.repeat(20_000)}1 }}`, 'more than 400 times'],
])('chat templates: %s', async (_, messages, chat_template, why) => {
  const failure = await failureOf(() => apply_chat_template(tokenizer, messages, { chat_template, tokenize: false }));
  expect(failure.message).toContain(why);
});

describe('past_key_values that are no cache of this model', () => {
  const filled = async (of = model) =>
    (await of(inputs, { use_cache: true })).past_key_values as InstanceType<typeof DynamicCache>;
  const dead = async (empty: boolean) => {
    const cache = empty ? new DynamicCache() : await filled();
    await cache.dispose();
    return cache;
  };
  const trapped = () => {
    throw new RangeError('trapped');
  };
  type Wrong = readonly [name: string, make: () => unknown[] | Promise<unknown[]>, code: string];
  const refused: readonly (readonly [Wrong[0], Wrong[1]])[] = [
    ['a proxy of one', async () => [new Proxy(await filled(), {})]],
    ['a proxy of an empty one', () => [new Proxy(new DynamicCache(), {})]],
    ['a revoked proxy', () => [revoked()]],
    ['a proxy that throws', () => [new Proxy({}, { get: trapped, getPrototypeOf: trapped, has: trapped })]],
    ['what inherits from one', async () => [Object.create(await filled())]],
    ['an object of its class', () => [Object.create(DynamicCache.prototype)]],
    ['a plain object', () => [{ isEmpty: true }]],
    ['arrays', () => [[[inputs, inputs]]]],
    ['a number', () => [3]],
    ['false', () => [false]],
    ['another model’s', async () => [await filled(await AutoModelForCausalLM.from_pretrained(storiesPath))]],
  ];
  const wrong: readonly Wrong[] = [
    ...refused.map(([name, make]) => [name, make, 'invalid_argument'] as const),
    ['a disposed one', async () => [await dead(false)], 'disposed'],
    ['a disposed one that was empty', async () => [await dead(true)], 'disposed'],
  ];

  it.each(wrong)('%s', async (name, make, code) => {
    const [past_key_values] = (await make()) as [never];
    const pipe = await pipeline('text-generation', storiesPath);
    const calls = [
      () => model({ ...inputs, past_key_values }),
      () => model.run_with_cache({ ...inputs, past_key_values }),
      () => model.generate({ ...inputs, past_key_values }, { max_new_tokens: 1 }),
      () => model.generate_stream({ ...inputs, past_key_values }, { max_new_tokens: 1 }).next(),
      () => pipe('a', { past_key_values, max_new_tokens: 1 }),
      ...(name === 'another model’s' ? [] : [() => copyCache(past_key_values)]),
    ];
    for (const call of calls) {
      expect(await failureOf(call)).toMatchObject({
        code,
        message: expect.stringMatching(/past_key_values|cache was/),
      });
    }
  });
});

it('holes in messages are undefined', () => {
  const messages = [{ role: 'user', content: new Array(1) }];
  const options = { chat_template: '{{ messages[0].content[0] is defined }}', tokenize: false } as const;
  expect(apply_chat_template(tokenizer, messages, options)).toBe('False');
});
