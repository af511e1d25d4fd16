// Initial tokens: several sequences per prompt in the order of the prompts, and padding without a mask; limits of length
// and time.

import {
  AutoModelForCausalLM,
  type ClearformerWarning,
  configure,
  type GenerateOptions,
  type GenerativeModel,
  pipeline,
  type Tensor,
} from 'clearformer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { failureOf } from './support/failures.js';
import { filesOf, folderFiles, pipelineCase } from './support/pipeline_cases.js';
import { casesOf, idRows, storiesPath, tensorsOf } from './support/references.js';
import { wordTokenizer } from './support/word_tokenizer.js';

let model: GenerativeModel;
beforeAll(async () => {
  model = await AutoModelForCausalLM.from_pretrained(storiesPath);
});
afterAll(() => model.dispose());

it('tells a streamer the prompt of each sequence: a, a, b, b', async () => {
  const puts: bigint[][][] = [];
  const streamer = { put: (value: unknown) => puts.push(value as bigint[][]), end: () => {} };
  const input_ids = [
    [1, 403, 407],
    [1, 261, 378],
  ];
  const options = { max_new_tokens: 2, do_sample: true, seed: 1, num_return_sequences: 2 };
  const out = await model.generate({ input_ids }, { ...options, streamer });
  const [a, b] = input_ids.map((row) => row.map(BigInt));
  expect(puts[0]).toEqual([a, a, b, b]);
  expect((out.tolist() as bigint[][]).map((row) => row.slice(0, 3))).toEqual([a, a, b, b]);
});

it('of a pipeline begin with bos_token_id if they have none', async () => {
  const words = Object.entries(wordTokenizer(64, [])).map(([name, text]) => [name, new TextEncoder().encode(text)]);
  const files = { ...folderFiles('models/gpt2/even'), ...Object.fromEntries(words) };
  await using write = await pipeline('text-generation', files, { deterministic: true });
  const options = { max_new_tokens: 6, bos_token_id: 5, pad_token_id: 1, eos_token_id: null };
  const alone = write.tokenizer.batch_decode(await write.model.generate({}, options), { skip_special_tokens: true });
  const [begun] = alone.map((text) => ({ generated_text: text.slice('cat'.length) }));
  const other = await write('the cat sat', options);
  expect(await write('', options)).toEqual([begun]);
  expect(await write('', { ...options, bos_token_id: 5n, pad_token_id: 1n })).toEqual([begun]);
  expect(await write(['', 'the cat sat', ' '], options)).toEqual([
    [begun],
    other,
    [{ generated_text: ` ${begun?.generated_text}` }],
  ]);
  expect(await write(['', ''], { ...options, batch_size: 1 })).toEqual([[begun], [begun]]);
  for (const bos_token_id of [null, 1.5]) {
    const { code, message } = await failureOf(() => write(['', 'the'], { ...options, bos_token_id }));
    expect([code, message]).toEqual(['invalid_argument', expect.stringContaining(`bos_token_id is ${bos_token_id}`)]);
  }
});

it('of a batch are continued as alone: rows that have ended are padded, with no text for an end token of any kind', async () => {
  await using write = await pipeline('text-generation', filesOf(pipelineCase('texts')), { deterministic: true });
  const texts = ['the man', 'she sings in rome'];
  const [length = 0] = write.tokenizer(texts[0] as string).input_ids.dims.slice(-1);
  const { input_ids } = write.tokenizer(texts[0] as string);
  const eos_token_id = Number((await write.model.generate({ input_ids }, { max_new_tokens: 1 })).data[length]);
  const options = { eos_token_id, max_new_tokens: 6, return_full_text: false };
  const own = { ...write.model.generation_config };
  delete write.model.generation_config.pad_token_id;
  const alone = await Promise.all(texts.map((text) => write(text, options)));
  expect(await write(texts, options)).toEqual(alone);
  expect(alone[0]).toEqual([{ generated_text: write.tokenizer.decode([eos_token_id]) }]);
  Object.assign(write.model.generation_config, own);
});

it('that end within bytes of a character are followed by what is new', async () => {
  await using write = await pipeline('text-generation', storiesPath, { deterministic: true });
  const byte = 3 + 0xf0;
  const suppress_tokens = Array.from({ length: 512 }, (_, id) => id).filter((id) => id !== byte);
  const options = { max_new_tokens: 1, suppress_tokens };
  expect(await write('can 🙂', options)).toEqual([{ generated_text: 'can 🙂\ufffd' }]);
  expect(await write('can 🙂', { ...options, return_full_text: false })).toEqual([{ generated_text: '\ufffd' }]);
});

it('that are texts have no options of conversations, and null is the usual return_full_text', async () => {
  await using write = await pipeline('text-generation', storiesPath);
  for (const option of ['tools', 'documents', 'chat_template', 'continue_final_message'] as const) {
    const { code, message } = await failureOf(() => write('Once', { [option]: [{}] } as object));
    expect([code, message]).toEqual(['invalid_argument', expect.stringContaining(`${option} is for conversations`)]);
  }
  const options = { max_new_tokens: 2, continue_final_message: false };
  expect(await write('Once', { ...options, return_full_text: null } as object)).toEqual(await write('Once', options));
});

describe('padding in a prompt without attention_mask', () => {
  const heard: ClearformerWarning[] = [];
  beforeAll(() => configure({ onWarning: (warning) => heard.push(warning) }));
  afterAll(() => configure({ onWarning: undefined }));
  afterEach(() => {
    heard.length = 0;
  });

  it.each(casesOf('stories260K').filter(({ op }) => op === 'causal_lm_unmasked'))(
    '$name: the tokens of transformers, and what is doubtful is told',
    async (one) => {
      const reference = tensorsOf('stories260K', one);
      const out = await model.generate({ input_ids: idRows(reference('input_ids')) }, one.options);
      expect(idRows(out)).toEqual(idRows(reference('sequences')));
      expect(heard.map(({ code }) => code)).toEqual(one.warning === null ? [] : [one.warning]);
      for (const { message } of heard) expect(message).toContain('attention_mask');
    },
  );

  it('goes to the console where nobody listens', async () => {
    configure({ onWarning: undefined });
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await model.generate({ input_ids: [[1, 403, 0]] }, { max_new_tokens: 1, pad_token_id: 0 });
    expect(warned.mock.calls).toEqual([[expect.stringContaining('pad on the left')]]);
    warned.mockRestore();
  });
});

it('a maximum length that max_new_tokens overrides is told', async () => {
  const heard: ClearformerWarning[] = [];
  configure({ onWarning: (warning) => heard.push(warning) });
  const prompt = { input_ids: [[1, 403]] };
  const lengthOf = async (options: GenerateOptions) =>
    ((await model.generate(prompt, options)) as Tensor<'int64'>).dims[1];
  try {
    expect(model.generation_config.max_new_tokens).toBe(200);
    expect(await lengthOf({ max_length: 5, max_new_tokens: null })).toBe(5);
    expect(await lengthOf({ max_new_tokens: 4 })).toBe(6);
    expect(heard).toEqual([]);
    expect(await lengthOf({ max_length: 5, max_new_tokens: 4 })).toBe(6);
    expect(await lengthOf({ max_length: 5, max_time: 1e-9 })).toBe(3);
    const message = (tokens: number) => expect.stringContaining(`max_new_tokens, ${tokens}, comes first`);
    expect(heard).toEqual([4, 200].map((tokens) => ({ code: 'ignored_length', message: message(tokens) })));
  } finally {
    configure({ onWarning: undefined });
  }
});

it('ends when the time is up', async () => {
  expect((await model.generate({ input_ids: [[1, 403]] }, { max_time: 0 })).dims).toEqual([1, 3]);
});
