// Pipelines: loading with a common progress, aborts that release everything, and errors by name.

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as later } from 'node:timers/promises';
import { type PipelineTask, PreTrainedTokenizer, type ProgressInfo, pipeline } from 'clearformer';
import { afterEach, describe, expect, it } from 'vitest';
import type { Files } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { filesOf, jsonFile, picture, pipelineCase, sound } from './support/pipeline_cases.js';

const here = { deterministic: true, worker: false } as const;
const filesFor = (name: string) => filesOf(pipelineCase(name));
const text = 'the [MASK] is in rome.';

describe('loading', () => {
  it('shows what the pipeline is made of', async () => {
    const fill = await pipeline('fill-mask', filesFor('masks'), here);
    expect(fill.task).toBe('fill-mask');
    expect(fill.tokenizer).toBeInstanceOf(PreTrainedTokenizer);
    expect(fill.model.config.model_type).toBe('bert');
    const zero = await pipeline('zero-shot-image-classification', filesFor('labels'), here);
    expect(zero.tokenizer.model_max_length).toBe(12);
    expect(zero.processor.image_processor_type).toContain('CLIP');
    await Promise.all([fill.dispose(), zero.dispose()]);
  });

  it('knows other names of tasks', async () => {
    const names = [
      ['sentiment-analysis', 'classes'],
      ['ner', 'entities'],
      ['asr', 'speech'],
      ['translation_en_to_fr', 'translation'],
    ] as const;
    for (const [task, name] of names) {
      const pipe = await pipeline(task, filesFor(name), here);
      expect(pipe.task).toBe(task);
      await pipe.dispose();
    }
  });

  it('takes settings of config.json for the task by its whole name', async () => {
    const one = pipelineCase('translation');
    const config = { task_specific_params: { translation_en_to_fr: { prefix: 'she said: ', max_length: 6 } } };
    const plain = await pipeline('translation', filesOf(one), here);
    const named = await pipeline('translation_en_to_fr', filesOf({ ...one, config }), here);
    expect(await named('the man is in rome.')).toEqual(await plain('she said: the man is in rome.', { max_length: 6 }));
    expect(await named('the man', { max_new_tokens: 9 })).toEqual(
      await plain('she said: the man', { max_new_tokens: 9 }),
    );
    await Promise.all([plain.dispose(), named.dispose()]);
  });

  it('tells one progress over all files', async () => {
    const files = filesFor('labels');
    const events: ProgressInfo[] = [];
    const options = { ...here, progress_callback: (event: ProgressInfo) => events.push(event) };
    const pipe = await pipeline('zero-shot-image-classification', files, options);
    const names = [
      'config.json',
      'model.safetensors',
      'preprocessor_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ];
    const total = names.reduce((sum, name) => sum + (files[name]?.byteLength ?? 0), 0);
    const of = (status: string) => events.filter((event) => event.status === status);
    expect(
      of('initiate')
        .map(({ file }) => file)
        .sort(),
    ).toEqual(names);
    expect(
      of('done')
        .map(({ file }) => file)
        .sort(),
    ).toEqual(names);
    expect(new Set(events.map((event) => event.total))).toEqual(new Set([total]));
    events.slice(1).forEach(({ loaded }, i) => {
      expect(loaded).toBeGreaterThanOrEqual((events[i] as ProgressInfo).loaded);
    });
    expect(of('ready')).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ loaded: total, progress: 100 });
    await pipe.dispose();
  });

  it('compares the checksums of all files', async () => {
    const files = filesFor('masks');
    const sums = Object.entries(files).map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]);
    const integrity = Object.fromEntries(sums);
    await (await pipeline('fill-mask', files, { ...here, integrity })).dispose();
    for (const name of ['tokenizer.json', 'config.json', 'model.safetensors']) {
      const spoilt = { ...integrity, [name]: '0'.repeat(64) };
      const failure = await failureOf(() => pipeline('fill-mask', files, { ...here, integrity: spoilt }));
      expect([failure.code, failure.details.file]).toEqual(['integrity_mismatch', name]);
    }
    const more = { ...integrity, 'vocab.txt': '0'.repeat(64) };
    expect((await failureOf(() => pipeline('fill-mask', files, { ...here, integrity: more }))).message).toContain(
      'vocab.txt',
    );
  });

  it('runs in a worker as it runs here', async () => {
    for (const [task, name, given] of [
      ['fill-mask', 'masks', text],
      ['automatic-speech-recognition', 'speech', sound(0, 1200)],
      ['image-classification', 'image_classes', picture(1, 20, 20)],
    ] as const) {
      const both = await Promise.all(
        [false, true].map(async (worker) => {
          await using pipe = await pipeline(task, filesFor(name), { deterministic: true, worker });
          return [pipe.model.info().worker, await (pipe as unknown as (given: unknown) => Promise<unknown>)(given)];
        }),
      );
      expect(both.map(([worker]) => worker)).toEqual([false, true]);
      expect(both[1]?.[1]).toEqual(both[0]?.[1]);
    }
  });
});

describe('what fails leaves nothing behind', () => {
  const threads: { Worker: typeof import('node:worker_threads').Worker } = createRequire(import.meta.url)(
    'node:worker_threads',
  );
  const { Worker } = threads;
  let running = 0;
  class Counted extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      running++;
      this.once('exit', () => running--);
    }
  }
  const counted = async (work: () => Promise<unknown>) => {
    threads.Worker = Counted;
    const failure = await work().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    for (let i = 0; i < 200 && running > 0; i++) await later(10);
    expect(running).toBe(0);
    return failure;
  };
  afterEach(() => {
    threads.Worker = Worker;
    running = 0;
  });
  const there = { deterministic: true, worker: true } as const;

  it('counts workers that run', async () => {
    threads.Worker = Counted;
    const pipe = await pipeline('fill-mask', filesFor('masks'), there);
    expect(running).toBe(1);
    expect(await counted(() => pipe.dispose())).toBe(undefined);
  });

  it.each(['initiate', 'progress', 'done', 'ready'])('an abort at the first event %s', async (status) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const progress_callback = (event: ProgressInfo) => {
      if (event.status === status) controller.abort(reason);
    };
    const options = { ...there, signal: controller.signal, progress_callback };
    if (status === 'ready') {
      // Everything is loaded when this is reported: the pipeline is returned.
      expect(await counted(async () => (await pipeline('fill-mask', filesFor('masks'), options)).dispose())).toBe(
        undefined,
      );
      return;
    }
    expect(await counted(() => pipeline('fill-mask', filesFor('masks'), options))).toBe(reason);
  });

  it('an abort before, at once, and a moment later', async () => {
    const reason = new Error('enough');
    for (const wait of [undefined, 0, 1, 5]) {
      const controller = new AbortController();
      if (wait === undefined) controller.abort(reason);
      else setTimeout(() => controller.abort(reason), wait);
      const work = async () => {
        const pipe = await pipeline('fill-mask', filesFor('masks'), { ...there, signal: controller.signal });
        await pipe.dispose(); // it completed before the abort
      };
      expect([undefined, reason]).toContain(await counted(work));
    }
  });

  it.each([
    ['no tokenizer', { 'tokenizer.json': undefined }, 'file_not_found'],
    ['a tokenizer that is none', { 'tokenizer.json': jsonFile({}) }, 'malformed_config'],
    ['no mask token', { 'tokenizer_config.json': jsonFile({ mask_token: null }) }, 'unsupported'],
    ['no weights', { 'model.safetensors': undefined }, 'file_not_found'],
    ['another head', { 'config.json': filesFor('answers')['config.json'] }, 'missing_tensor'],
  ])('%s', async (_, change, code) => {
    const files = Object.fromEntries(
      Object.entries({ ...filesFor('masks'), ...change }).filter(([, bytes]) => bytes !== undefined),
    ) as Files;
    if (code === 'missing_tensor')
      Object.assign(files, { 'model.safetensors': filesFor('answers')['model.safetensors'] });
    const failure = await counted(() => pipeline('fill-mask', files, there));
    expect(failure).toMatchObject({ code });
    const named = /; config\.json says BertForQuestionAnswering, for question-answering$/.test(String(failure));
    expect(named).toBe(code === 'missing_tensor');
  });

  it('an abort of a call', async () => {
    await using pipe = await pipeline('text-generation', filesFor('texts'), here);
    const reason = new Error('enough');
    const controller = new AbortController();
    const streamer = { put: () => controller.abort(reason), end: () => {} };
    const options = { streamer, signal: controller.signal, max_new_tokens: 20 };
    await expect(pipe('the man', options)).rejects.toBe(reason);
    await expect(pipe('the man', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await pipe('the man is in rome.', { max_new_tokens: 8 })).toEqual(pipelineCase('texts').calls[0]?.answer);
  });

  it('a pipeline that was disposed of says so', async () => {
    const pipe = await pipeline('fill-mask', filesFor('masks'), here);
    await pipe.dispose();
    await pipe.dispose();
    expect((await failureOf(() => pipe(text))).code).toBe('disposed');
  });
});

describe('what is refused', () => {
  it.each(['toString', 'translation_to_fr', 'table-question-answering'])('the task %s', async (task) => {
    const failure = await failureOf(() => pipeline(task as PipelineTask, filesFor('masks'), here));
    expect(failure.code).toBe('unsupported');
    expect(failure.message).toContain(`'${task}' is no task`);
    expect(failure.message).toContain('fill-mask');
  });

  // Further tasks of transformers.js 4, from its SUPPORTED_TASKS and TASK_ALIASES.
  it.each([
    ['zero-shot-audio-classification', 'automatic-speech-recognition'],
    ['text-to-audio', 'speechSynthesis'],
    ['text-to-speech', 'speechSynthesis'],
    ['image-to-text', 'zero-shot-image-classification'],
    ['image-segmentation', 'image-classification'],
    ['background-removal', '@huggingface/transformers'],
    ['object-detection', 'image-classification'],
    ['zero-shot-object-detection', 'zero-shot-image-classification'],
    ['document-question-answering', 'question-answering'],
    ['image-to-image', '@huggingface/transformers'],
    ['depth-estimation', '@huggingface/transformers'],
    ['visual-question-answering', 'zero-shot-image-classification'],
  ])('the task %s, with what to use', async (task, instead) => {
    const failure = await failureOf(() => pipeline(task as PipelineTask, filesFor('masks'), here));
    expect(failure).toMatchObject({ code: 'unsupported', details: { option: 'task' } });
    expect(failure.message).toContain(`'${task}' is not supported`);
    expect(failure.message).toContain(instead);
  });

  it('a task without a source, with a checkpoint that does it', async () => {
    const failure = await failureOf(() => pipeline('sentiment-analysis', undefined as unknown as Files));
    expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'source' } });
    expect(failure.message).toContain('distilbert/distilbert-base-uncased-finetuned-sst-2-english');
  });

  it.each(['device', 'session_options', 'use_external_data_format', 'model_file_name', 'subfolder', 'config'])(
    'the option %s of transformers.js, with its cure',
    async (option) => {
      const failure = await failureOf(() => pipeline('fill-mask', filesFor('masks'), { [option]: 'webgpu' }));
      expect(failure).toMatchObject({ code: 'unsupported', details: { option } });
      expect(failure.message).toMatch(/leave it out|source/);
    },
  );

  it('a classifier of one class for zero-shot-classification, one of several for text-ranking', async () => {
    const zero = await failureOf(() => pipeline('zero-shot-classification', filesFor('ranking'), here));
    expect(zero).toMatchObject({ code: 'unsupported' });
    expect(zero.message).toContain('text-ranking');
    await using ranker = await pipeline('text-ranking', filesFor('classes'), here);
    expect((await failureOf(() => ranker('a', ['b']))).message).toContain('text-classification');
  });

  it('options and sources', async () => {
    const load = (source: unknown, options: object) => () => pipeline('fill-mask', source as Files, options);
    expect(await failureOf(load(filesFor('masks'), { device: 'webgpu' }))).toMatchObject({
      code: 'unsupported',
      details: { option: 'device' },
    });
    expect((await failureOf(load(filesFor('masks'), { dtype: 'q2' }))).message).toContain('q2');
    expect((await failureOf(load(undefined, {}))).message).toContain('source');
  });

  type Refused = [name: string, given: unknown[], options: object, code: string, word: string];
  const refused: Refused[] = [
    ['masks', [text], { topk: 3 }, 'unsupported', 'topk'],
    ['masks', [text], { top_k: 0 }, 'invalid_argument', 'top_k'],
    ['masks', [text], { batch_size: 0 }, 'invalid_argument', 'batch_size'],
    ['masks', [['the man', text]], {}, 'invalid_argument', '[MASK]'],
    ['masks', [7], {}, 'invalid_argument', 'text'],
    ['masks', [text], 3 as never, 'invalid_argument', 'options'],
    ['texts', ['a'], 3 as never, 'invalid_argument', 'options'],
    ['speech', [sound(0, 900)], 3 as never, 'invalid_argument', 'options'],
    ['speech', [sound(0, 900)], { num_return_sequences: 2 }, 'unsupported', 'num_return_sequences'],
    ['classes', [{ text: 'a', pair: 'b' }], { function_to_apply: 'softplus' }, 'invalid_argument', 'function_to_apply'],
    ['classes', [{ text_pair: 'b' }], {}, 'invalid_argument', 'text_pair'],
    ['classes', ['a'], { top_k: '2' }, 'invalid_argument', 'top_k'],
    ['entities', ['a'], { aggregation_strategy: 'last' }, 'invalid_argument', 'aggregation_strategy'],
    ['entities', ['a'], { stride: 2 }, 'invalid_argument', 'stride'],
    ['entities', ['a b'], { is_split_into_words: true }, 'invalid_argument', 'array of words'],
    ['entities', [['a', 'b']], { is_split_into_words: 'no' }, 'invalid_argument', 'is_split_into_words'],
    ['entities', [['a', 'b']], { delimiter: '-' }, 'invalid_argument', 'delimiter'],
    ['answers', ['who', ['in rome']], {}, 'invalid_argument', 'context'],
    ['answers', ['who', ''], {}, 'invalid_argument', 'empty'],
    ['answers', ['who', 'in rome'], { max_answer_length: 3 }, 'unsupported', 'max_answer_length'],
    ['features', ['a'], { pooling: 'median' }, 'invalid_argument', 'median'],
    ['features', ['a'], { quantize: true }, 'invalid_argument', 'quantize'],
    ['features', ['a'], { quantize: true, precision: 'int4' }, 'invalid_argument', 'precision'],
    ['zero_shot_last', ['a', []], {}, 'invalid_argument', 'candidate_labels'],
    ['zero_shot_last', ['a', ' , '], {}, 'invalid_argument', 'candidate_labels'],
    ['zero_shot_last', ['a', ['b']], { hypothesis_template: 'about' }, 'invalid_argument', 'hypothesis_template'],
    ['ranking', ['a', []], {}, 'invalid_argument', 'documents'],
    ['ranking', ['a', ['b']], { top_k: 0 }, 'invalid_argument', 'top_k'],
    ['ranking', ['a', ['b']], { function_to_apply: 'softmax' }, 'invalid_argument', 'function_to_apply'],
    ['features', [[]], {}, 'invalid_argument', 'at least one'],
    ['texts', ['a'], { return_dict_in_generate: true }, 'unsupported', 'return_dict_in_generate'],
    ['texts', ['a'], { output_scores: true }, 'unsupported', 'output_scores'],
    ['texts', ['a'], { names_filter: '*' }, 'unsupported', 'names_filter is for model.generate'],
    ['translation', ['a'], { select: { pos: 0 } }, 'unsupported', 'select is for model.generate'],
    ['texts', ['a'], { max_tokens: 2 }, 'unsupported', 'max_tokens'],
    ['texts', [['a', 'b']], { streamer: { put() {}, end() {} } }, 'unsupported', 'streamer'],
    ['texts', [[['a']]], {}, 'invalid_argument', 'conversation'],
    ['texts', [['a', [{ role: 'user' }]]], {}, 'invalid_argument', 'conversation'],
    ['translation', ['a'], { src_lang: 'en' }, 'unsupported', 'src_lang: without tgt_lang'],
    ['summarization', [null], {}, 'invalid_argument', 'text'],
    ['image_classes', ['cat.png'], {}, 'file_not_found', 'cat.png'],
    ['image_features', [[]], {}, 'invalid_argument', 'at least one'],
    ['labels', [picture(0, 9, 9), []], {}, 'invalid_argument', 'candidate_labels'],
    [
      'labels',
      [picture(0, 9, 9), ['cat']],
      { hypothesis_template: 'a cat' },
      'invalid_argument',
      'hypothesis_template',
    ],
    ['speech', [sound(0, 900)], { return_timestamps: true }, 'invalid_argument', 'no_timestamps_token_id'],
    ['speech', [sound(0, 900)], { language: 'latin' }, 'invalid_argument', 'latin'],
    ['speech', [sound(0, 900)], { task: 'sing' }, 'invalid_argument', 'task'],
    ['speech', [sound(0, 1700)], {}, 'invalid_argument', 'chunk_length_s'],
    ['speech', [sound(0, 1601)], {}, 'invalid_argument', '1.1 seconds, the model reads 1 at once'],
    ['speech', [sound(0, 1700)], { chunk_length_s: 2 }, 'invalid_argument', 'chunk_length_s'],
    ['speech', [sound(0, 1700)], { chunk_length_s: 1, stride_length_s: 0.5 }, 'invalid_argument', 'stride_length_s'],
    ['speech', [sound(0, 900)], { stride_length_s: 0.5 }, 'invalid_argument', 'chunk_length_s'],
  ];
  const titled = refused.map((one, i) => [`${one[0]}, ${i}: ${one[4]}`, ...one] as const);
  it.each(titled)('%s', async (_, name, given, options, code, word) => {
    await using pipe = await pipeline(pipelineCase(name).op as 'fill-mask', filesFor(name), here);
    const failure = await failureOf(() =>
      (pipe as unknown as (...all: unknown[]) => Promise<unknown>)(...given, options),
    );
    expect(failure.message).toContain(word);
    expect(failure.code).toBe(code);
  });

  it('a language where the model knows but one', async () => {
    await using pipe = await pipeline(
      'automatic-speech-recognition',
      filesOf({ ...pipelineCase('speech'), generation_config: { max_length: 9 } }),
      here,
    );
    expect((await pipe(sound(0, 900))).text).toEqual(expect.any(String));
    expect((await failureOf(() => pipe(sound(0, 900), { language: 'en' }))).message).toContain('language');
  });

  it('a conversation without a template', async () => {
    const files = filesFor('texts');
    const { chat_template, ...config } = JSON.parse(new TextDecoder().decode(files['tokenizer_config.json']));
    const bare = { ...files, 'tokenizer_config.json': jsonFile(config) };
    const chat = [{ role: 'user', content: 'is the man in rome' }];
    const plain = await pipeline('text-generation', bare, here);
    expect((await failureOf(() => plain(chat))).message).toContain('chat_template');
    const beside = await pipeline(
      'text-generation',
      { ...bare, 'chat_template.jinja': new TextEncoder().encode(chat_template) },
      here,
    );
    const [wanted] = pipelineCase('texts').calls.filter(
      ({ arguments: [first] }) => JSON.stringify(first) === JSON.stringify(chat),
    );
    expect(await beside(chat, { max_new_tokens: 8 })).toEqual(wanted?.answer);
    expect(await plain(chat, { max_new_tokens: 8, chat_template })).toEqual(wanted?.answer);
    const other = { ...files, 'chat_template.jinja': new TextEncoder().encode('she') };
    const both = await pipeline('text-generation', other, here); // upstream prefers the separate file as well
    const [told] = await both(chat, { max_new_tokens: 3, return_full_text: false });
    expect([told]).toEqual(await both('she', { max_new_tokens: 3, return_full_text: false }));
    await both.dispose();
    await Promise.all([plain.dispose(), beside.dispose()]);
  });
});
