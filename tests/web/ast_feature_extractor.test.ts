// The feature extraction of audio spectrogram transformers against transformers' ASTFeatureExtractor; its config file,
// options and errors.

import { readFileSync } from 'node:fs';
import { validate } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASTFeatureExtractor, type ASTFeatureExtractorOutput } from '../../web/src/audio/ast_feature_extractor.js';
import { AutoFeatureExtractor } from '../../web/src/audio/auto_feature_extractor.js';
import { WhisperFeatureExtractor } from '../../web/src/audio/feature_extractor.js';
import { AutoProcessor } from '../../web/src/pipelines/auto_processor.js';
import { sharedEngine } from '../../web/src/primitives/shared_core.js';
import { configure } from '../../web/src/support/config.js';
import { folderFiles, jsonFile } from './support/pipeline_cases.js';
import { casesOf, tensorsOf } from './support/references.js';
import { variants } from './support/variants.js';

const failureOf = async (work: () => unknown) =>
  (async () => work())().then(
    () => ({ code: 'no error', message: '' }),
    (error) => error,
  );
const files = (contents: Record<string, object>) =>
  Object.entries(contents).map(([name, content]) => new File([JSON.stringify(content)], name));
const ast = { feature_extractor_type: 'ASTFeatureExtractor' };
const noise = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i * i) / 4);

function use(variant: string): void {
  const file = new URL(`../../dist/clearformer-${variant}.wasm`, import.meta.url);
  configure({ wasmBinary: readFileSync(file), deterministic: variant === 'simd128' });
}
beforeAll(() => use('simd128'));
afterAll(() => configure({ wasmBinary: undefined, deterministic: undefined }));

describe.each(variants)('ASTFeatureExtractor, %s', (variant) => {
  beforeAll(() => use(variant));

  it.each(casesOf('log_mel_fbank'))('equals transformers: $name', async (one) => {
    const { repeat, ...config } = one.options as Record<string, number>;
    const get = tensorsOf('log_mel_fbank', one);
    const samples = get('samples').data as Float32Array;
    const count = samples.length * Number(repeat);
    const sound = Float32Array.from({ length: count }, (_, i) => samples[i % samples.length] ?? 0);
    const { input_values } = await new ASTFeatureExtractor({ ...ast, ...config })(sound);
    const [, bins = 0] = get('features').dims;
    expect(input_values.dims).toEqual([1, config.max_length, bins]);
    const frames = Array.from(get('frames').data, Number);
    // See the bound in the C++ test of log_mel_fbank.
    const bound = config.do_normalize
      ? ((2 + 2 * 112) * 2 ** -24) / Math.abs(2 * Number(config.std))
      : (2 + 2 * 32) * 2 ** -24;
    get('features').data.forEach((value, i) => {
      const at = (frames[Math.floor(i / bins)] ?? 0) * bins + (i % bins);
      expect(Math.abs(Number(input_values.data[at]) - Number(value)), `element ${i}`).toBeLessThan(bound);
    });
  });

  it('takes batches of sounds that differ in length, and computes where a model does', async () => {
    const extractor = new ASTFeatureExtractor({ ...ast, max_length: 10 });
    const sounds = [noise(500), noise(3000)];
    const { input_values } = await extractor(sounds);
    expect(input_values.dims).toEqual([2, 10, 128]);
    for (const [row, sound] of sounds.entries())
      expect(input_values.slice([row, row + 1])).toEqual((await extractor(sound)).input_values);
    const engine = await sharedEngine();
    const calls: string[] = [];
    const watched = Object.create(engine, {
      call: {
        value: (name: 'log_mel_fbank', given: never, signal?: AbortSignal) => {
          calls.push(name);
          return engine.call(name, given, signal);
        },
      },
    });
    expect(await extractor.on(watched)(sounds)).toEqual({ input_values });
    expect(calls).toEqual(['log_mel_fbank', 'log_mel_fbank']);
    expect(extractor.feature_extractor).toBe(extractor);
  });

  it('may compute beside Whisper, and be aborted', async () => {
    const [own, other] = [new ASTFeatureExtractor(ast), new WhisperFeatureExtractor({})];
    const sound = noise(160_000);
    const expected = [await own(sound), await other(sound)];
    expect(await Promise.all([own(sound), other(sound), own(sound)])).toEqual([...expected, expected[0]]);
    const stop = new AbortController();
    const waiting = own([sound, sound], { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')));
    await expect(waiting).rejects.toThrow('enough');
    expect(await own(sound)).toEqual(expected[0]);
  });
});

describe('the options of a call', () => {
  const extractor = new ASTFeatureExtractor({ ...ast, max_length: 4 });

  it('name the rate of samples, which are resampled where they have another', async () => {
    const own = await extractor(noise(800), { sampling_rate: 16000 });
    expect(own).toEqual(await extractor(noise(800)));
    const { input_values } = await extractor({ data: noise(1600), sampling_rate: 32000 }, { sampling_rate: 16000 });
    expect(input_values.dims).toEqual([1, 4, 128]);
  });

  it.each([
    [noise(800), { sampling_rate: 8000 }, 'sampling_rate is 8000, and the model'],
    [noise(399), {}, '399 samples, at least 400'],
    [[noise(400), noise(0)], {}, '0 samples, at least 400'],
    [[], {}, 'at least one sound'],
    [[0.1, 0.2], {}, 'sound is a Float32Array'],
    [null, {}, 'sound is a Float32Array'],
  ])('or sounds that cannot be are refused (%#)', async (sound, options, named) => {
    const failure = await failureOf(() => extractor(sound as never, options as never));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining(named)]);
  });
});

it.each(['padding', 'truncation', 'max_length'])(
  'the option %s, without effect in transformers, is refused',
  async (option) => {
    const failure = await failureOf(() => new ASTFeatureExtractor(ast)(noise(800), { [option]: 8 } as never));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining(`'${option}'`)]);
  },
);

describe('preprocessor_config.json', () => {
  // As transformers writes it.
  const written = {
    ...ast,
    do_normalize: true,
    feature_size: 1,
    max_length: 1024,
    mean: -4.2677393,
    num_mel_bins: 128,
    padding_side: 'right',
    padding_value: 0.0,
    return_attention_mask: false,
    sampling_rate: 16000,
    std: 4.5689974,
  };

  it('is read, also without a type, from all places', async () => {
    const { feature_extractor_type: _, ...untyped } = written;
    const changed = { ...written, max_length: 6, num_mel_bins: 40 };
    for (const content of [
      files({ 'preprocessor_config.json': changed }),
      files({ 'processor_config.json': { feature_extractor: changed } }),
      files({
        'preprocessor_config.json': { ...untyped, max_length: 6, num_mel_bins: 40 },
        'config.json': { model_type: 'audio-spectrogram-transformer' },
      }),
    ]) {
      const extractor = await AutoFeatureExtractor.from_pretrained<ASTFeatureExtractor>(content);
      expect(extractor).toBeInstanceOf(ASTFeatureExtractor);
      expect(extractor.features).toEqual({
        num_mel_bins: 40,
        sampling_rate: 16000,
        max_length: 6,
        do_normalize: true,
        mean: -4.2677393,
        std: 4.5689974,
      });
      const own = await ASTFeatureExtractor.from_pretrained(content);
      expect(own.features).toEqual(extractor.features);
      const processor = await AutoProcessor.from_pretrained(content);
      const { input_values } = await processor<ASTFeatureExtractorOutput>(noise(1000));
      expect(input_values.dims).toEqual([1, 6, 40]);
    }
  });

  it('may have what AST does not read', async () => {
    const inert = { feature_size: 3, padding_value: 1, padding_side: 'left', return_attention_mask: true, window: [1] };
    const { input_values } = await new ASTFeatureExtractor({ ...written, max_length: 4, ...inert, mean: null })(
      noise(600),
    );
    expect(input_values).toEqual((await new ASTFeatureExtractor({ max_length: 4 })(noise(600))).input_values);
  });

  it.each([
    [{ feature_extractor_type: 'WhisperFeatureExtractor' }, 'unsupported', 'WhisperFeatureExtractor'],
    [{ hop_length: 160 }, 'unsupported', 'hop_length'],
    [{ dither: 1 }, 'unsupported', 'dither'],
    [{ num_mel_bins: 0 }, 'malformed_config', 'num_mel_bins'],
    [{ num_mel_bins: 1e4 }, 'malformed_config', 'num_mel_bins'],
    [{ max_length: 2.5 }, 'malformed_config', 'max_length'],
    [{ sampling_rate: 41 }, 'malformed_config', 'sampling_rate must be at least 42'],
    [{ do_normalize: 1 }, 'malformed_config', 'do_normalize'],
    [{ mean: '-4' }, 'malformed_config', 'mean'],
    [{ std: 0 }, 'malformed_config', 'std must be a number other than 0'],
    [{ std: [4.5] }, 'malformed_config', 'std'],
  ])('is refused with %j', async (config, code, named) => {
    const failure = await failureOf(() => new ASTFeatureExtractor({ ...written, ...config }));
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(named)]);
  });
});

it("validate compares the features with the model's inputs", async () => {
  const held = folderFiles('models/audio_spectrogram_transformer/even_sequence_classification');
  const told = async (more: object) => {
    const { problems } = await validate({ ...held, 'preprocessor_config.json': jsonFile({ ...ast, ...more }) });
    return problems.map(({ message }) => message);
  };
  expect(await told({ num_mel_bins: 10, max_length: 15 })).toEqual([]);
  expect(await told({ num_mel_bins: 12 })).toEqual([
    'preprocessor_config.json: num_mel_bins is 12, and the model reads 10 mel bins',
    'preprocessor_config.json: max_length is 1024, and the model reads 15 frames',
  ]);
});
