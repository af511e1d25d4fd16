// pipeline(): a callable for a task, from a source. The module of each task is loaded on demand.

import { isOfModel } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { SharedFolder } from '../checkpoint/shared_folder.js';
import { openSource, type Source } from '../checkpoint/source.js';
import type { Inspection } from '../inspection/inspection.js';
import { type LoadOptions, ownLoadOptions } from '../models/auto_models.js';
import type { PipelineName } from '../runtime/border.js';
import { ClearformerError, isMissing } from '../support/error.js';
import type { OrNull } from '../support/or_null.js';
import { loadPart } from '../support/platform.js';
import type { AudioClassificationPipeline } from './audio_classification.js';
import type { AutomaticSpeechRecognitionPipeline } from './automatic_speech_recognition.js';
import type { FeatureExtractionPipeline } from './feature_extraction.js';
import type { FillMaskPipeline } from './fill_mask.js';
import type { ImageClassificationPipeline } from './image_classification.js';
import type { ImageFeatureExtractionPipeline } from './image_feature_extraction.js';
import type { Load } from './load_pipeline.js';
import type { QuestionAnsweringPipeline } from './question_answering.js';
import type { SentenceSimilarityPipeline } from './sentence_similarity.js';
import type { SummarizationPipeline } from './summarization.js';
import type { TextClassificationPipeline } from './text_classification.js';
import type { TextGenerationPipeline } from './text_generation.js';
import type { TextRankingPipeline } from './text_ranking.js';
import type { Text2TextGenerationPipeline } from './text2text_generation.js';
import type { TokenClassificationPipeline } from './token_classification.js';
import type { TranslationPipeline } from './translation.js';
import type { ZeroShotClassificationPipeline } from './zero_shot_classification.js';
import type { ZeroShotImageClassificationPipeline } from './zero_shot_image_classification.js';

/** The pipelines by task. */
export interface Pipelines {
  'audio-classification': AudioClassificationPipeline;
  'automatic-speech-recognition': AutomaticSpeechRecognitionPipeline;
  'feature-extraction': FeatureExtractionPipeline;
  'fill-mask': FillMaskPipeline;
  'image-classification': ImageClassificationPipeline;
  'image-feature-extraction': ImageFeatureExtractionPipeline;
  'question-answering': QuestionAnsweringPipeline;
  'sentence-similarity': SentenceSimilarityPipeline;
  summarization: SummarizationPipeline;
  'text-classification': TextClassificationPipeline;
  'text-generation': TextGenerationPipeline;
  'text-ranking': TextRankingPipeline;
  'text2text-generation': Text2TextGenerationPipeline;
  'token-classification': TokenClassificationPipeline;
  translation: TranslationPipeline;
  'zero-shot-classification': ZeroShotClassificationPipeline;
  'zero-shot-image-classification': ZeroShotImageClassificationPipeline;
}

/** Other names of tasks; a translation may name its languages, as for T5: `translation_en_to_de`. */
export interface TaskAliases {
  asr: 'automatic-speech-recognition';
  embeddings: 'feature-extraction';
  ner: 'token-classification';
  'sentiment-analysis': 'text-classification';
  [translation: `translation_${string}_to_${string}`]: 'translation';
}

/** The task names that `pipeline` accepts. */
export type PipelineTask = keyof Pipelines | keyof TaskAliases;

/** The pipeline of a task. */
export type PipelineOf<Task extends PipelineTask> = Task extends keyof Pipelines
  ? Pipelines[Task]
  : Task extends keyof TaskAliases
    ? Pipelines[TaskAliases[Task]]
    : never;

const loaders: { [Task in PipelineName]: () => Promise<{ load: Load<Pipelines[Task]> }> } = {
  'audio-classification': () => import('./audio_classification.js'),
  'automatic-speech-recognition': () => import('./automatic_speech_recognition.js'),
  'feature-extraction': () => import('./feature_extraction.js'),
  'fill-mask': () => import('./fill_mask.js'),
  'image-classification': () => import('./image_classification.js'),
  'image-feature-extraction': () => import('./image_feature_extraction.js'),
  'question-answering': () => import('./question_answering.js'),
  'sentence-similarity': () => import('./sentence_similarity.js'),
  summarization: () => import('./summarization.js'),
  'text-classification': () => import('./text_classification.js'),
  'text-generation': () => import('./text_generation.js'),
  'text-ranking': () => import('./text_ranking.js'),
  'text2text-generation': () => import('./text2text_generation.js'),
  'token-classification': () => import('./token_classification.js'),
  translation: () => import('./translation.js'),
  'zero-shot-classification': () => import('./zero_shot_classification.js'),
  'zero-shot-image-classification': () => import('./zero_shot_image_classification.js'),
};
const aliases: Readonly<Record<string, keyof Pipelines>> = {
  asr: 'automatic-speech-recognition',
  embeddings: 'feature-extraction',
  ner: 'token-classification',
  'sentiment-analysis': 'text-classification',
};

/**
 * A pipeline for a task, with model, tokenizer and processor from one source; options are those of a model. Without a
 * task, the checkpoint's own is used, as reported by `inspect`. Progress covers all files; aborting
 * `signal` stops everything and releases it. Rejects with `unsupported` for an unknown task or option
 * (with an alternative, if transformers.js knows it) and for a checkpoint without a task, `invalid_argument` without a
 * source, and otherwise like `from_pretrained` of the parts.
 */
export async function pipeline<Task extends PipelineTask>(
  task: Task,
  source: Source,
  options?: OrNull<LoadOptions>,
): Promise<PipelineOf<Task>>;
export async function pipeline(
  task: undefined,
  source: Source,
  options?: OrNull<LoadOptions>,
): Promise<Pipelines[PipelineName]>;
export async function pipeline(
  task: PipelineTask | undefined,
  source: Source,
  given_options: OrNull<LoadOptions> = {},
): Promise<Pipelines[PipelineName]> {
  const given = task === undefined ? undefined : nameOf(task);
  if (task !== undefined && given === undefined) throw (await advice()).unknownTask(task, knownTasks());
  if (source === undefined || source === null) throw (await advice()).noSource(given);
  const options = await ownLoadOptions('pipeline', given_options);
  const folder = new SharedFolder(openSource(source, options));
  const name = given ?? (await madeFor(folder, options.signal));
  const { load } = await loadPart<Awaited<ReturnType<(typeof loaders)[PipelineName]>>>(loaders[name]);
  options.signal?.throwIfAborted();
  return load({ task: task ?? name, pipeline: name }, folder, options).catch(async (thrown: unknown) => {
    throw (await madeForOthers(name, folder, thrown, options.signal)) ?? thrown;
  });
}

/**
 * The error for a missing file or head if the folder holds no model that can be loaded, or one for other tasks: the parts
 * of a pipeline load concurrently, and which of them fails first is a matter of chance. For missing tensors, as of another
 * head, it names the task that the checkpoint was made for.
 */
async function madeForOthers(
  name: PipelineName,
  folder: Folder,
  thrown: unknown,
  signal: AbortSignal | undefined,
): Promise<ClearformerError | undefined> {
  // An error without a file's name says that there is no folder.
  if (!(thrown instanceof ClearformerError)) return undefined;
  const { code, details, message: told } = thrown;
  if (isMissing(thrown) ? !details.file : code !== 'unsupported' && code !== 'missing_tensor') return undefined;
  const { inspectFolder } = await import('../inspection/inspect_folder.js');
  const found = await inspectFolder(folder, { signal }).catch((why: unknown) =>
    why instanceof ClearformerError && why.code === 'file_not_found' ? why : undefined,
  );
  if (found === undefined || found instanceof ClearformerError) return found;
  const { inspection } = found;
  const { architectures, kind, model_type, pipeline: own, pipelines } = inspection;
  if (isMissing(thrown) && !isOfModel(String(details.file))) {
    const fault = faultOf(inspection, folder);
    if (fault !== undefined) return fault;
  }
  const what = architectures[0] ?? model_type;
  // A language model has no head but its output layer.
  if (code === 'missing_tensor' && own !== null && own !== name && kind !== 'decoder-only')
    return new ClearformerError(code, `${told}; config.json says ${what}, for ${own}`, details, thrown);
  if (pipelines.length === 0 || pipelines.includes(name)) return undefined;
  const tasks = pipelines.join(' and ');
  const message = `pipeline: the architecture of ${folder.where}, ${what}, is for ${tasks}, not for ${name}`;
  return new ClearformerError('unsupported', message, { option: 'task', expected: pipelines });
}

/** The first problem that makes a model unusable, as an error. */
function faultOf({ problems }: Inspection, { where }: Folder): ClearformerError | undefined {
  const fault = problems.find(({ severity }) => severity === 'error');
  if (fault === undefined) return undefined;
  return new ClearformerError(fault.code, fault.message, {
    where,
    ...(fault.file !== undefined && { file: fault.file }),
  });
}

/** The pipeline that a folder's checkpoint is for. */
async function madeFor(folder: Folder, signal: AbortSignal | undefined): Promise<PipelineName> {
  const { inspectFolder } = await import('../inspection/inspect_folder.js');
  const { inspection } = await inspectFolder(folder, { signal });
  const { pipeline: name } = inspection;
  const fault = faultOf(inspection, folder);
  if (fault !== undefined) throw fault;
  if (name !== null) return name;
  throw new ClearformerError(
    'unsupported',
    `pipeline: ${inspection.architectures[0] ?? inspection.model_type} in ${folder.where} was made for no task: name one`,
    { option: 'task', expected: inspection.pipelines },
  );
}

const advice = () => import('./task_advice.js'); // rarely needed
const knownTasks = () => [...Object.keys(loaders), ...Object.keys(aliases)];

function nameOf(task: unknown): keyof Pipelines | undefined {
  if (typeof task !== 'string') return undefined;
  if (Object.hasOwn(loaders, task)) return task as keyof Pipelines;
  if (Object.hasOwn(aliases, task)) return aliases[task];
  return /^translation_\w+_to_\w+$/.test(task) ? 'translation' : undefined;
}
