// Forms of the pipelines: the inputs of each and its answer. The labels are in the catalogue under the pipeline's name.

import {
  ClearformerError,
  type ImageProcessor,
  type LoadOptions,
  type PipelineName,
  type PipelineOf,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  pipeline,
  read_audio,
  type Source,
  type Tensor,
  TextStreamer,
} from 'clearformer';
import { cosines, ofOneLength, reshaped } from '../../book/tensors.js';

/** The reader's inputs: a text per field, and files. */
interface Given {
  texts: readonly string[];
  files: readonly Blob[];
}

interface LabelScore {
  label: string;
  score: number;
}

/** Classes with scores, a cosine similarity, or a text. */
export type Answer = { classes: LabelScore[] } | { likeness: number } | { text: string };

interface FormDescription {
  /** Names of the fields in the catalogue, and their initial values; {mask} is the tokenizer's mask token. */
  fields: readonly { label: FieldLabel; value: string }[];
  /** The kind and number of files that it needs. */
  files?: { kind: 'image' | 'audio'; count: number };
}

type FieldLabel =
  | 'maskedText'
  | 'text'
  | 'secondText'
  | 'question'
  | 'context'
  | 'otherText'
  | 'classes'
  | 'source'
  | 'prompt';

/** A loaded pipeline with the form of its task. */
export interface OpenForm {
  readonly task: PipelineName;
  readonly form: FormDescription;
  readonly model: PreTrainedModel;
  readonly tokenizer: PreTrainedTokenizer | undefined;
  /** Of a model that classifies images. */
  readonly processor: ImageProcessor | undefined;
  /** `tell` is called with an answer that is still being written. */
  run(given: Given, signal: AbortSignal, tell: (answer: Answer) => void): Promise<Answer>;
  dispose(): Promise<void>;
}

interface Recipe<T extends PipelineName> extends FormDescription {
  run(pipe: PipelineOf<T>, given: Given, signal: AbortSignal, tell: (answer: Answer) => void): Promise<Answer>;
}

type Opener = (source: Source, options: LoadOptions) => Promise<OpenForm>;

function opener<T extends PipelineName>(task: T, { run, ...form }: Recipe<T>): Opener {
  return async (source, options) => {
    const pipe = await pipeline(task, source, options);
    return {
      task,
      form,
      model: pipe.model as PreTrainedModel,
      tokenizer: 'tokenizer' in pipe ? (pipe.tokenizer as PreTrainedTokenizer) : undefined,
      processor: task === 'image-classification' ? (pipe as PipelineOf<'image-classification'>).processor : undefined,
      run: (given, signal, tell) => run(pipe, given, signal, tell),
      dispose: () => pipe.dispose(),
    };
  };
}

const most = 10;
const written = 60;

/** The input of a text-to-text model must not be empty: the model would generate a text nevertheless. */
function nonEmpty(text: string | undefined): string {
  if (text !== undefined && text.trim() !== '') return text;
  throw new ClearformerError('invalid_argument', 'the text is empty: write one first');
}

async function cosineOf(one: Tensor<'float32'>, other: Tensor<'float32'>): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((vector) => ofOneLength(reshaped(vector, [1, vector.size]))));
  return a && b ? (await cosines(a, b)).item() : Number.NaN;
}

export const forms: Readonly<Record<PipelineName, Opener>> = {
  'text-generation': opener('text-generation', {
    fields: [{ label: 'prompt', value: 'Once upon a time' }],
    run: async (pipe, { texts: [text = ''] }, signal, tell) => {
      let soFar = text;
      const callback_function = (piece: string): void => {
        soFar += piece;
        tell({ text: soFar });
      };
      const streamer = new TextStreamer(pipe.tokenizer, {
        skip_prompt: true,
        skip_special_tokens: true,
        callback_function,
      });
      const [answer] = await pipe(text, { max_new_tokens: written, streamer, signal });
      return { text: answer?.generated_text ?? '' };
    },
  }),
  translation: opener('translation', {
    fields: [{ label: 'source', value: 'The weather is fine today.' }],
    run: async (pipe, { texts: [text] }, signal) => {
      const [answer] = await pipe(nonEmpty(text), { signal });
      return { text: answer?.translation_text ?? '' };
    },
  }),
  summarization: opener('summarization', {
    fields: [{ label: 'source', value: '' }],
    run: async (pipe, { texts: [text] }, signal) => {
      const [answer] = await pipe(nonEmpty(text), { signal });
      return { text: answer?.summary_text ?? '' };
    },
  }),
  'text2text-generation': opener('text2text-generation', {
    fields: [{ label: 'prompt', value: 'Translate to German: The weather is fine today.' }],
    run: async (pipe, { texts: [text] }, signal) => {
      const [answer] = await pipe(nonEmpty(text), { signal });
      return { text: answer?.generated_text ?? '' };
    },
  }),
  'image-classification': opener('image-classification', {
    fields: [],
    files: { kind: 'image', count: 1 },
    run: async (pipe, { files: [image] }, signal) => ({ classes: await pipe(image as Blob, { top_k: most, signal }) }),
  }),
  'fill-mask': opener('fill-mask', {
    fields: [{ label: 'maskedText', value: 'Paris is the {mask} of France.' }],
    run: async (pipe, { texts: [text = ''] }, signal) => {
      const found = await pipe(text, { top_k: most, signal });
      return { classes: found.map(({ token_str, score }) => ({ label: token_str, score })) };
    },
  }),
  'text-classification': opener('text-classification', {
    fields: [
      { label: 'text', value: 'I like this very much.' },
      { label: 'secondText', value: '' },
    ],
    run: async (pipe, { texts: [text = '', text_pair = ''] }, signal) => ({
      classes: await pipe(text_pair === '' ? text : { text, text_pair }, { top_k: most, signal }),
    }),
  }),
  'zero-shot-classification': opener('zero-shot-classification', {
    fields: [
      { label: 'text', value: 'The new phone has a better camera.' },
      { label: 'classes', value: 'technology, sports, cooking' },
    ],
    run: async (pipe, { texts: [text = '', names = ''] }, signal) => {
      const { labels, scores } = await pipe(text, names, { signal });
      return { classes: labels.map((label, i) => ({ label, score: scores[i] as number })) };
    },
  }),
  'text-ranking': opener('text-ranking', {
    fields: [
      { label: 'question', value: 'How many people live in Berlin?' },
      { label: 'text', value: 'Berlin had 3.5 million inhabitants in 2022.' },
      { label: 'otherText', value: 'Berlin is well known for its museums.' },
    ],
    run: async (pipe, { texts: [question = '', ...documents] }, signal) => {
      const found = await pipe(question, documents, { signal });
      return { classes: found.map(({ text = '', score }) => ({ label: text, score })) };
    },
  }),
  'token-classification': opener('token-classification', {
    fields: [{ label: 'text', value: 'Marie Curie was born in Warsaw and worked in Paris.' }],
    run: async (pipe, { texts: [text = ''] }, signal) => {
      const found = await pipe(text, { aggregation_strategy: 'simple', signal });
      return { classes: found.map(({ word, entity_group, score }) => ({ label: `${word}: ${entity_group}`, score })) };
    },
  }),
  'question-answering': opener('question-answering', {
    fields: [
      { label: 'question', value: 'Where does Tom live?' },
      { label: 'context', value: 'Tom is a baker. He lives in Boston with his two children.' },
    ],
    run: async (pipe, { texts: [question = '', context = ''] }, signal) => {
      const found = await pipe(question, context, { top_k: 3, signal });
      return { classes: found.map(({ answer, score }) => ({ label: answer, score })) };
    },
  }),
  'feature-extraction': opener('feature-extraction', {
    fields: [
      { label: 'text', value: 'A man is eating food.' },
      { label: 'otherText', value: 'Someone is having a meal.' },
    ],
    run: async (pipe, { texts }, signal) => {
      const usual = await pipe(texts, { signal });
      const vectors = usual.dims.length === 2 ? usual : await pipe(texts, { pooling: 'mean', signal });
      return { likeness: await cosineOf(vectors.slice(0), vectors.slice(1)) };
    },
  }),
  'sentence-similarity': opener('sentence-similarity', {
    fields: [
      { label: 'text', value: 'A man is eating food.' },
      { label: 'otherText', value: 'Someone is having a meal.' },
    ],
    run: async (pipe, { texts: [source_sentence = '', ...sentences] }, signal) => {
      const [likeness = 0] = await pipe({ source_sentence, sentences }, { signal });
      return { likeness };
    },
  }),
  'image-feature-extraction': opener('image-feature-extraction', {
    fields: [],
    files: { kind: 'image', count: 2 },
    run: async (pipe, { files }, signal) => {
      const features = await pipe(files, { signal });
      const ofClassToken = (image: number) =>
        features.dims.length === 3 ? features.slice(image, 0) : features.slice(image);
      return { likeness: await cosineOf(ofClassToken(0), ofClassToken(1)) };
    },
  }),
  'zero-shot-image-classification': opener('zero-shot-image-classification', {
    fields: [{ label: 'classes', value: 'a cat, a dog, a house, a plane' }],
    files: { kind: 'image', count: 1 },
    run: async (pipe, { texts: [labels = ''], files: [image] }, signal) => {
      const names = labels.split(',').map((name) => name.trim());
      const candidates = names.filter((name) => name !== '');
      return { classes: await pipe(image as Blob, candidates, { signal }) };
    },
  }),
  'audio-classification': opener('audio-classification', {
    fields: [],
    files: { kind: 'audio', count: 1 },
    run: async (pipe, { files: [sound] }, signal) => ({ classes: await pipe(sound as Blob, { top_k: most, signal }) }),
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
