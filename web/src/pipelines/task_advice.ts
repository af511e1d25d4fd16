// Errors for tasks and options that transformers.js has and this package has not, with alternatives.

import type { PipelineName } from '../runtime/border.js';
import { ClearformerError, quoted } from '../support/error.js';

const other = 'no architecture here does it; transformers.js (@huggingface/transformers) runs ONNX exports for it';

/** Unsupported tasks of transformers.js and the Hub. */
const absent: Readonly<Record<string, string>> = {
  'zero-shot-audio-classification': `${other}; what is said in a sound tells automatic-speech-recognition`,
  'text-to-audio': `${other}; in browsers speechSynthesis speaks without a model`,
  'text-to-speech': `${other}; in browsers speechSynthesis speaks without a model`,
  'image-to-text': `${other}; which of your own sentences fits an image tells zero-shot-image-classification`,
  'image-segmentation': `${other}; what an image shows as a whole tells image-classification`,
  'background-removal': other,
  'object-detection': `${other}; what an image shows as a whole tells image-classification`,
  'zero-shot-object-detection': `${other}; which labels of your own fit a whole image tells zero-shot-image-classification`,
  'document-question-answering': `${other}; for a document as text there is question-answering`,
  'visual-question-answering': `${other}; which of your own answers fits an image tells zero-shot-image-classification`,
  vqa: `${other}; which of your own answers fits an image tells zero-shot-image-classification`,
  'image-to-image': other,
  'depth-estimation': other,
};

/** An example checkpoint on the Hub for each task, in a supported format. */
const examples: Partial<Record<PipelineName, string>> = {
  'audio-classification': 'alefiury/wav2vec2-large-xlsr-53-gender-recognition-librispeech',
  'automatic-speech-recognition': 'openai/whisper-tiny',
  'feature-extraction': 'sentence-transformers/all-MiniLM-L6-v2',
  'fill-mask': 'google-bert/bert-base-uncased',
  'image-classification': 'google/vit-base-patch16-224',
  'image-feature-extraction': 'google/vit-base-patch16-224-in21k',
  'question-answering': 'distilbert/distilbert-base-cased-distilled-squad',
  'sentence-similarity': 'sentence-transformers/all-MiniLM-L6-v2',
  summarization: 'facebook/bart-large-cnn',
  'text-classification': 'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
  'text-generation': 'Qwen/Qwen3-0.6B',
  'text-ranking': 'cross-encoder/ms-marco-MiniLM-L6-v2',
  'text2text-generation': 'google/flan-t5-small',
  'token-classification': 'dslim/bert-base-NER',
  translation: 'google-t5/t5-small',
  'zero-shot-classification': 'typeform/distilbert-base-uncased-mnli',
};

/** The error for an unsupported task. */
export function unknownTask(task: unknown, expected: readonly string[]): ClearformerError {
  const name = quoted(task);
  const instead = typeof task === 'string' && Object.hasOwn(absent, task) ? absent[task] : undefined;
  const known = `known: ${expected.join(', ')}`;
  const message = instead === undefined ? `${name} is no task that is known` : `${name} is not supported: ${instead}`;
  return new ClearformerError('unsupported', `pipeline: ${message} (${known})`, { option: 'task', expected });
}

/** The error for a missing source. */
export function noSource(name: PipelineName | undefined): ClearformerError {
  const example = name && examples[name];
  const such = example === undefined ? '' : `, such as '${example}'`;
  const who = name === undefined ? '' : `${name} `;
  return new ClearformerError('invalid_argument', `pipeline: ${who}has no default model: pass a source${such}`, {
    option: 'source',
  });
}
