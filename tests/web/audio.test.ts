// Audio: WAV files, resampling, and Whisper's feature extraction against transformers.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AudioInput, read_audio } from '../../web/src/audio/audio_input.js';
import { AutoFeatureExtractor } from '../../web/src/audio/auto_feature_extractor.js';
import { WhisperFeatureExtractor } from '../../web/src/audio/feature_extractor.js';
import type { FeatureExtractorCallOptions } from '../../web/src/audio/feature_extractor_call.js';
import { resample_audio } from '../../web/src/audio/sample_rate.js';
import { readWav } from '../../web/src/audio/wav.js';
import { AutoProcessor } from '../../web/src/pipelines/auto_processor.js';
import { sharedEngine } from '../../web/src/primitives/shared_core.js';
import { configure } from '../../web/src/support/config.js';
import { atOnce } from '../../web/src/support/steps.js';
import { casesOf, tensorsOf } from './support/references.js';
import { variants } from './support/variants.js';

const codeOf = async (work: () => unknown): Promise<{ code: string; message: string }> =>
  (async () => work())().then(
    () => ({ code: 'no error', message: '' }),
    (error) => error,
  );

interface Wav {
  tag?: number;
  channels?: number;
  rate?: number;
  bits?: number;
  data?: number[];
  /** Use WAVEFORMATEXTENSIBLE. */
  extensible?: boolean;
  /** A wrong length stated for the samples. */
  stated?: number;
  /** Bytes after the samples. */
  after?: number[];
  /** A wrong length stated for the whole file. */
  whole?: number;
}

/** A WAV file with a chunk of odd length before its samples. */
function wav({ tag = 1, channels = 1, rate = 16000, bits = 16, data = [], extensible, ...wrong }: Wav): Uint8Array {
  const { stated = data.length, after = [], whole } = wrong;
  const u16 = (value: number) => [value & 255, (value >> 8) & 255];
  const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
  const name = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));
  const frame = (channels * bits) / 8;
  const format = [...u16(extensible ? 0xfffe : tag), ...u16(channels), ...u32(rate), ...u32(rate * frame)];
  format.push(...u16(frame), ...u16(bits));
  if (extensible) format.push(...u16(22), ...u16(bits), ...u32(0), ...u16(tag), ...new Array(14).fill(7));
  const parts = [...name('fmt '), ...u32(format.length), ...format, ...name('LIST'), ...u32(3), 1, 2, 3, 0];
  parts.push(...name('data'), ...u32(stated), ...data, ...after);
  return Uint8Array.from([...name('RIFF'), ...u32(whole ?? parts.length + 4), ...name('WAVE'), ...parts]);
}

describe('WAV files', () => {
  it('of every encoding become parts of 1', () => {
    const floats = [...new Uint8Array(Float32Array.of(0.25, -1).buffer)];
    for (const [file, expected] of [
      [{ bits: 8, data: [128, 0, 255] }, [0, -1, 127 / 128]],
      [{ bits: 16, data: [0, 0x80, 0xff, 0x7f, 0xff, 0xff] }, [-1, 32767 / 32768, -1 / 32768]],
      [{ bits: 24, data: [0, 0, 0x80, 0xff, 0xff, 0x7f, 1, 0, 0] }, [-1, 1 - 2 ** -23, 2 ** -23]],
      [{ bits: 32, data: [0, 0, 0, 0x80, 0, 0, 0, 0x40] }, [-1, 0.5]],
      [{ tag: 3, bits: 32, data: floats }, [0.25, -1]],
      [{ tag: 3, bits: 32, data: floats, extensible: true }, [0.25, -1]],
      [{ tag: 3, bits: 64, data: [...new Uint8Array(Float64Array.of(0.25, -1).buffer)] }, [0.25, -1]], // SciPy's of doubles
      // G.711's largest and smallest sizes, and others as Chromium decodes them
      [{ tag: 6, bits: 8, data: [0xaa, 0x2a, 0xd5, 0x55] }, [32256, -32256, 8, -8].map((size) => size / 32768)],
      [{ tag: 7, bits: 8, data: [0x80, 0, 0xff, 0x7f] }, [32124, -32124, 0, 0].map((size) => size / 32768)],
      [{ tag: 6, bits: 8, data: [0, 0x37, 0x81, 0xc4] }, [-5504, -9472, 5248, 280].map((size) => size / 32768)],
      [{ tag: 7, bits: 8, data: [1, 0x37, 0x81, 0xc4] }, [-31100, -3004, 31100, 1628].map((size) => size / 32768)],
      [{ tag: 7, bits: 8, data: [0x80], extensible: true }, [32124 / 32768]],
      [{ bits: 16, data: [0, 0x40], stated: 0xffffffff }, [0.5]],
      [{ bits: 16, data: [0, 0x40], stated: 0, whole: 0 }, [0.5]], // as written to a pipe
      [{ bits: 16, data: [0, 0x40], stated: 0, whole: 36 }, [0.5]],
      [{ bits: 16, after: [0x4c, 0x49, 0x53, 0x54, 2, 0, 0, 0, 1, 2] }, []], // no samples, and a LIST
    ] as const) {
      const { channels, sampling_rate } = atOnce(readWav(wav(file as Wav)));
      expect([sampling_rate, channels.map((one) => [...one])]).toEqual([16000, [expected]]);
    }
  });

  it('and no others are decoded in Node, whose errors name the format', async () => {
    const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    for (const [start, format] of [
      ['FORM\0\0\n\0AIFF', 'AIFF'],
      ['FORM\0\0\0\0AIFC', 'AIFF'],
      ['fLaC\0\0\0\x22', 'FLAC'],
      ['OggS\0\x02', 'Ogg'],
      ['\0\0\0\x20ftypM4A ', 'MP4'],
      ['\x1aE\xdf\xa3', 'WebM'],
      ['RF64\xff\xff\xff\xffWAVE', 'WAV of more than 4 GB'],
      ['ID3\x04', 'MP3'],
      ['\xff\xfb\x90\x64', 'MP3'],
      ['\xff\xf1\x50\x80', 'AAC'],
      ['', 'empty'],
      ['RIFX\0\0\0\0WAVE', 'unknown'],
    ] as const) {
      const { code, message } = await codeOf(() => read_audio(latin(start)));
      expect([code, message]).toEqual(['unsupported', expect.stringMatching(`\\(${format}|of an ${format}`)]);
      expect(message).toContain('only WAV files are decoded here; convert it');
    }
  });

  it('of several channels are averaged', async () => {
    const stereo = wav({ channels: 2, data: [0, 0x40, 0, 0x20, 0, 0xc0, 0, 0] });
    expect(atOnce(readWav(stereo)).channels.map((one) => [...one])).toEqual([
      [0.5, -0.5],
      [0.25, 0],
    ]);
    for (const source of [stereo, stereo.slice().buffer, new Blob([stereo.slice()])]) {
      expect([...(await read_audio(source))]).toEqual([0.375, -0.25]);
    }
    const inside = new Uint8Array(stereo.length + 3);
    inside.set(stereo, 3);
    expect([...(await read_audio(inside.subarray(3)))]).toEqual([0.375, -0.25]);
  });

  it('end where their bytes do, whatever else is in the same memory', async () => {
    const memory = new Uint8Array(200).fill(1);
    const file = wav({ data: [0, 0x40], stated: 0xffffffff });
    memory.set(file, 10);
    expect([...(await read_audio(memory.subarray(10, 10 + file.length)))]).toEqual([0.5]);
    memory.set(wav({ data: [0, 0x40], stated: 4 }), 10);
    const failure = await codeOf(() => read_audio(memory.subarray(10, 10 + file.length)));
    expect([failure.code, failure.message]).toEqual(['malformed_file', expect.stringContaining('breaks off: 4 bytes')]);
  });

  it('that are broken or encoded otherwise are refused by name', async () => {
    const good = wav({ data: [1, 2, 3, 4] });
    for (const [bytes, code, part] of [
      [wav({ data: [1, 2], stated: 4 }), 'malformed_file', 'breaks off: 4 bytes'],
      [good.subarray(0, 30), 'malformed_file', "breaks off in its part 'fmt '"],
      [good.subarray(0, 36), 'malformed_file', 'no samples'],
      [wav({ channels: 0 }), 'malformed_file', '0 channels'],
      [wav({ rate: 0 }), 'malformed_file', '0 Hz'],
      [wav({ tag: 2, bits: 4 }), 'unsupported', 'encoding 2'],
      [wav({ tag: 3, bits: 16 }), 'unsupported', '16 bits'],
      [wav({ bits: 64 }), 'unsupported', '64 bits'],
      [new Uint8Array(20), 'unsupported', 'only WAV'],
    ] as const) {
      const failure = await codeOf(() => read_audio(bytes));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(part)]);
    }
    const fast = new File([wav({ rate: 2 ** 30 }).slice()], 'fast.wav');
    for (const [rate, code, part] of [
      [16000, 'unsupported', 'fast.wav'],
      [0, 'invalid_argument', 'sampling rates'],
    ] as const) {
      const failure = await codeOf(() => read_audio(fast, rate));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(part)]);
    }
    const gone = good.slice().buffer;
    structuredClone(gone, { transfer: [gone] });
    expect((await codeOf(() => read_audio(gone))).code).toBe('file_not_found');
    for (const source of [null, 3, [1, 2], { data: [1], sampling_rate: 3 }, { data: new Float32Array(2) }]) {
      expect((await codeOf(() => read_audio(source as unknown as AudioInput))).code).toBe('invalid_argument');
    }
    for (const sampling_rate of [0, -1, 1.5, Number.NaN]) {
      const sound = { data: new Float32Array(2), sampling_rate };
      expect((await codeOf(() => read_audio(sound))).code).toBe('invalid_argument');
    }
  });
});

/** A sine of amplitude 1. */
const tone = (hertz: number, rate: number, count: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate));

const decibels = (ratio: number) => 20 * Math.log10(ratio);

describe('other sampling rates', () => {
  const odd = 44101; // no common divisor: each sample has weights of its own, which takes time
  const rates = [8000, 11025, 22050, 24000, 32000, 44100, 48000, 96000, odd];

  it.each(rates)('%i Hz keeps tones in the pass band as they are', (rate) => {
    const lower = Math.min(rate, 16000);
    const tones = [lower * 0.44, 100, lower * 0.1, lower * 0.3];
    for (const hertz of rate === odd ? tones.slice(0, 2) : tones) {
      const found = resample_audio(tone(hertz, rate, rate), rate, 16000);
      expect(found.length).toBe(16000);
      const wanted = tone(hertz, 16000, 16000);
      // Away from the ends, beyond which there is silence. 0.001 dB is a factor of 1 + 1.2e-4.
      const worst = found
        .slice(2000, 14000)
        .reduce((most, x, i) => Math.max(most, Math.abs(x - (wanted[i + 2000] ?? 0))), 0);
      expect(worst, `${hertz} Hz`).toBeLessThan(1.2e-4);
    }
  });

  it.each(rates.filter((rate) => rate > 16000))('%i Hz folds nothing back', (rate) => {
    const tones = [8000, 9000, 8200, 10900].filter((one) => one < rate / 2);
    for (const hertz of rate === odd ? tones.slice(0, 2) : tones) {
      const found = resample_audio(tone(hertz, rate, rate), rate, 16000).slice(2000, 14000);
      const loudest = found.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      expect(decibels(loudest), `${hertz} Hz`).toBeLessThan(-110);
    }
  });

  it('goes up without images, and leaves equal rates alone', () => {
    const up = resample_audio(tone(1000, 8000, 8000), 8000, 16000);
    const found = up.slice(2000, 14000).map((x, i) => x - Math.sin((2 * Math.PI * 1000 * (i + 2000)) / 16000));
    expect(decibels(found.reduce((most, x) => Math.max(most, Math.abs(x)), 0))).toBeLessThan(-110);
    const same = tone(5, 100, 10);
    expect(resample_audio(same, 16000, 16000)).toBe(same);
    expect(resample_audio(new Float32Array(0), 8000, 16000).length).toBe(0);
    expect(resample_audio(new Float32Array(10), 44100, 16000).length).toBe(4);
  });
});

const whisper = { feature_extractor_type: 'WhisperFeatureExtractor' };

describe.each(variants)('Whisper, %s', (variant) => {
  beforeAll(() => {
    const file = new URL(`../../dist/clearformer-${variant}.wasm`, import.meta.url);
    configure({ wasmBinary: readFileSync(file), deterministic: variant === 'simd128' });
  });
  afterAll(() => configure({ wasmBinary: undefined, deterministic: undefined }));

  it.each(casesOf('log_mel'))('$name', async (one) => {
    const { repeat, num_samples, ...config } = one.options as Record<string, number>;
    const get = tensorsOf('log_mel', one);
    const samples = get('samples').data as Float32Array;
    const sound = Float32Array.from(
      { length: samples.length * Number(repeat) },
      (_, i) => samples[i % samples.length] ?? 0,
    );
    const chunk = num_samples === undefined ? {} : { chunk_length: num_samples / Number(config.sampling_rate) };
    const extractor = new WhisperFeatureExtractor({ ...whisper, ...config, ...chunk });
    const options: FeatureExtractorCallOptions =
      num_samples === undefined ? { padding: 'do_not_pad', truncation: false } : {};
    const { input_features, attention_mask } = await extractor(sound, options);
    expect(attention_mask).toBeUndefined();
    const { dims, data } = get('features');
    const frames = Array.from(get('frames').data, Number);
    expect(input_features.dims).toEqual([1, dims[0], one.num_frames]);
    const count = Number(one.num_frames);
    data.forEach((value, i) => {
      const at = Math.floor(i / frames.length) * count + (frames[i % frames.length] ?? 0);
      // See the bound in the C++ test of log_mel_spectrogram.
      expect(Math.abs(Number(input_features.data[at]) - Number(value)), `element ${i}`).toBeLessThan(1.3e-6);
    });
  });

  it('takes batches, and says which frames are sound', async () => {
    const extractor = new WhisperFeatureExtractor({ ...whisper, chunk_length: 1 });
    const [short, long] = [tone(440, 16000, 1000), tone(300, 16000, 20000)];
    const both = await extractor([short, long], { return_attention_mask: true });
    expect(both.input_features.dims).toEqual([2, 80, 100]);
    const counts = [0, 1].map(
      (row) => both.attention_mask?.data.slice(row * 100, row * 100 + 100).filter(Boolean).length,
    );
    expect(counts).toEqual([7, 100]);
    const alone = (await extractor(long)).input_features;
    expect(both.input_features.data.slice(8000)).toEqual(alone.data);
    const longest = await extractor([short, long], { padding: 'longest', truncation: false });
    expect(longest.input_features.dims).toEqual([2, 80, 125]);
    const cut = await extractor(long, { max_length: 3200 });
    expect(cut.input_features.dims).toEqual([1, 80, 20]);
  });

  it('resamples what has another rate', async () => {
    const extractor = new WhisperFeatureExtractor({ ...whisper, chunk_length: 1 });
    const own = (await extractor(tone(500, 16000, 16000))).input_features.data;
    const other = (await extractor({ data: tone(500, 48000, 48000), sampling_rate: 48000 })).input_features.data;
    // In the middle of the audio, where the filter's response peaks.
    const loudest = own.reduce((best, value, i) => (i % 100 === 50 && value > (own[best] ?? 0) ? i : best), 50);
    expect(Math.abs((own[loudest] ?? 0) - (other[loudest] ?? 0))).toBeLessThan(1e-4);
  });

  it('computes where a model does', async () => {
    const extractor = new WhisperFeatureExtractor({ ...whisper, chunk_length: 1 });
    const engine = await sharedEngine();
    const calls: string[] = [];
    const watched = Object.create(engine, {
      call: {
        value: (name: 'log_mel_spectrogram', given: never, signal?: AbortSignal) => {
          calls.push(name);
          return engine.call(name, given, signal);
        },
      },
    });
    const sound = tone(440, 16000, 3000);
    const moved = await extractor.on(watched)(sound);
    expect(moved.input_features.data).toEqual((await extractor(sound)).input_features.data);
    expect(calls).toEqual(['log_mel_spectrogram']);
  });

  it('takes doubles, as wavefile gives them, and is its own part, as in transformers.js', async () => {
    const extractor = new WhisperFeatureExtractor(whisper);
    const sound = tone(440, 16000, 3000);
    const expected = await extractor(sound);
    expect(await extractor(Float64Array.from(sound))).toEqual(expected);
    expect(await extractor({ data: Float64Array.from(sound), sampling_rate: 16000 })).toEqual(expected);
    expect(extractor.feature_extractor).toBe(extractor);
  });

  it('refuses what does not fit', async () => {
    const extractor = new WhisperFeatureExtractor(whisper);
    const sound = new Float32Array(1000);
    for (const [audio, options, code] of [
      [[], undefined, 'invalid_argument'],
      [[sound, new Float32Array(900)], { padding: 'do_not_pad' }, 'shape_mismatch'],
      [new Float32Array(100), { padding: 'do_not_pad' }, 'invalid_argument'],
      [sound, { padding: 'min' }, 'invalid_argument'],
      [sound, { max_length: 0 }, 'invalid_argument'],
      [sound, { truncation: 1 }, 'invalid_argument'],
      [sound, { do_normalize: true }, 'unsupported'],
    ] as const) {
      const failure = await codeOf(() => extractor(audio as Float32Array, options as FeatureExtractorCallOptions));
      expect([failure.message, failure.code]).toEqual([failure.message, code]);
    }
    const reason = new Error('enough');
    await expect(extractor(sound, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('feature extractor files', () => {
  const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

  it('are the part of processor_config.json, or preprocessor_config.json', async () => {
    const old = { 'preprocessor_config.json': text({ ...whisper, feature_size: 128, n_samples: 480000, dither: 0.0 }) };
    const { features } = await AutoFeatureExtractor.from_pretrained(old);
    expect(features).toMatchObject({ feature_size: 128, n_fft: 400, chunk_length: 30 });
    const part = { feature_extractor: { ...whisper, feature_size: 64 } };
    const both = await AutoFeatureExtractor.from_pretrained({ ...old, 'processor_config.json': text(part) });
    expect(both.features.feature_size).toBe(64);
    expect((await codeOf(() => AutoFeatureExtractor.from_pretrained({}))).code).toBe('file_not_found');
  });

  it('need no type beside a Whisper, and those for images are told what reads them', async () => {
    const files = (config: object, model_type?: string) => ({
      'preprocessor_config.json': text(config),
      ...(model_type && { 'config.json': text({ model_type }) }),
    });
    const sound = { feature_size: 64, sampling_rate: 16000 };
    for (const read of [AutoFeatureExtractor, WhisperFeatureExtractor]) {
      expect((await read.from_pretrained(files(sound, 'whisper'))).features.feature_size).toBe(64);
    }
    expect((await AutoProcessor.from_pretrained(files(sound, 'whisper'))).feature_extractor).toBeDefined();
    expect((await WhisperFeatureExtractor.from_pretrained(files(sound))).features.feature_size).toBe(64);
    const unsupported = (part: string) => ({ code: 'unsupported', message: expect.stringContaining(part) });
    const untold = await codeOf(() => AutoFeatureExtractor.from_pretrained(files(sound, 'clap')));
    expect(untold).toMatchObject(unsupported('clap'));
    const images = { do_resize: true, image_mean: [0.5, 0.5, 0.5] };
    for (const type of [
      {},
      { image_processor_type: 'ViTImageProcessor' },
      { feature_extractor_type: 'ViTFeatureExtractor' },
    ]) {
      const failure = await codeOf(() => AutoFeatureExtractor.from_pretrained(files({ ...images, ...type }, 'vit')));
      expect(failure).toMatchObject(unsupported('AutoImageProcessor'));
      const { image_processor } = await AutoProcessor.from_pretrained(files({ ...images, ...type }, 'vit'));
      expect(image_processor?.image_processor_type).toBe('ViTImageProcessor');
    }
    const other = { ...sound, feature_extractor_type: 'ClapFeatureExtractor' };
    const failure = await codeOf(() => AutoProcessor.from_pretrained(files(other, 'clap')));
    expect(failure).toMatchObject(unsupported('feature_extractor_type ClapFeatureExtractor'));
  });

  it('are refused where they say what is not known', async () => {
    for (const [config, code, part] of [
      [{ feature_extractor_type: 'Wav2Vec2FeatureExtractor' }, 'unsupported', 'Wav2Vec2FeatureExtractor'],
      [{ dither: 1e-4 }, 'unsupported', 'dither'],
      [{ padding_side: 'left' }, 'unsupported', 'padding_side'],
      [{ preemphasis: 0.97 }, 'unsupported', 'preemphasis'],
      [{ n_fft: 0 }, 'malformed_config', 'n_fft'],
      [{ hop_length: '160' }, 'malformed_config', 'hop_length'],
      [{ return_attention_mask: 1 }, 'malformed_config', 'return_attention_mask'],
    ] as const) {
      const failure = await codeOf(() => new WhisperFeatureExtractor({ ...whisper, ...config }));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(part)]);
    }
  });
});
