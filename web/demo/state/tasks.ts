// Which task a checkpoint was made for, told from its config.json, and how the reader is told of it.
import { ClearformerError } from 'clearformer';
import type { Config } from './source-config.js';

export type Task =
  | 'text-generation'
  | 'text2text-generation'
  | 'image-classification'
  | 'automatic-speech-recognition'
  | 'zero-shot-image-classification'
  | 'image-feature-extraction'
  | 'feature-extraction'
  | 'fill-mask'
  | 'text-classification'
  | 'token-classification'
  | 'question-answering';

export const kTaskNames: Record<Task, string> = {
  'text-generation': 'text generation',
  'text2text-generation': 'one text into another (translation, summary)',
  'image-classification': 'image classification',
  'automatic-speech-recognition': 'speech recognition',
  'zero-shot-image-classification': 'image classification by texts of your own',
  'image-feature-extraction': 'image similarity',
  'feature-extraction': 'sentence similarity',
  'fill-mask': 'filling in a masked word',
  'text-classification': 'text classification',
  'token-classification': 'token classification',
  'question-answering': 'question answering',
};

/** What the names of Hugging Face's classes end in; the longest that fits counts. */
const kEndings: readonly [string, Task][] = [
  ['ForCausalLM', 'text-generation'],
  ['LMHeadModel', 'text-generation'],
  ['ForConditionalGeneration', 'text2text-generation'],
  ['MTModel', 'text2text-generation'],
  ['ForImageClassification', 'image-classification'],
  ['ForImageClassificationWithTeacher', 'image-classification'],
  ['WhisperForConditionalGeneration', 'automatic-speech-recognition'],
  ['CLIPModel', 'zero-shot-image-classification'],
  ['ForMaskedLM', 'fill-mask'],
  ['ForPreTraining', 'fill-mask'],
  ['ForSequenceClassification', 'text-classification'],
  ['ForTokenClassification', 'token-classification'],
  ['ForQuestionAnswering', 'question-answering'],
  ['ViTModel', 'image-feature-extraction'],
  ['DeiTModel', 'image-feature-extraction'],
  ['Model', 'feature-extraction'],
];

/** The class that config.json names, such as `BertForMaskedLM`; empty where it names none. */
export function architectureOf(config: Config): string {
  const [name] = Array.isArray(config.architectures) ? (config.architectures as unknown[]) : [];
  return typeof name === 'string' ? name : '';
}

/**
 * A checkpoint that names no class is taken for a model without a head. Throws `unsupported` for a class whose head nothing
 * here knows: without it the model would do something else than it was made for.
 */
export function taskOf(config: Config): Task {
  const name = architectureOf(config);
  if (name === '') return 'feature-extraction';
  const fitting = kEndings.filter(([ending]) => name.endsWith(ending));
  const [best] = fitting.sort(([a], [b]) => b.length - a.length);
  if (best) return best[1];
  const expected = kEndings.map(([ending]) => `…${ending}`);
  throw new ClearformerError(
    'unsupported',
    `config.json: "architectures" names ${name}, whose head is not known (known: ${expected.join(', ')})`,
    { file: 'config.json', expected },
  );
}
