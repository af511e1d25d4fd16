// Initial tokens: several sequences per prompt in the order of the prompts, and padding without a mask.
import { AutoModelForCausalLM, type ClearformerWarning, configure, type GenerativeModel, pipeline } from 'clearformer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { failureOf } from './support/failures.js';
import { folderFiles } from './support/pipeline_cases.js';
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
