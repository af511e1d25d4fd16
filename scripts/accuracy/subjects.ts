// The trained checkpoints and their inputs: committed texts, recordings and images; where a model needs generated text,
// it is what it generates in fp32.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  AutoTokenizer,
  DynamicCache,
  type GenerativeModel,
  read_audio,
  type Tensor,
  WhisperFeatureExtractor,
} from 'clearformer';

import { checkpointFolder } from '../models/checkpoints.js';
import { readSafetensors } from '../models/read_safetensors.js';
import { type Observation, type Predictions, predicted } from './compare.js';
import { type Measure, measureOf } from './subject.js';

const bundled = (project: string, name: string): string => join(project, 'web/demo/public/models', name);
const fixture = (project: string, name: string): string => join(project, 'tests/fixtures/real_models', name);

interface Case {
  name: string;
  text: unknown;
}

function casesOf(project: string): Case[] {
  const parsed = JSON.parse(readFileSync(fixture(project, 'cases.json'), 'utf8')) as Case[] | { cases: Case[] };
  return Array.isArray(parsed) ? parsed : parsed.cases;
}

/** The 30 English sentences of the translator's tests. */
function sentencesOf(project: string): string[] {
  const cases = casesOf(project).filter(({ name }) => /^translation_\d+_greedy$/.test(name));
  return cases.map(({ text }) => String(text));
}

const widthOf = ({ dims }: { dims: readonly number[] }): number => dims.at(-1) ?? 0;

function idsOf(tensor: Tensor<'int64'>): number[][] {
  const length = widthOf(tensor);
  return Array.from({ length: tensor.data.length / length }, (_, row) =>
    Array.from(tensor.data.subarray(row * length, (row + 1) * length), Number),
  );
}

const firstOf = (tensor: Tensor<'int64'>): number[] => idsOf(tensor)[0] ?? [];

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The texts' logits, with the keys and values of earlier positions read from a cache, as while text is generated. */
async function logitsOf(model: GenerativeModel, inputs: Parameters<GenerativeModel>[0]): Promise<Tensor<'float32'>> {
  const { logits, past_key_values } = await model(inputs, { use_cache: true });
  await past_key_values?.dispose();
  return logits;
}

/** Logits of each text's positions from `first` to the last but one, and the tokens that follow them. */
async function predictions(
  texts: readonly number[][],
  first: number,
  logitsOf: (text: number[], index: number) => Promise<Tensor<'float32'>>,
): Promise<Observation> {
  const parts: Float32Array[] = [];
  const targets: number[] = [];
  let width = 0;
  for (const [index, text] of texts.entries()) {
    const logits = await logitsOf(text, index);
    width = widthOf(logits);
    parts.push(logits.data.slice(first * width, (text.length - 1) * width));
    targets.push(...text.slice(first + 1));
  }
  return { scores: { data: joined(parts), width }, targets };
}

const beginnings = [
  'Once upon a time',
  'One day, a little girl named Lily',
  'Tom and his dog',
  'The sun was shining and',
  'There was a big tree',
  'Mom said',
  'In the park',
  'A small bird wanted',
];

/** `count` texts of stories260K in fp32, sampled at temperature 1 up to a length of `length` tokens. */
async function sampled(project: string, model: GenerativeModel, count: number, length: number): Promise<number[][]> {
  const tokenizer = await AutoTokenizer.from_pretrained(bundled(project, 'stories260K'));
  const texts: number[][] = [];
  for (let seed = 0; seed < count; seed++) {
    const { input_ids } = tokenizer(beginnings[seed % beginnings.length] ?? '');
    const max_new_tokens = length - widthOf(input_ids);
    const options = { max_new_tokens, do_sample: true, temperature: 1, top_k: 0, eos_token_id: null, seed };
    texts.push(firstOf(await model.generate({ input_ids }, options)));
  }
  return texts;
}

/** Forty texts of the model's 512 positions, 20,440 tokens (for the thresholds eight of 200); eight greedy ones. */
const stories = measureOf({
  folder: (project) => bundled(project, 'stories260K'),
  load: (source, options) => AutoModelForCausalLM.from_pretrained(source, options),
  without: ['Q4_0'],
  async prepare(project, model, extent) {
    const tokenizer = await AutoTokenizer.from_pretrained(bundled(project, 'stories260K'));
    const prompts = beginnings.map((text) => idsOf(tokenizer(text).input_ids));
    const texts = await (extent === 'whole' ? sampled(project, model, 40, 512) : sampled(project, model, 8, 200));
    return { prompts, texts };
  },
  observe: (model, { texts }) => predictions(texts, 0, (text) => logitsOf(model, { input_ids: [text] })),
  async write(model, { prompts }) {
    const written: number[][] = [];
    for (const input_ids of prompts) written.push(firstOf(await model.generate({ input_ids }, { max_new_tokens: 60 })));
    return written;
  },
});

/** All sequences of six letters out of three: 729. */
const sorter = measureOf({
  folder: (project) => bundled(project, 'gpt-nano-sort'),
  load: (source, options) => AutoModelForCausalLM.from_pretrained(source, options),
  without: ['Q4_0'],
  prepare: async () =>
    Array.from({ length: 729 }, (_, n) => Array.from({ length: 6 }, (_, i) => Math.floor(n / 3 ** i) % 3)),
  async write(model, texts) {
    return idsOf(await model.generate({ input_ids: texts }, { max_new_tokens: 5, eos_token_id: null }));
  },
  async observe(model, texts) {
    const whole = texts.map((text) => [...text, ...text.toSorted((a, b) => a - b)].slice(0, 11));
    const logits = await logitsOf(model, { input_ids: whole });
    const [, length = 0, width = 0] = logits.dims;
    const answers = whole.map((_, row) => logits.data.slice((row * length + 5) * width, (row + 1) * length * width));
    return { scores: { data: joined(answers), width } };
  },
});

/** Twenty digits at nine positions each (for the thresholds three): 180 images. */
const digits = measureOf({
  folder: (project) => bundled(project, 'vit-mnist'),
  load: (source, options) => AutoModelForImageClassification.from_pretrained(source, options),
  without: ['Q4_0', 'cache fp16', 'cache q8'],
  async prepare(project, _model, extent) {
    const { tensors } = readSafetensors(fixture(project, 'digits.safetensors'));
    const images = tensors.find(({ name }) => name === 'images');
    if (!images) throw new Error('digits.safetensors has no images');
    const [count = 0, height = 0, width = 0] = images.shape;
    const every = [-2, 0, 2].flatMap((down) => [-2, 0, 2].map((right) => ({ down, right })));
    const shifts = extent === 'whole' ? every : every.filter(({ down, right }) => down === right);
    const pixels = new Float32Array(count * shifts.length * height * width).fill(-1);
    let at = 0;
    for (let image = 0; image < count; image++) {
      for (const { down, right } of shifts) {
        for (let i = 0; i < height * width; i++, at++) {
          const [y, x] = [Math.floor(i / width) - down, (i % width) - right];
          if (y < 0 || x < 0 || y >= height || x >= width) continue;
          pixels[at] = images.bytes.readUInt8((image * height + y) * width + x) / 127.5 - 1;
        }
      }
    }
    return { data: pixels, dims: [count * shifts.length, 1, height, width] };
  },
  async observe(model, pixel_values) {
    const { logits } = await model({ pixel_values });
    return { scores: { data: logits.data, width: widthOf(logits) } };
  },
});

/** Thirty sentences and their translations in fp32. */
const translator = measureOf({
  folder: (project) => bundled(project, 'marian-tiny-en-fr'),
  load: (source, options) => AutoModelForSeq2SeqLM.from_pretrained(source, options),
  async prepare(project, model) {
    const tokenizer = await AutoTokenizer.from_pretrained(bundled(project, 'marian-tiny-en-fr'));
    const sources = sentencesOf(project).map((text) => idsOf(tokenizer(text).input_ids));
    const texts: number[][] = [];
    for (const input_ids of sources) texts.push(firstOf(await model.generate({ input_ids }, greedy)));
    return { sources, texts };
  },
  observe(model, { sources, texts }) {
    const read = (text: number[], i: number) =>
      logitsOf(model, { input_ids: sources[i] ?? [], decoder_input_ids: [text] });
    return predictions(texts, 0, read);
  },
  async write(model, { sources }) {
    const written: number[][] = [];
    for (const input_ids of sources) written.push(firstOf(await model.generate({ input_ids }, greedy)));
    return written;
  },
});
const greedy = { num_beams: 1, max_new_tokens: 40 };

/** Embeddings of 36 sentences (for the thresholds twelve): mean pooling. */
const sentences = measureOf({
  folder: () => checkpointFolder('all-MiniLM-L6-v2'),
  load: (source, options) => AutoModel.from_pretrained(source, options),
  without: ['cache fp16', 'cache q8'],
  async prepare(project, _model, extent) {
    const tokenizer = await AutoTokenizer.from_pretrained(checkpointFolder('all-MiniLM-L6-v2'));
    const texts = casesOf(project)
      .filter(({ name }) => name === 'sentence_embeddings')
      .map(({ text }) => text as string[]);
    const all = [...texts.flat(), ...sentencesOf(project)];
    const asked = extent === 'whole' ? all : all.slice(0, 12);
    return asked.map((sentence) => idsOf(tokenizer(sentence).input_ids));
  },
  async observe(model, inputs) {
    const vectors: Float32Array[] = [];
    for (const input_ids of inputs) {
      const { last_hidden_state } = await model({ input_ids });
      if (!last_hidden_state) throw new Error('the model has no last_hidden_state');
      const width = widthOf(last_hidden_state);
      const mean = new Float32Array(width);
      for (const [i, value] of last_hidden_state.data.entries()) mean[i % width] = (mean[i % width] ?? 0) + value;
      vectors.push(mean);
    }
    return { vectors };
  },
});

/**
 * Two recordings, 11 and 30 seconds (for the thresholds the first only), and their transcripts in fp32; and the decoder
 * (29.5 M parameters) as a language model: at least 20,000 tokens of stories260K's texts in pieces of 440, heard beside
 * the first recording.
 */
const listener = measureOf({
  folder: () => checkpointFolder('whisper-tiny'),
  load: (source, options) => AutoModelForSpeechSeq2Seq.from_pretrained(source, options),
  async prepare(project, model, extent) {
    const extractor = await WhisperFeatureExtractor.from_pretrained(checkpointFolder('whisper-tiny'));
    const files = [fixture(project, 'jfk.wav'), join(checkpointFolder('whisper-tiny'), 'a13.wav')];
    const sounds: Tensor<'float32'>[] = [];
    const asked = extent === 'whole' ? files : files.slice(0, 1);
    for (const file of asked) {
      const { input_features } = await extractor(await read_audio(new Uint8Array(readFileSync(file))));
      sounds.push(input_features);
    }
    if (extent !== 'whole') return { sounds, texts: [transcript(project)], pieces: [] };
    return { sounds, texts: await written(model, sounds), pieces: await storiesInPieces(project) };
  },
  async observe(model, { sounds, texts, pieces }) {
    const vectors: Float32Array[] = [];
    const read = async (text: number[], i: number) => {
      const input_features = sounds[i];
      if (!input_features) throw new RangeError(`there is no sound ${i}`);
      const out = await model({ input_features, decoder_input_ids: [text] }, { use_cache: true });
      await out.past_key_values?.dispose();
      if (out.encoder_last_hidden_state) vectors.push(out.encoder_last_hidden_state.data);
      return out.logits;
    };
    const heard = await predictions(texts, spoken.length - 1, read);
    const long = pieces.length > 0 && { predictions: await piecePredictions(model, sounds, pieces) };
    return { ...heard, ...long, vectors };
  },
  write: (model, { sounds }) => written(model, sounds),
});

/** At least 20,000 of Whisper's tokens, as the decoder reads them: its first four tokens, then 440 of a text. */
async function storiesInPieces(project: string): Promise<number[][]> {
  const folder = bundled(project, 'stories260K');
  const [writer, reader] = await Promise.all([
    AutoTokenizer.from_pretrained(folder),
    AutoTokenizer.from_pretrained(checkpointFolder('whisper-tiny')),
  ]);
  await using model = await AutoModelForCausalLM.from_pretrained(folder);
  const pieces: number[][] = [];
  for (const text of await sampled(project, model, 80, 512)) {
    const ids = firstOf(
      reader(writer.decode(text, { skip_special_tokens: true }), { add_special_tokens: false }).input_ids,
    );
    pieces.push([...spoken, ...ids.slice(0, 440)]);
  }
  return pieces;
}

async function piecePredictions(
  model: GenerativeModel,
  [input_features]: readonly Tensor<'float32'>[],
  pieces: readonly number[][],
): Promise<Predictions> {
  if (!input_features) throw new RangeError('there is no sound');
  const parts: Predictions[] = [];
  await using past_key_values = new DynamicCache(); // keeps what was computed from the sound
  for (const [index, piece] of pieces.entries()) {
    const heard = index === 0 && { input_features };
    const { logits } = await model({ ...heard, decoder_input_ids: [piece], past_key_values });
    await past_key_values.crop(0);
    const width = widthOf(logits);
    const [first, last] = [spoken.length - 1, piece.length - 1];
    parts.push(predicted({ data: logits.data.subarray(first * width, last * width), width }, piece.slice(first + 1)));
  }
  return {
    surprises: Float64Array.from(parts.flatMap(({ surprises }) => Array.from(surprises))),
    tops: Int32Array.from(parts.flatMap(({ tops }) => Array.from(tops))),
  };
}

/** The committed fp32 transcript of the first recording. */
function transcript(project: string): number[] {
  const { tensors } = readSafetensors(fixture(project, 'speech.safetensors'));
  const tensor = tensors.find(({ name }) => name === 'jfk.sequences');
  if (!tensor) throw new Error('speech.safetensors has no jfk.sequences');
  const { length } = tensor.bytes;
  return Array.from({ length: length / 8 }, (_, i) => Number(tensor.bytes.readBigInt64LE(8 * i)));
}

const spoken = [50258, 50259, 50359, 50363]; // start, English, transcribe, no timestamps

async function written(model: GenerativeModel, sounds: readonly Tensor<'float32'>[]): Promise<number[][]> {
  const texts: number[][] = [];
  for (const input_features of sounds) {
    const options = { num_beams: 1, max_new_tokens: 120 };
    texts.push(firstOf(await model.generate({ input_features, decoder_input_ids: [spoken] }, options)));
  }
  return texts;
}

export const subjects = {
  stories260K: stories,
  'gpt-nano-sort': sorter,
  'vit-mnist': digits,
  'marian-tiny-en-fr': translator,
  'all-MiniLM-L6-v2': sentences,
  'whisper-tiny': listener,
} satisfies Record<string, Measure>;

export type SubjectName = keyof typeof subjects;
