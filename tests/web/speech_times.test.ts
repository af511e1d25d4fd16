// Timestamps of speech: segments and words against transformers' pipeline, in passes and in chunks.

import { configure, pipeline, read_audio, validate } from 'clearformer';
import { describe, expect, it, vi } from 'vitest';
import { checkpointFolder } from '../../scripts/models/checkpoints.js';
import { languageId, nameOfLanguage } from '../../web/src/text/whisper_languages.js';
import { failureOf } from './support/failures.js';
import { argumentsOf, expectAnswer, filesOf, jsonFile, type PipelineCase, sound } from './support/pipeline_cases.js';
import { casesOf, fixturePath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

interface RealCall {
  options: { language: string; return_timestamps: true | 'word' };
  answer: unknown;
}

const [tiny, real, upstream] = casesOf<unknown>('speech') as [
  PipelineCase,
  { calls: RealCall[] },
  { languages: Record<string, string>; codes: Record<string, string> },
];
const here = { deterministic: true };

describe.each(variants)('%s: random weights', (variant) => {
  it('has the times that transformers has', { timeout: 120_000 }, async () => {
    await using pipe = await pipeline('automatic-speech-recognition', filesOf(tiny), optionsFor(variant));
    for (const [i, { arguments: given, options, answer }] of tiny.calls.entries()) {
      const [samples] = argumentsOf(given) as [Float32Array];
      expectAnswer(await pipe(samples, options), answer, `call ${i}, ${JSON.stringify([given, options])}`);
    }
  });
});

describe('whisper-tiny', () => {
  it('has the times of speech that transformers has, of long sound in passes and in chunks', {
    timeout: 600_000,
  }, async () => {
    const folder = checkpointFolder('whisper-tiny');
    const files = [fixturePath('real_models/jfk.wav'), `${folder}/a13.wav`];
    const [jfk, a13] = (await Promise.all(files.map((file) => read_audio(file)))) as [Float32Array, Float32Array];
    const sound = new Float32Array(a13.length + jfk.length);
    sound.set(a13);
    sound.set(jfk, a13.length);
    await using pipe = await pipeline('automatic-speech-recognition', folder, { ...here, worker: true });
    for (const { options, answer } of real.calls) {
      expectAnswer(await pipe(sound, options), answer, JSON.stringify(options));
    }
  });
});

describe('what is asked for', () => {
  const files = () => filesOf(tiny);

  it('thresholds of second tries in generation_config.json are told to have no effect', async () => {
    const heard: string[] = [];
    configure({ onWarning: ({ code, message }) => heard.push(`${code}: ${message}`) });
    const own = files();
    const name = 'generation_config.json';
    const config = JSON.parse(new TextDecoder().decode(own[name]));
    const withSettings = (more: object) => ({
      ...own,
      [name]: new TextEncoder().encode(JSON.stringify({ ...config, ...more })),
    });
    try {
      const quiet = { logprob_threshold: null, condition_on_prev_tokens: false };
      await (await pipeline('automatic-speech-recognition', withSettings(quiet), here)).dispose();
      expect(heard).toEqual([]);
      const asking = { logprob_threshold: -1, no_speech_threshold: 0.6 };
      await (await pipeline('automatic-speech-recognition', withSettings(asking), here)).dispose();
      expect(heard).toEqual([expect.stringMatching(/^no_fallback: .*logprob_threshold, no_speech_threshold/)]);
    } finally {
      configure({ onWarning: undefined });
    }
  });

  it('the order of an example: text, chunks, timestamp', async () => {
    await using pipe = await pipeline('automatic-speech-recognition', files(), here);
    const { text, chunks } = await pipe(sound(0, 1400), { language: 'en', return_timestamps: true });
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
    for (const { timestamp } of chunks) expect(timestamp).toHaveLength(2);
    expect(await pipe(sound(0, 1400), { language: 'en' })).toEqual({ text: expect.any(String) });
    const several = await pipe([sound(0, 1400), sound(1, 900)], { language: 'en', return_timestamps: true });
    expect(several[0]).toEqual({ text, chunks });
    expect(several).toHaveLength(2);
  });

  it('generation_config.json may ask for times; a call may not want them', async () => {
    const config = { ...tiny.generation_config, return_timestamps: true };
    await using pipe = await pipeline(
      'automatic-speech-recognition',
      filesOf({ ...tiny, generation_config: config }),
      here,
    );
    expect((await pipe(sound(0, 1400), { language: 'en' })).chunks).toBeDefined();
    expect((await pipe(sound(0, 1400), { language: 'en', return_timestamps: false })).chunks).toBeUndefined();
    const asked = { language: 'en', generation_config: { return_timestamps: false } };
    expect((await pipe(sound(0, 1400), asked as object)).chunks).toBeUndefined();
  });

  const { lang_to_id, task_to_id } = tiny.generation_config as Record<string, object>;
  const told = (more: object) => filesOf({ ...tiny, generation_config: { ...tiny.generation_config, ...more } });

  it.each<[object, string]>([
    ...[{}, [], 5, { en: 3 }].map((value): [object, string] => [{ lang_to_id: value }, 'lang_to_id']),
    ...[{}, [], 5, { translate: 6 }].map((value): [object, string] => [{ task_to_id: value }, 'task_to_id']),
    ...['x', 1.5, -1, 70_000, null].flatMap((id): [object, string][] => [
      [{ lang_to_id: { ...lang_to_id, '<|de|>': id } }, 'lang_to_id[<|de|>]'],
      [{ task_to_id: { ...task_to_id, transcribe: id } }, 'task_to_id[transcribe]'],
    ]),
    ...['klingon', 5].map((language): [object, string] => [{ language }, 'language must be']),
    ...['sing', 5].map((task): [object, string] => [{ task }, 'task must be']),
    [{ task: 'translate', task_to_id: { transcribe: 5 } }, 'task must be'],
  ])('%j in generation_config.json is refused', async (more, key) => {
    const failure = await failureOf(() => pipeline('automatic-speech-recognition', told(more), here));
    expect(failure).toMatchObject({ code: 'malformed_config', details: { file: 'generation_config.json' } });
    expect(failure.message).toContain(key);
    const { problems } = await validate(told(more));
    expect(problems).toContainEqual(expect.objectContaining({ message: failure.message, severity: 'error' }));
    await (await pipeline('automatic-speech-recognition', told({ ...more, is_multilingual: false }), here)).dispose();
  });

  it.each([[[[9, 9]]], [[[0, 1.5]]], [[5]], ['x']])(
    'alignment_heads %j are refused where words are timed',
    async (alignment_heads) => {
      await using pipe = await pipeline('automatic-speech-recognition', told({ alignment_heads }), here);
      await pipe(sound(0, 1400), { language: 'en', return_timestamps: true });
      const failure = await failureOf(() => pipe(sound(0, 1400), { language: 'en', return_timestamps: 'word' }));
      expect(failure).toMatchObject({ code: 'malformed_config', message: expect.stringContaining('alignment_heads') });
      const { problems } = await validate(told({ alignment_heads }));
      expect(problems).toContainEqual(expect.objectContaining({ message: failure.message, severity: 'warning' }));
    },
  );

  it('null in generation_config.json is as if it were not there; a task without a token is refused', async () => {
    const spoken = async (more: object, config = {}, options = {}) => {
      const own = filesOf({ ...tiny, generation_config: { ...tiny.generation_config, ...more }, config });
      await using pipe = await pipeline('automatic-speech-recognition', own, here);
      return await pipe(sound(0, 1400), options);
    };
    const { decoder_start_token_id } = JSON.parse(new TextDecoder().decode(files()['generation_config.json']));
    const usual = await spoken({});
    expect(await spoken({ decoder_start_token_id: null }, { decoder_start_token_id })).toEqual(usual);
    const nulls = { is_multilingual: null, language: null, task: null, return_timestamps: null };
    expect(await spoken(nulls)).toEqual(usual);
    for (const key of ['lang_to_id', 'task_to_id', 'no_timestamps_token_id'])
      expect(await spoken({ [key]: null })).toEqual(await spoken({ [key]: undefined }));
    const failure = await failureOf(() => spoken({ task_to_id: { transcribe: 5 } }, {}, { task: 'translate' }));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('translate') });
  });

  it("validate compares the spectrogram's bins with the model's", async () => {
    const own = files();
    const name = 'preprocessor_config.json';
    const config = JSON.parse(new TextDecoder().decode(own[name]));
    const bins = config.feature_size + 1;
    const { problems } = await validate({ ...own, [name]: jsonFile({ ...config, feature_size: bins }) });
    expect(problems.map(({ message }) => message)).toContainEqual(
      `${name}: feature_size is ${bins}, and the model reads ${config.feature_size} mel bins`,
    );
  });

  it("the first token is config.json's where generation_config.json names none", async () => {
    const { decoder_start_token_id, ...generation_config } = tiny.generation_config as Record<string, unknown>;
    const own = filesOf({ ...tiny, generation_config, config: { decoder_start_token_id } });
    const load = (files: typeof own) => pipeline('automatic-speech-recognition', files, here);
    await using one = await load(own);
    await using other = await load(filesOf(tiny));
    expect(await one(sound(0, 1400))).toEqual(await other(sound(0, 1400)));
  });

  it('the first token is the one that is given', async () => {
    const generation_config = { ...tiny.generation_config, decoder_start_token_id: 8 };
    await using one = await pipeline('automatic-speech-recognition', filesOf({ ...tiny, generation_config }), here);
    await using other = await pipeline('automatic-speech-recognition', files(), here);
    const wanted = await one(sound(0, 1400), { language: 'en' });
    expect(await other(sound(0, 1400), { language: 'en', decoder_start_token_id: 8n })).toEqual(wanted);
    expect(await other(sound(0, 1400), { language: 'en' })).not.toEqual(wanted);
  });

  it('forced_decoder_ids name language and task, those of generation_config.json before those of config.json', async () => {
    const spoken = async (generation: unknown, config: unknown, options: object = {}) => {
      const generation_config = { ...tiny.generation_config, forced_decoder_ids: generation };
      const own = filesOf({ ...tiny, generation_config, config: { forced_decoder_ids: config } });
      await using pipe = await pipeline('automatic-speech-recognition', own, here);
      return (await pipe(sound(0, 1400), options)).text;
    };
    const wanted = await spoken(null, null, { language: 'fr', task: 'translate' });
    const french = [
      [1, 4],
      [2, 6],
    ];
    const english = [
      [1, 3],
      [2, 5],
    ];
    expect(await spoken(french, null)).toBe(wanted);
    expect(await spoken(null, [...french, [3, 60]])).toBe(wanted);
    expect(await spoken(french, english)).toBe(wanted);
    expect(await spoken(french, null, { language: 'en' })).not.toBe(wanted);
    expect(await spoken(english, english, { forced_decoder_ids: french })).toBe(wanted);
    expect(await spoken(english, english, { forced_decoder_ids: french.map((pair) => pair.map(BigInt)) })).toBe(wanted);
    expect(await spoken(null, null, { generation_config: { forced_decoder_ids: french } })).toBe(wanted);
    const both = await failureOf(() => spoken(null, null, { forced_decoder_ids: french, language: 'fr' }));
    expect([both.code, both.message]).toEqual(['invalid_argument', expect.stringContaining('language')]);
    expect(await spoken([[2, 6]], null)).toBe(await spoken(null, null));
    const failure = await failureOf(() => spoken(null, [[1, 4], [3]]));
    expect(failure).toMatchObject({ code: 'malformed_config', message: expect.stringContaining('forced_decoder_ids') });
  });

  it('a language has several names', async () => {
    const lang_to_id = { '<|en|>': 3, '<|es|>': 4 };
    const own = filesOf({ ...tiny, generation_config: { ...tiny.generation_config, lang_to_id } });
    await using pipe = await pipeline('automatic-speech-recognition', own, here);
    const said = async (language: string) => (await pipe(sound(0, 1400), { language })).text;
    const spanish = await said('es');
    expect(spanish).not.toBe(await said('en'));
    expect([await said('Spanish'), await said('castilian')]).toEqual([spanish, spanish]);
    const failure = await failureOf(() => said('mandarin'));
    expect(failure).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('mandarin') });
  });

  it.each([
    ['names all of them', (name: string | undefined) => name],
    ['has other names', (name: string | undefined, code: string) => (/^(bn|mi)$/.test(code) ? `${name} x` : name)],
    ['lacks some', (name: string | undefined, code: string) => (/^(ba|bn|bo|mi)$/.test(code) ? code : name)],
  ])('languages have upstream’s names where the engine %s', (_, named) => {
    const own = Intl.DisplayNames.prototype.of;
    const spy = vi.spyOn(Intl.DisplayNames.prototype, 'of').mockImplementation(function (
      this: Intl.DisplayNames,
      code: string,
    ) {
      return named(own.call(this, code), code);
    });
    try {
      const codes = Object.keys(upstream.languages);
      expect(codes).toHaveLength(100);
      expect(Object.fromEntries(codes.map((code) => [code, nameOfLanguage(code)]))).toEqual(upstream.languages);
      const ids = Object.fromEntries(codes.map((code, i) => [`<|${code}|>`, i]));
      const found = Object.keys(upstream.codes).map((name) => [name, codes[languageId(name, ids)]]);
      expect(Object.fromEntries(found)).toEqual(upstream.codes);
    } finally {
      spy.mockRestore();
    }
  });

  it('results do not depend on how many chunks go through the model together', async () => {
    await using pipe = await pipeline('automatic-speech-recognition', files(), here);
    const options = { language: 'en', return_timestamps: 'word', chunk_length_s: 1, stride_length_s: 0.2 } as const;
    const one = await pipe(sound(4, 5200), options);
    expect(await pipe(sound(4, 5200), { ...options, batch_size: 4 })).toEqual(one);
  });

  it('a worker gives the same, and an abort ends it', async () => {
    await using pipe = await pipeline('automatic-speech-recognition', files(), { ...here, worker: true });
    await using same = await pipeline('automatic-speech-recognition', files(), here);
    const options = { language: 'fr', return_timestamps: 'word' } as const;
    expect(await pipe(sound(2, 4500), options)).toEqual(await same(sound(2, 4500), options));
    const reason = new Error('enough');
    const controller = new AbortController();
    const streamer = { put: () => controller.abort(reason), end: () => {} };
    await expect(pipe(sound(2, 4500), { ...options, streamer, signal: controller.signal })).rejects.toBe(reason);
  });

  it.each([
    [{ return_timestamps: 'char' }, 'invalid_argument', 'return_timestamps'],
    [{ return_language: 'yes' }, 'invalid_argument', 'return_language'],
    [{ force_full_sequences: 1 }, 'invalid_argument', 'force_full_sequences'],
    [{ return_timestamps: true, force_full_sequences: true }, 'unsupported', 'force_full_sequences'],
    [{ num_frames: 3000 }, 'unsupported', 'num_frames'],
    [{ prompt_ids: [1] }, 'unsupported', 'prompt_ids'],
    [{ return_token_timestamps: true }, 'unsupported', 'return_token_timestamps'],
    [{ logprob_threshold: -1 }, 'unsupported', 'logprob_threshold'],
  ])('%o is refused', async (options, code, word) => {
    await using pipe = await pipeline('automatic-speech-recognition', files(), here);
    const failure = await failureOf(() => pipe(sound(0, 1400), { language: 'en', ...options } as object));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(word);
  });

  it('words need heads that follow the sound, times need their tokens', async () => {
    const { alignment_heads: _, ...headless } = tiny.generation_config as Record<string, unknown>;
    await using pipe = await pipeline(
      'automatic-speech-recognition',
      filesOf({ ...tiny, generation_config: headless }),
      here,
    );
    const words = await failureOf(() => pipe(sound(0, 1400), { language: 'en', return_timestamps: 'word' }));
    expect(words.message).toContain('alignment_heads');
    const bare = { is_multilingual: false, max_length: 20 };
    await using timeless = await pipeline(
      'automatic-speech-recognition',
      filesOf({ ...tiny, generation_config: bare }),
      here,
    );
    const times = await failureOf(() => timeless(sound(0, 1400), { return_timestamps: true }));
    expect(times.message).toContain('no_timestamps_token_id');
  });
});
