// What transformers' Whisper does outside its pipeline: generate() makes the prompt, the tokenizer decodes what it writes.

import { AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq, AutoTokenizer, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { filesOf, type PipelineCase } from './support/pipeline_cases.js';
import { casesOf, fixturePath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

interface Decoded {
  cases: { ids: number[]; options: object; text: string }[];
}
interface Prompts {
  calls: { options: { language?: string; return_timestamps?: boolean }; ids: number[] }[];
}

const [tiny, , , decoded, prompts] = casesOf<unknown>('speech') as [PipelineCase, unknown, unknown, Decoded, Prompts];
const here = { deterministic: true };
const input_features = new Tensor(
  'float32',
  Float32Array.from({ length: 320 }, (_, i) => Math.sin(i)),
  [1, 8, 40],
);
const load = (more: object = {}) =>
  AutoModelForSpeechSeq2Seq.from_pretrained(
    filesOf({ ...tiny, generation_config: { ...tiny.generation_config, ...more } }),
    here,
  );
const single = { lang_to_id: null, task_to_id: null, is_multilingual: false };
const idsOf = ({ data }: Tensor) => Array.from(data as BigInt64Array, Number);

describe('the tokenizer', () => {
  it('decodes as transformers does', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(fixturePath('pipelines/whisper_times_97'));
    for (const { ids, options, text } of decoded.cases) {
      expect([ids, options, tokenizer.decode(ids, options)]).toEqual([ids, options, text]);
      expect(tokenizer.batch_decode([ids], options)).toEqual([text]);
    }
    const { details } = await failureOf(async () => tokenizer.decode([1], { times: true } as object));
    expect(details.expected).toContain('decode_with_timestamps');
    const wrong = await failureOf(async () => tokenizer.decode([1], { decode_with_timestamps: 1 } as object));
    expect(wrong).toMatchObject({ code: 'invalid_argument', details: { option: 'decode_with_timestamps' } });
  });

  it('of other models has no timestamps', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(fixturePath('tokenizer_folders/gpt2'));
    expect(tokenizer.decode(tokenizer.encode('<|0.00|>'))).toBe('<|0.00|>');
    const failure = await failureOf(async () => tokenizer.decode([1], { decode_with_timestamps: true }));
    expect(failure).toMatchObject({ code: 'unsupported', details: { option: 'decode_with_timestamps' } });
  });
});

describe.each(variants)('%s: generate', (variant) => {
  it("begins with the prompt of language and task, and writes what transformers' does", async () => {
    const files = filesOf(tiny);
    await using model = await AutoModelForSpeechSeq2Seq.from_pretrained(files, optionsFor(variant));
    for (const { options, ids } of prompts.calls) {
      const found = idsOf(await model.generate({ input_features, max_new_tokens: 8, ...options } as object));
      expect(found.slice(found.length - ids.length), JSON.stringify(options)).toEqual(ids);
      const streamed: number[] = [];
      for await (const { token_id } of model.generate_stream({
        input_features,
        max_new_tokens: 8,
        ...options,
      } as object))
        streamed.push(token_id);
      expect(found.slice(-streamed.length)).toEqual(streamed);
    }
  });
});

describe('the prompt', () => {
  it('has the detected language and transcribe, and what is before it', async () => {
    await using model = await load();
    const begin = async (options: object) =>
      idsOf(await model.generate({ input_features, max_new_tokens: 1, ...options } as object)).slice(0, -1);
    const [start, heard] = await begin({});
    expect([3, 4]).toContain(heard);
    expect(await begin({})).toEqual([start, heard, 5, 60]);
    expect(await begin({ return_timestamps: true })).toEqual([start, heard, 5]);
    expect(await begin({ language: 'fr', task: 'translate' })).toEqual([start, 4, 6, 60]);
    expect(await begin({ language: 'fr', prompt_ids: [7, 20] })).toEqual([...[7, 20, start, 4, 5, 60]]);
    expect(await begin({ language: 'en', decoder_start_token_id: 8 })).toEqual([8, 3, 5, 60]);
    const bigints = { language: 'en', decoder_start_token_id: 8n, prompt_ids: [7n, 20n] };
    expect(await begin(bigints)).toEqual([...[7, 20, 8, 3, 5, 60]]);
    expect(await begin({ language: null, decoder_input_ids: [[1, 4]] })).toEqual([1, 4]);
    model.generation_config.language = 'french';
    expect(await begin({})).toEqual([start, 4, 5, 60]);
  });

  it('of a model with one language names none', async () => {
    await using model = await load(single);
    const ids = idsOf(await model.generate({ input_features, max_new_tokens: 1 }));
    expect(ids.slice(0, -1)).toEqual([1, 60]);
    const failure = await failureOf(() => model.generate({ input_features, language: 'en' }));
    expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'language' } });
  });

  it.each([
    [{ language: 'fr', decoder_input_ids: [[1, 4]] }, 'unsupported', 'language'],
    [{ task: 'translate', forced_decoder_ids: [[1, 4]] }, 'unsupported', 'task'],
    [{ language: 'klingon' }, 'invalid_argument', 'language'],
    [{ task: 'sing' }, 'invalid_argument', 'task'],
    [{ prompt_ids: [1.5] }, 'dtype_mismatch', 'prompt_ids'],
  ])('%j is refused', async (options, code, word) => {
    await using model = await load();
    const failure = await failureOf(() => model.generate({ input_features, ...options } as object));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(word) });
    const stream = model.generate_stream({ input_features, ...options } as object);
    expect((await failureOf(() => stream.next())).message.replace('_stream', '')).toBe(failure.message);
  });

  it('is none of a model of text', async () => {
    await using model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/odd'), here);
    for (const option of ['language', 'task', 'prompt_ids']) {
      const failure = await failureOf(() => model.generate({ input_ids: [[5, 6]], [option]: 'transcribe' } as object));
      expect(failure).toMatchObject({ code: 'unsupported', details: { option } });
      expect(failure.message).toContain('input_features');
    }
  });

  it('is not made beside a mask of frames other than without it', async () => {
    await using model = await load();
    const attention_mask = new Tensor('int64', new BigInt64Array(40), [1, 40]);
    const plain = idsOf(await model.generate({ input_features, language: 'en', max_new_tokens: 4 }));
    const masked = { input_features, attention_mask, language: 'en', max_new_tokens: 4 };
    expect(idsOf(await model.generate(masked))).toEqual(plain);
  });
});
