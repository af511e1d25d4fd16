// generation_config: changes of a model's own, and one that is given with a call, of models and pipelines.

import {
  AutoModelForCausalLM,
  type GenerateOutput,
  type GenerativeModel,
  inspect,
  pipeline,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configured, storiesFiles } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';

const generation_config = new TextEncoder().encode(
  JSON.stringify({
    _from_model_config: true,
    bos_token_id: 1,
    eos_token_id: 2,
    max_new_tokens: 9,
    lang_to_id: { '<|en|>': 3 },
    transformers_version: '4.31.0',
  }),
);
const files = { ...storiesFiles(), 'generation_config.json': generation_config };
const inputs = { input_ids: [[1, 403, 407, 261, 378]] };
const long = { eos_token_id: null, max_new_tokens: 8 };

describe('generation_config', () => {
  let model: GenerativeModel;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(files, { worker: false });
  });
  afterAll(() => model.dispose());
  const written = async (options: object = {}) => Array.from((await model.generate(inputs, options)).data, Number);

  it('of a model may be changed, and changed back', async () => {
    const plain = await written();
    expect(plain).toHaveLength(14);
    const own = { ...model.generation_config };
    const suppress_tokens = [plain[5] as number];
    Object.assign(model.generation_config, { max_new_tokens: 3, suppress_tokens, a_new_key: 5 });
    expect(await written()).toEqual(await written({ max_new_tokens: 3, suppress_tokens }));
    expect(await written()).toHaveLength(8);
    expect(await written({ max_new_tokens: 4, suppress_tokens: null })).toEqual(plain.slice(0, 9));
    delete model.generation_config.max_new_tokens;
    model.generation_config.max_length = 7;
    delete model.generation_config.suppress_tokens;
    expect(await written()).toEqual(plain.slice(0, 7));
    Object.assign(model.generation_config, { temperature: -1, do_sample: true });
    const failure = await failureOf(() => model.generate(inputs));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('temperature')]);
    for (const name of Object.keys(model.generation_config)) delete model.generation_config[name];
    Object.assign(model.generation_config, own);
    expect(await written()).toEqual(plain);
  });

  it('and options and inputs may be inherited', async () => {
    const short = { max_new_tokens: 2, do_sample: false };
    const expected = await written(short);
    expect(await written(Object.create(short))).toEqual(expected);
    expect(await written({ generation_config: Object.create(short) })).toEqual(expected);
    const made = await model.generate(Object.create({ ...inputs, ...short }));
    expect(Array.from(made.data, Number)).toEqual(expected);
    await using write = await pipeline('text-generation', files, { worker: false });
    expect(await write('Once', Object.create(short))).toEqual(await write('Once', short));
  });

  it('of a call and a file that sample nothing may have any temperature', async () => {
    const plain = await written();
    const numbers = { temperature: 0, top_p: 1.5, typical_p: 2, min_p: -1 };
    for (const [name, number] of Object.entries(numbers)) {
      expect(await written({ do_sample: false, [name]: number })).toEqual(plain);
    }
    const file = JSON.stringify({ max_new_tokens: 9, do_sample: false, ...numbers });
    const folder = { ...files, 'generation_config.json': new TextEncoder().encode(file) };
    expect((await inspect(folder)).problems).toEqual([]);
    const greedy = await AutoModelForCausalLM.from_pretrained(folder, { worker: false });
    expect(Array.from((await greedy.generate(inputs)).data, Number)).toEqual(plain);
    const { message } = await failureOf(() => greedy.generate(inputs, { do_sample: true }));
    expect(message).toContain('"temperature" must be > 0');
    await greedy.dispose();
  });

  it('of a call has precedence over the model, and the options over it', async () => {
    const expected = await written({ max_new_tokens: 3 });
    for (const options of [
      { generation_config: { max_new_tokens: 3 } },
      { generation_config: { max_new_tokens: 3 }, max_new_tokens: undefined },
      { generation_config: { max_new_tokens: 5 }, max_new_tokens: 3 },
      { generation_config: { ...model.generation_config, max_new_tokens: 3 } },
      { generation_config: { max_new_tokens: 3, _commit_hash: 'a', transformers_version: '5.12.1' } },
    ]) {
      expect(await written(options)).toEqual(expected);
    }
    expect(await written({ generation_config: null })).toHaveLength(14);
  });

  it.each<[string, (ids: number[]) => unknown]>([
    ['int32', (ids) => Int32Array.from(ids)],
    ['int64', (ids) => BigInt64Array.from(ids, BigInt)],
    ['bigints', (ids) => ids.map(BigInt)],
    ['a tensor', (ids) => new Tensor('int64', BigInt64Array.from(ids, BigInt), [ids.length])],
  ])('of either has ids as %s, as options have', async (_, typed) => {
    const [first = 0, second = 0] = (await written()).slice(5);
    const lists = (list: (ids: number[]) => unknown) => ({
      suppress_tokens: list([first]),
      bad_words_ids: [list([second])],
      eos_token_id: list([2, 403]),
    });
    const expected = await written(lists((ids) => ids));
    expect(expected).not.toEqual(await written());
    const given = lists(typed);
    expect(await written(given)).toEqual(expected);
    expect(await written({ generation_config: given })).toEqual(expected);
    const own = { ...model.generation_config };
    Object.assign(model.generation_config, given);
    expect(await written()).toEqual(expected);
    for (const name of Object.keys(given)) delete model.generation_config[name];
    Object.assign(model.generation_config, own);
  });

  it('of a model may ask for outputs, unless a call does not', async () => {
    const own = { ...model.generation_config };
    const asked = { return_dict_in_generate: true, output_scores: true, use_cache: false, max_new_tokens: 2 };
    Object.assign(model.generation_config, asked);
    const all = (await model.generate(inputs)) as unknown as GenerateOutput;
    expect([Object.keys(all).sort(), all.scores?.length]).toEqual([['scores', 'sequences'], 2]);
    for await (const { scores } of model.generate_stream(inputs)) expect(scores?.dims[0]).toBe(1);
    const some = await model.generate(inputs, { return_dict_in_generate: true, output_scores: false, use_cache: true });
    expect(Object.keys(some).sort()).toEqual(['past_key_values', 'sequences']);
    await some.past_key_values?.dispose();
    for (const ids of [{ return_dict_in_generate: false }, { generation_config: { return_dict_in_generate: false } }]) {
      expect(await written(ids)).toEqual(Array.from(all.sequences.data, Number));
    }
    delete model.generation_config.return_dict_in_generate;
    const failure = await failureOf(() => model.generate(inputs));
    expect(failure.message).toContain('output_scores needs return_dict_in_generate');
    for (const name of Object.keys(asked)) delete model.generation_config[name];
    Object.assign(model.generation_config, own);
    const same = new TextEncoder().encode(JSON.stringify(asked));
    await using other = await AutoModelForCausalLM.from_pretrained({ ...files, 'generation_config.json': same });
    expect(await other.generate(inputs)).toBeInstanceOf(Tensor);
  });

  it('of either has single ids as bigints, and counts as numbers only', async () => {
    const [end = 0] = (await written()).slice(8);
    const expected = await written({ eos_token_id: end });
    expect(expected.at(-1)).toBe(end);
    const given = { eos_token_id: BigInt(end), pad_token_id: 0n, bos_token_id: 1n, forced_decoder_ids: null };
    expect(await written(given)).toEqual(expected);
    expect(await written({ generation_config: given })).toEqual(expected);
    const own = { ...model.generation_config };
    Object.assign(model.generation_config, given);
    expect(await written()).toEqual(expected);
    model.generation_config.max_length = 2n;
    const failure = await failureOf(() => written());
    for (const name of ['max_length', ...Object.keys(given)]) delete model.generation_config[name];
    Object.assign(model.generation_config, own);
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('2n')]);
  });

  it.each([[5], [true], [new Map()], ['abc'], [[3]]])('of a call is no %o', async (value) => {
    const failure = await failureOf(() => written({ generation_config: value }));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('generation_config')]);
  });

  it('of a call has options alone', async () => {
    const failure = await failureOf(() => written({ generation_config: { max_tokens: 3 } }));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining('max_tokens')]);
  });

  it('of a call is obeyed by a pipeline', async () => {
    await using write = await pipeline('text-generation', storiesFiles());
    const expected = await write('Once upon', long);
    expect(await write('Once upon', { generation_config: long })).toEqual(expected);
    const { max_new_tokens, ...rest } = long;
    expect(await write('Once upon', { generation_config: { ...rest, max_new_tokens: 2 }, max_new_tokens })).toEqual(
      expected,
    );
    Object.assign(write.model.generation_config, { return_dict_in_generate: true, output_scores: true });
    expect(await write('Once upon', { ...long, output_logits: undefined } as object)).toEqual(expected);
  });
});

describe('special tokens', () => {
  const none = { bos_token_id: null, eos_token_id: null, pad_token_id: null, decoder_start_token_id: null };
  const file = (values: object) => new TextEncoder().encode(JSON.stringify(values));

  // As transformers: the classes' defaults, of which Llama ends texts at 2, are no settings of a folder.
  it.each([
    ['are those of generation_config.json alone', { max_new_tokens: 3 }, { pad_token_id: 0 }, none],
    [
      'are those of config.json without that file',
      undefined,
      { pad_token_id: 0 },
      { bos_token_id: 1, eos_token_id: 2, pad_token_id: 0 },
    ],
    ['may be several', undefined, { eos_token_id: [5, 2] }, { bos_token_id: 1, eos_token_id: [5, 2] }],
    [
      'are those of text_config where config.json has none',
      undefined,
      { eos_token_id: null, text_config: { bos_token_id: 7, eos_token_id: 2 } },
      { bos_token_id: 1, eos_token_id: 2 },
    ],
    ['are none of the class', undefined, { bos_token_id: undefined, eos_token_id: undefined }, none],
  ])('%s', async (_, generation, changed, expected) => {
    const given = configured(changed);
    delete given['generation_config.json'];
    if (generation) given['generation_config.json'] = file(generation);
    await using model = await AutoModelForCausalLM.from_pretrained(given, { worker: false });
    expect(model.generation_config).toMatchObject({ ...none, ...expected });
    const next = { max_new_tokens: 3, sequence_bias: [[[2], 1e6]] as [number[], number][] };
    const ends = [model.generation_config.eos_token_id].flat().includes(2);
    expect((await model.generate(inputs, next)).dims).toEqual([1, ends ? 6 : 8]);
    const padded = { input_ids: [[403, 0, 407, 261]] };
    const attention_mask = padded.input_ids.map((row) =>
      row.map((token) => Number(token !== model.generation_config.pad_token_id)),
    );
    const written = await model.generate(padded, { max_new_tokens: 3 });
    expect(written.data).toEqual((await model.generate({ ...padded, attention_mask }, { max_new_tokens: 3 })).data);
  });

  it('are those of the class in a new model', async () => {
    const text = new TextDecoder().decode(storiesFiles()['config.json']);
    const { architectures, bos_token_id, eos_token_id, ...config } = JSON.parse(text);
    await using model = await AutoModelForCausalLM.from_config(config, { worker: false });
    expect(model.generation_config).toMatchObject({ ...none, bos_token_id: 1, eos_token_id: 2 });
  });
});
