// Trained checkpoints give transformers' results: sentence embeddings, speech, translations, digits, sorted letters.
// all-MiniLM-L6-v2 and whisper-tiny are too large for git: scripts/models/ fetches them into the cache.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  AutoImageProcessor,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  AutoTokenizer,
  type GenerativeModel,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  read_audio,
  type Tensor,
  WhisperFeatureExtractor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointFolder } from '../../scripts/models/checkpoints.js';
import { taken } from './support/checkpoints.js';
import {
  type Case,
  caseOf,
  casesOf,
  expectClose,
  fixturePath,
  idRows,
  type Reference,
  tensorsOf,
} from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const cases = casesOf('real_models');
const bundled = (name: string) => fileURLToPath(new URL(`../../web/demo/public/models/${name}`, import.meta.url));

function realCase(name: string): { one: Case; reference: (name: string) => Reference } {
  const one = caseOf('real_models', name);
  return { one, reference: tensorsOf('real_models', one) };
}

/** Rows 0, step, 2·step, … of the second-to-last axis, or every step-th column of the last, of a [1, rows, columns]. */
function everyNth(tensor: Tensor, axis: 'row' | 'column', step: number): Reference {
  const [, rows = 0, columns = 0] = tensor.dims;
  const kept = (size: number, along: 'row' | 'column') =>
    Array.from({ length: size }, (_, i) => i).filter((i) => along !== axis || i % step === 0);
  const [r, c] = [kept(rows, 'row'), kept(columns, 'column')];
  return {
    dims: [r.length, c.length],
    data: Float32Array.from(r.flatMap((i) => c.map((j) => Number(tensor.data[i * columns + j])))),
  };
}

/** Means over unmasked tokens, normalised to unit length: sentence-transformers' embeddings of hidden states. */
function sentenceEmbeddings({ dims, data }: Tensor<'float32'>, mask: Tensor<'int64'>) {
  const [batch = 0, length = 0, width = 0] = dims;
  const embeddings = new Float32Array(batch * width);
  for (let b = 0; b < batch; b++) {
    const tokens = Array.from({ length }, (_, t) => b * length + t).filter((row) => mask.data[row] === 1n);
    const mean = Array.from(
      { length: width },
      (_, i) => tokens.reduce((sum, row) => sum + (data[row * width + i] as number), 0) / tokens.length,
    );
    const norm = Math.hypot(...mean);
    embeddings.set(
      mean.map((value) => value / norm),
      b * width,
    );
  }
  return { dims: [batch, width], data: embeddings };
}

describe.each(variants)('%s: all-MiniLM-L6-v2', (variant) => {
  it('embeds sentences as sentence-transformers does', async () => {
    const folder = checkpointFolder('all-MiniLM-L6-v2');
    const { one, reference } = realCase('sentence_embeddings');
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const inputs = tokenizer(one.text as string[], { padding: 'longest' });
    expect(idRows(inputs.input_ids)).toEqual(idRows(reference('input_ids')));
    await using model = await AutoModel.from_pretrained(folder, optionsFor(variant));
    const { last_hidden_state } = await model(inputs);
    if (last_hidden_state === undefined) throw new Error('no last_hidden_state');
    const found = sentenceEmbeddings(last_hidden_state, inputs.attention_mask);
    const wanted = reference('sentence_embedding');
    expect(found.dims).toEqual(wanted.dims);
    const errors = Array.from(found.data, (value, i) => Math.abs(value - Number(wanted.data[i])));
    expect(Math.max(...errors)).toBeLessThan(1e-5);
    const [eating, bread, meal, baby, stocks, market] = Array.from({ length: 6 }, (_, i) =>
      Array.from(found.data.slice(384 * i, 384 * (i + 1))),
    ) as [number[], number[], number[], number[], number[], number[]];
    const cosine = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
    expect(cosine(eating, bread)).toBeCloseTo(0.755, 3);
    expect(cosine(eating, meal)).toBeCloseTo(0.689, 3);
    expect(cosine(eating, baby)).toBeCloseTo(-0.105, 3);
    expect(cosine(stocks, market)).toBeCloseTo(0.538, 3);
  });
});

// Encoding audio takes most of the time: each build processes one recording, once.
const recordings = [
  { name: 'jfk', seconds: 11, variant: variants[0], file: () => fixturePath('real_models/jfk.wav') },
  {
    name: 'a13',
    seconds: 30,
    variant: variants.at(-1),
    file: () => `${checkpointFolder('whisper-tiny')}/a13.wav`,
  },
];

describe('whisper-tiny', { timeout: 60_000 }, () => {
  it.each(recordings)('writes down what is said: $name, $variant', async ({ name, seconds, variant, file }) => {
    const folder = checkpointFolder('whisper-tiny');
    const { one, reference } = realCase(name);
    const extractor = await WhisperFeatureExtractor.from_pretrained(folder);
    const sound = await read_audio(new Uint8Array(readFileSync(file())));
    expect(sound.length / 16000).toBeCloseTo(seconds, 2);
    const { input_features } = await extractor(sound);
    const features = everyNth(input_features, 'column', 50);
    expectClose('input_features', features, reference('input_features_every_50'));
    await using model = await AutoModelForSpeechSeq2Seq.from_pretrained(folder, optionsFor(variant as 'simd128'));
    const { checkpoint: _, ...options } = one.options;
    const inputs = { input_features, decoder_input_ids: idRows(reference('decoder_input_ids')) };
    const { sequences, encoder_hidden_states, logits } = await model.generate(inputs, {
      ...options,
      return_dict_in_generate: true,
      output_hidden_states: true,
      output_logits: true,
    });
    expect(idRows(sequences)).toEqual(idRows(reference('sequences')));
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    expect(tokenizer.batch_decode(sequences, { skip_special_tokens: true })).toEqual([one.text]);
    // Rows 0, 100, … of the encoder's output, and the five best logits that each new token was chosen from.
    const hidden = everyNth(encoder_hidden_states?.at(-1) as Tensor, 'row', 100);
    expectClose('encoder', hidden, reference('encoder_every_100'));
    const best = { ids: reference('top_ids'), logits: reference('top_logits') };
    expect(logits).toHaveLength(best.ids.dims[0] as number);
    const found = Array.from(best.ids.data as BigInt64Array, (id, i) =>
      Number(logits?.[Math.floor(i / 5)]?.data[Number(id)]),
    );
    expectClose('top_logits', { dims: best.logits.dims, data: found }, best.logits);
  });
});

describe.each(variants)('%s: marian-tiny-en-fr', (variant) => {
  const translations = cases.filter(({ name }) => name.startsWith('translation_'));
  let model: GenerativeModel;
  let tokenizer: PreTrainedTokenizer;
  beforeAll(async () => {
    model = await AutoModelForSeq2SeqLM.from_pretrained(bundled('marian-tiny-en-fr'), optionsFor(variant));
    tokenizer = await AutoTokenizer.from_pretrained(bundled('marian-tiny-en-fr'));
  });
  afterAll(() => model?.dispose());

  it.each(['greedy', 'beam_4'])('translates sentences it has not seen: %s', async (way) => {
    const chosen = translations.filter(({ name }) => name.endsWith(way));
    expect(chosen).toHaveLength(30);
    for (const one of chosen) {
      const inputs = tokenizer(one.text as string);
      expect(idRows(inputs.input_ids)).toEqual(idRows(tensorsOf('real_models', one)('input_ids')));
      const { checkpoint: _, ...options } = one.options;
      const ids = await model.generate(inputs, options as { return_dict_in_generate?: false });
      expect(tokenizer.batch_decode(ids, { skip_special_tokens: true })).toEqual([one.translation]);
      expect(idRows(ids)).toEqual(idRows(tensorsOf('real_models', one)('sequences')));
    }
  });
});

describe.each(variants)('%s: vit-mnist', (variant) => {
  it('reads twenty digits', async () => {
    const { one, reference } = realCase('digits');
    const { header, data } = taken(new Uint8Array(readFileSync(fixturePath(`real_models/${one.images}`))));
    const [start = Number.NaN] = header.images?.data_offsets ?? [];
    const processor = await AutoImageProcessor.from_pretrained(bundled('vit-mnist'));
    const images = Array.from({ length: 20 }, (_, i) => ({
      data: data.slice(start + 784 * i, start + 784 * (i + 1)),
      width: 28,
      height: 28,
    }));
    await using model = await AutoModelForImageClassification.from_pretrained(
      bundled('vit-mnist'),
      optionsFor(variant),
    );
    const { logits } = await model(await processor(images));
    expectClose('logits', logits as Tensor, reference('logits'));
  });
});

describe.each(variants)('%s: gpt-nano-sort', (variant) => {
  let model: PreTrainedModel & GenerativeModel;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(bundled('gpt-nano-sort'), optionsFor(variant));
  });
  afterAll(() => model?.dispose());

  it('sorts every six letters there are', async () => {
    const letters = Array.from({ length: 3 ** 6 }, (_, n) =>
      Array.from({ length: 6 }, (_, i) => Math.floor(n / 3 ** i) % 3),
    );
    // The model has eleven positions: five letters are generated, and the sixth is the best one after them.
    const options = { do_sample: false, max_new_tokens: 5, eos_token_id: null } as const;
    const read = idRows(await model.generate({ input_ids: letters }, options));
    const logits = (await model({ input_ids: read })).logits as Tensor<'float32'>;
    const best = Array.from({ length: 729 }, (_, row) => {
      const scores = Array.from(logits.data.slice((row * 11 + 10) * 3, (row * 11 + 11) * 3));
      return scores.indexOf(Math.max(...scores));
    });
    expect(read.map((row, i) => [...row, best[i]])).toEqual(
      letters.map((row) => [...row, ...row.toSorted((a, b) => a - b)]),
    );
  });

  it('has the hidden states and attention of the reference', async () => {
    const { one, reference } = realCase('sort_logits');
    const wanted = { output_hidden_states: true, output_attentions: true };
    const out = await model({ input_ids: idRows(reference('input_ids')) }, wanted);
    for (const name of Object.keys(one.outputs)) {
      const [kind, index] = name.split('.') as ['hidden_states' | 'attentions' | 'logits', string?];
      const found = kind === 'logits' ? out.logits : out[kind]?.[Number(index)];
      expectClose(name, found as Tensor, reference(name));
    }
  });
});
