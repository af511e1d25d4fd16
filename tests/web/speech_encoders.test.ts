// wav2vec 2.0 and HuBERT: feature extraction, tokenizer and pipelines against transformers; hooks, edits, gradients and
// masks; what is refused.

import {
  AutoFeatureExtractor,
  AutoModel,
  AutoModelForAudioClassification,
  AutoModelForCTC,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  AutoProcessor,
  AutoTokenizer,
  type FeatureExtractorCallOptions,
  HubertForCTC,
  inspect,
  pipeline,
  type SpeechRecognitionOptions,
  Tensor,
  Wav2Vec2FeatureExtractor,
  type Wav2Vec2FeatureExtractorOutput,
  Wav2Vec2Model,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { run } from './support/command.js';
import { failureOf } from './support/failures.js';
import { casesOf, fixturePath, type Reference, readReferences } from './support/references.js';

const group = 'speech_encoders';
const folder = (name: string) => fixturePath(`${group}/${name}`);
const tensors = readReferences(folder(`${group}.safetensors`));
const cases = (op: string) => casesOf(group).filter((one) => one.op === op);
const soundOf = (key: string | undefined) => tensors.get(key ?? '')?.data as Float32Array;
const here = { worker: false } as const;

describe('feature extraction equals transformers', () => {
  it.each(cases('features').map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const { config, call } = one.options as { config: object; call: FeatureExtractorCallOptions };
    const sounds = Object.values(one.inputs).map(soundOf);
    const made = await new Wav2Vec2FeatureExtractor({ ...config })(sounds, call);
    expect(Object.keys(made).sort()).toEqual(Object.keys(one.outputs).sort());
    for (const [name, key] of Object.entries(one.outputs)) {
      const wanted = tensors.get(key) as Reference;
      const got = made[name as keyof typeof made] as Tensor;
      expect(got.dims).toEqual(wanted.dims);
      for (const [i, value] of wanted.data.entries()) {
        // Sums of 300 float32 samples there, of float64 here; values are up to 4.
        expect(Math.abs(Number(got.data[i]) - Number(value))).toBeLessThan(300 * 2 ** -24 * 4);
      }
    }
  });

  it('is loaded from the folder, whose processor calls it', async () => {
    const extractor = await AutoFeatureExtractor.from_pretrained<Wav2Vec2FeatureExtractor>(folder('classes'));
    expect(extractor).toBeInstanceOf(Wav2Vec2FeatureExtractor);
    expect(extractor.features).toEqual({
      sampling_rate: 16000,
      padding_value: 0,
      do_normalize: false,
      return_attention_mask: true,
    });
    const processor = await AutoProcessor.from_pretrained(folder('ctc'));
    const { input_values } = await processor<Wav2Vec2FeatureExtractorOutput>(soundOf('short.samples'));
    expect(input_values.dims).toEqual([1, 2000]);
    expect(processor.batch_decode([[6, 6, 0, 6, 5]])).toEqual(['TTE']);
  });

  it.each([
    [{ feature_extractor_type: 'WhisperFeatureExtractor' }, 'unsupported', 'WhisperFeatureExtractor'],
    [{ feature_size: 80 }, 'unsupported', 'feature_size'],
    [{ num_mel_bins: 80 }, 'unsupported', 'num_mel_bins'],
    [{ sampling_rate: 0 }, 'malformed_config', 'sampling_rate'],
    [{ do_normalize: 1 }, 'malformed_config', 'do_normalize'],
  ])('refuses %j', async (config, code, named) => {
    const failure = await failureOf(async () => new Wav2Vec2FeatureExtractor(config));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(named) });
  });

  it('refuses calls that say no length', async () => {
    const extractor = new Wav2Vec2FeatureExtractor({});
    const [short, long] = [new Float32Array(400), new Float32Array(500)];
    const refusals = [
      [[short, long], {}, 'shape_mismatch', '400, 500'],
      [short, { padding: 'max_length' }, 'invalid_argument', 'max_length'],
      [short, { truncation: true }, 'invalid_argument', 'max_length'],
      [short, { padding: 'best' }, 'invalid_argument', 'padding'],
      [new Float32Array(0), {}, 'invalid_argument', 'one sound'],
    ] as const;
    for (const [sound, options, code, named] of refusals) {
      const failure = await failureOf(() => extractor(sound, options as FeatureExtractorCallOptions));
      expect(failure).toMatchObject({ code, message: expect.stringContaining(named) });
    }
  });
});

describe('the tokenizer equals transformers', () => {
  it('decodes repeated tokens once', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(folder('ctc'));
    for (const { name, options, text, without_special } of cases('decode')) {
      const { ids } = options as { ids: number[] };
      expect(tokenizer.decode(ids), name).toBe(text);
      expect(tokenizer.decode(ids, { skip_special_tokens: true }), name).toBe(without_special);
    }
  });

  it('encodes characters', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(folder('ctc'));
    for (const { name, options, ids } of cases('encode')) {
      expect(tokenizer.encode((options as { text: string }).text), name).toEqual(ids);
    }
  });

  it.each([
    [{ do_lower_case: true }, 'do_lower_case'],
    [{ replace_word_delimiter_char: '_' }, 'replace_word_delimiter_char'],
    [{ target_lang: 'eng' }, 'target_lang'],
  ])('refuses %j', async (config, named) => {
    const files = {
      'tokenizer_config.json': JSON.stringify({ tokenizer_class: 'Wav2Vec2CTCTokenizer', ...config }),
      'vocab.json': JSON.stringify({ '<pad>': 0, '|': 1 }),
    };
    const failure = await failureOf(() => AutoTokenizer.from_pretrained(blobs(files)));
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining(named) });
  });
});

const blobs = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]));

describe('pipelines equal transformers', () => {
  it('automatic-speech-recognition, whole and in chunks', async () => {
    await using recognizer = await pipeline('automatic-speech-recognition', folder('ctc'), here);
    for (const { name, options, inputs, text } of cases('recognition')) {
      const { checkpoint: _, ...given } = options;
      const heard = await recognizer(soundOf(inputs.samples), given as SpeechRecognitionOptions);
      expect(heard, name).toEqual({ text });
    }
    const sounds = [soundOf('short.samples'), soundOf('long.samples')];
    expect((await recognizer(sounds)).map(({ text }) => text)).toEqual(
      ['short', 'long'].map((name) => cases('recognition').find((one) => one.name === name)?.text),
    );
    const refusals = [
      [{ return_timestamps: true }, 'unsupported', 'return_timestamps'],
      [{ stride_length_s: 1 }, 'invalid_argument', 'chunk_length_s'],
      [{ language: 'german' }, 'unsupported', 'language'],
      [{ batch_size: 0 }, 'invalid_argument', 'batch_size'],
    ] as const;
    for (const [options, code, named] of refusals) {
      const failure = await failureOf(() => recognizer(sounds, options as SpeechRecognitionOptions));
      expect(failure).toMatchObject({ code, message: expect.stringContaining(named) });
    }
    const failure = await failureOf(() => recognizer(new Float32Array(20)));
    expect(failure).toMatchObject({ code: 'shape_mismatch', message: expect.stringContaining('input_values') });
  });

  it('audio-classification', async () => {
    await using classify = await pipeline('audio-classification', folder('classes'), here);
    for (const { name, options, inputs, classes } of cases('classification')) {
      const { checkpoint: _, ...given } = options;
      const found = await classify(soundOf(inputs.samples), given);
      const wanted = classes as { label: string; score: number }[];
      expect(
        found.map(({ label }) => label),
        name,
      ).toEqual(wanted.map(({ label }) => label));
      for (const [i, { score }] of found.entries()) expect(score, name).toBeCloseTo(wanted[i]?.score ?? Number.NaN, 5);
    }
    expect(await classify([soundOf('short_best.samples')], { top_k: 1 })).toHaveLength(1);
  });

  it('without a task, and on the command line', async () => {
    await using classify = await pipeline(undefined, folder('classes'), here);
    expect(classify.task).toBe('audio-classification');
    const failure = await failureOf(() => pipeline('audio-classification', folder('ctc'), here));
    expect(failure).toMatchObject({
      code: 'missing_tensor',
      message: expect.stringContaining('automatic-speech-recognition'),
    });
    const { pipeline: own, pipelines, input_modalities, valid } = await inspect(folder('ctc'));
    expect({ own, pipelines, input_modalities, valid }).toEqual({
      own: 'automatic-speech-recognition',
      pipelines: ['audio-classification', 'automatic-speech-recognition'],
      input_modalities: ['audio'],
      valid: true,
    });
    const stdin = wavOf(soundOf('short.samples'));
    const made = await run(['transcribe', folder('ctc'), '-', '--json'], { stdin });
    const text = cases('recognition').find(({ name }) => name === 'short')?.text;
    expect(JSON.parse(made.out)).toEqual([{ file: '-', text }]);
  });
});

/** A WAV file of float32 samples at 16 kHz. */
function wavOf(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(44 + samples.byteLength);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => bytes.set(new TextEncoder().encode(word), at);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  for (const [i, value] of [16, 0x10003, 16000, 64000].entries()) view.setUint32(16 + 4 * i, value, true);
  view.setUint32(32, 0x200004, true);
  text(36, 'data');
  view.setUint32(40, samples.byteLength, true);
  bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), 44);
  return bytes;
}

const input_values = new Tensor(
  'float32',
  Float32Array.from({ length: 500 }, (_, i) => Math.sin(i * i)),
  [2, 250],
);
const attention_mask = [0, 1].map((row) => Array.from({ length: 250 }, (_, i) => (row === 0 || i < 150 ? 1 : 0)));

describe('inside', () => {
  it('what is projected, the positions and their sum have hooks, and edits change what follows', async () => {
    await using model = await Wav2Vec2Model.from_pretrained(fixturePath('models/wav2vec2/even_base'), here);
    const [, cache] = await model.run_with_cache({ input_values, attention_mask });
    const dims = { hook_features: [2, 12, 16], hook_embed: [2, 12, 32], hook_pos_embed: [2, 12, 32] };
    for (const [name, wanted] of Object.entries(dims)) expect(cache[name as 'hook_embed']?.dims, name).toEqual(wanted);
    const edits = [{ hook: 'hook_pos_embed', op: 'zero' } as const];
    const [plain] = await model.run_with_cache({ input_values });
    const [other, edited] = await model.run_with_cache({ input_values }, { edits });
    expect(edited.hook_pos_embed?.data.every((value) => value === 0)).toBe(true);
    expect(other?.tolist()).not.toEqual(plain?.tolist());
  });

  it('gives gradients from the first block on, and says so before', async () => {
    await using model = await HubertForCTC.from_pretrained(fixturePath('models/hubert/odd_ctc'), here);
    const metric = { logits: [{ token: 4 }] };
    const hooks = 'blocks.0.hook_resid_pre';
    const { grad } = await model.backward({ input_values }, { metric, with_respect_to: { hooks } });
    expect(grad[hooks]?.dims).toEqual([2, 13, 30]);
    expect(grad[hooks]?.data.some((value) => value !== 0)).toBe(true);
    const ofHead = { weights: ['lm_head.weight'] };
    const { weights } = await model.backward({ input_values }, { metric, with_respect_to: ofHead });
    expect(weights['lm_head.weight']?.data.some((value) => value !== 0)).toBe(true);
    for (const with_respect_to of [
      { hooks: ['hook_embed' as const] },
      { weights: ['hubert.feature_projection.projection.weight'] },
    ]) {
      const failure = await failureOf(() => model.backward({ input_values }, { metric, with_respect_to }));
      expect(failure).toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('convolutions of samples'),
      });
    }
  });

  it.each(['fp16', 'q8', 'q4'] as const)('computes with weights in %s', async (dtype) => {
    const path = fixturePath('models/wav2vec2/even_ctc');
    await using exact = await AutoModelForCTC.from_pretrained(path, here);
    await using rounded = await AutoModelForCTC.from_pretrained(path, { ...here, dtype, deterministic: true });
    const [a, b] = await Promise.all([exact, rounded].map((model) => model({ input_values })));
    const [x, y] = [a, b].map((out) => Array.from(out?.logits.data ?? []));
    const dot = (u: number[] = [], v: number[] = []) => u.reduce((sum, value, i) => sum + value * (v[i] ?? 0), 0);
    expect(dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y))).toBeGreaterThan({ fp16: 0.99999, q8: 0.999, q4: 0.95 }[dtype]);
  });

  it('a row does not depend on what is behind its mask, in a model with norms of frames', async () => {
    await using model = await AutoModelForAudioClassification.from_pretrained(
      fixturePath('models/wav2vec2/odd_sequence_classification'),
      here,
    );
    const all = await model({ input_values, attention_mask });
    const one = await model({ input_values: input_values.slice([1, 2], [0, 150]) });
    const [row, alone] = [all.logits.slice([1, 2]), one.logits];
    for (const [i, value] of alone.data.entries()) expect(row.data[i]).toBeCloseTo(value, 5);
  });

  it('refuses what does not fit', async () => {
    await using model = await AutoModel.from_pretrained(fixturePath('models/wav2vec2/even_base'), here);
    const refusals = [
      [{ input_values: [[0.1, 0.2]] }, 'shape_mismatch', 'samples'],
      [{ input_values, attention_mask: [[1, 1]] }, 'shape_mismatch', 'attention_mask'],
      [{ input_values, attention_mask: [0, 1].map(() => Array(250).fill(0)) }, 'invalid_argument', 'attention_mask'],
      [{ attention_mask }, 'invalid_argument', 'input_values'],
      [{ input_values, input_ids: [[1]] }, 'unsupported', 'input_ids'],
    ] as const;
    for (const [inputs, code, named] of refusals) {
      const failure = await failureOf(() => model(inputs as never));
      expect(failure).toMatchObject({ code, message: expect.stringContaining(named) });
    }
  });

  it.each([AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq])('are no models that generate text (%#)', async (auto) => {
    const failure = await failureOf(() => auto.from_pretrained(fixturePath('models/wav2vec2/even_ctc'), here));
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringMatching(/"wav2vec2".*seq2seq/) });
  });

  it.each(['wav2vec2', 'hubert'])('are no models that classify texts: %s', async (type) => {
    const path = fixturePath(`models/${type}/even_sequence_classification`);
    const failure = await failureOf(() => AutoModelForSequenceClassification.from_pretrained(path, here));
    const message = `"${type}", which has no head for the task sequence-classification`;
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining(message) });
  });
});
