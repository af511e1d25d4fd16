// What pipelines do, as forms: what the reader gives, and what comes back.

import {
  type LoadOptions,
  type PipelineName,
  type PipelineOf,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  pipeline,
  read_audio,
  type Source,
} from 'clearformer';
import { AttentionGrid, type AttentionMaps, haveRoom } from './attention_maps.js';
import type { ClassScore } from './image_model.js';
import { type ShownToken, TokenTexts } from './token_texts.js';

export interface Field {
  label: string;
  /** What stands in it at first; the tokenizer's own mask stands for {mask}. */
  value: string;
}

/** What the reader gave: a text for every field, and files. */
export interface Given {
  texts: readonly string[];
  files: readonly Blob[];
}

/** Classes with scores, or a sentence. */
export type Answer = { classes: ClassScore[] } | { text: string };

export interface FormDescription {
  fields: readonly Field[];
  /** Which files it needs, and how many. */
  files?: { kind: 'image' | 'audio'; count: number };
}

/** A text as the model reads it, and what its tokens look at. */
export interface Reading {
  tokens: readonly ShownToken[];
  maps: AttentionMaps;
}

/** A pipeline that is loaded, behind the form of its task. */
export interface OpenForm {
  readonly form: FormDescription;
  readonly model: PreTrainedModel;
  readonly tokenizer: PreTrainedTokenizer | undefined;
  run(given: Given, signal: AbortSignal): Promise<Answer>;
  /** Undefined where the model reads no text by itself, and where its maps would take too much memory. */
  read(given: Given, signal: AbortSignal): Promise<Reading | undefined>;
  dispose(): Promise<void>;
}

interface Recipe<T extends PipelineName> extends FormDescription {
  /** The fields that the model reads as its one text or its pair of texts; none: its attention is not shown. */
  reads?: readonly number[];
  run(pipe: PipelineOf<T>, given: Given, signal: AbortSignal): Promise<Answer>;
}

type Opener = (source: Source, options: LoadOptions) => Promise<OpenForm>;
/** Pipelines that no other chapter's part runs. */
type FormPipeline = Exclude<PipelineName, 'text-generation' | 'translation' | 'summarization' | 'image-classification'>;

function opener<T extends PipelineName>(task: T, { reads = [], run, ...form }: Recipe<T>): Opener {
  return async (source, options) => {
    const pipe = await pipeline(task, source, options);
    const model = pipe.model as PreTrainedModel;
    const tokenizer = 'tokenizer' in pipe ? (pipe.tokenizer as PreTrainedTokenizer) : undefined;
    return {
      form,
      model,
      tokenizer,
      run: (given, signal) => run(pipe, given, signal),
      read: async ({ texts }, signal) => {
        const [text, pair] = reads.map((i) => texts[i] || undefined); // an empty second text is none
        return tokenizer && text !== undefined ? readingOf(model, tokenizer, [text, pair], signal) : undefined;
      },
      dispose: () => pipe.dispose(),
    };
  };
}

async function readingOf(
  model: PreTrainedModel,
  tokenizer: PreTrainedTokenizer,
  [text, text_pair]: readonly [string, string | undefined],
  signal: AbortSignal,
): Promise<Reading | undefined> {
  const truncation = Number.isFinite(tokenizer.model_max_length);
  const { input_ids, attention_mask, token_type_ids } = tokenizer(text, { text_pair, truncation });
  const length = input_ids.data.length;
  if (!haveRoom({ stack: model.cfg, queries: length, keys: length })) return undefined;
  const inputs = { input_ids, attention_mask, ...(token_type_ids && { token_type_ids }) };
  const { attentions } = await model(inputs, { output_attentions: true, signal });
  if (attentions === undefined || attentions.length === 0) return undefined;
  const tokens = new TokenTexts(tokenizer).shown(Array.from(input_ids.data, Number), 'model');
  return { tokens, maps: new AttentionGrid(model.cfg.kind === 'decoder-only' ? 'causal' : 'self', attentions) };
}

/** The cosine of the angle between two vectors. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, left, right] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    left += x * x;
    right += y * y;
  }
  return product / Math.sqrt(left * right);
}

const similarity = (first: ArrayLike<number>, second: ArrayLike<number>): Answer => ({
  text: `Cosine similarity ${cosine(first, second).toFixed(4)}`,
});

const mostAnswers = 10;

export const forms: Record<FormPipeline, Opener> = {
  'fill-mask': opener('fill-mask', {
    fields: [{ label: 'A text with one mask', value: 'Paris is the {mask} of France.' }],
    reads: [0],
    run: async (pipe, { texts: [text = ''] }, signal) => {
      const found = await pipe(text, { top_k: mostAnswers, signal });
      return { classes: found.map(({ token_str, score }) => ({ label: token_str, score })) };
    },
  }),
  'text-classification': opener('text-classification', {
    fields: [
      { label: 'A text', value: 'I like this very much.' },
      { label: 'A second text, where the model compares two', value: '' },
    ],
    reads: [0, 1],
    run: async (pipe, { texts: [text = '', text_pair = ''] }, signal) => ({
      classes: await pipe(text_pair === '' ? text : { text, text_pair }, { top_k: mostAnswers, signal }),
    }),
  }),
  'token-classification': opener('token-classification', {
    fields: [{ label: 'A text', value: 'Marie Curie was born in Warsaw and worked in Paris.' }],
    reads: [0],
    run: async (pipe, { texts: [text = ''] }, signal) => {
      const found = await pipe(text, { aggregation_strategy: 'simple', signal });
      if (found.length === 0) return { text: 'It finds nothing of the kinds it knows.' };
      return { classes: found.map(({ word, entity_group, score }) => ({ label: `${word}: ${entity_group}`, score })) };
    },
  }),
  'question-answering': opener('question-answering', {
    fields: [
      { label: 'A question', value: 'Where does Tom live?' },
      { label: 'A text that answers it', value: 'Tom is a baker. He lives in Boston with his two children.' },
    ],
    reads: [0, 1],
    run: async (pipe, { texts: [question = '', context = ''] }, signal) => {
      const found = await pipe(question, context, { top_k: 3, signal });
      return { classes: found.map(({ answer, score }) => ({ label: answer, score })) };
    },
  }),
  'feature-extraction': opener('feature-extraction', {
    fields: [
      { label: 'A text', value: 'A man is eating food.' },
      { label: 'Another one', value: 'Someone is having a meal.' },
    ],
    reads: [0],
    run: async (pipe, { texts }, signal) => {
      const usual = await pipe(texts, { signal });
      const vectors = usual.dims.length === 2 ? usual : await pipe(texts, { pooling: 'mean', signal });
      return similarity(vectors.slice(0).data, vectors.slice(1).data);
    },
  }),
  'image-feature-extraction': opener('image-feature-extraction', {
    fields: [],
    files: { kind: 'image', count: 2 },
    run: async (pipe, { files }, signal) => {
      const features = await pipe(files, { signal });
      const width = features.dims.at(-1);
      const [first, second] = [0, 1].map((i) => features.slice(i).data.subarray(0, width)); // of the class token
      return similarity(first ?? [], second ?? []);
    },
  }),
  'zero-shot-image-classification': opener('zero-shot-image-classification', {
    fields: [{ label: 'Labels, separated by commas', value: 'a cat, a dog, a house, a plane' }],
    files: { kind: 'image', count: 1 },
    run: async (pipe, { texts: [labels = ''], files: [image] }, signal) => {
      const names = labels.split(',').map((name) => name.trim());
      return {
        classes: await pipe(
          image as Blob,
          names.filter((name) => name !== ''),
          { signal },
        ),
      };
    },
  }),
  'automatic-speech-recognition': opener('automatic-speech-recognition', {
    fields: [],
    files: { kind: 'audio', count: 1 },
    run: async (pipe, { files: [sound] }, signal) => {
      const { sampling_rate, chunk_length } = pipe.processor.features;
      const samples = await read_audio(sound as Blob, sampling_rate);
      const long = samples.length > chunk_length * sampling_rate;
      return pipe(samples, { ...(long && { chunk_length_s: chunk_length }), signal });
    },
  }),
};
