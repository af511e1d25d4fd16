// A model of the reader's own: what kind it is, what its folder holds, and the part of the page that runs it.

import { ClearformerError, type Inspection, inspect, type PipelineName } from 'clearformer';
import { ImageModel } from './image_model.js';
import type { Loaded, LoadOptions, Source } from './model_host.js';
import { forms, type OpenForm } from './own_forms.js';
import { LoadedModel } from './text_model.js';
import { Translator } from './translator.js';

export interface FolderFile {
  name: string;
  bytes: number;
}

type Part = LoadedModel | Translator | ImageModel | OpenForm;

/** What a pipeline does, in the reader's words. */
export const pipelineWords: Record<PipelineName, string> = {
  'text-generation': 'text generation',
  translation: 'one text into another (translation, summary)',
  summarization: 'one text into another (translation, summary)',
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

export class OwnModel implements Loaded {
  private constructor(
    readonly label: string,
    readonly pipeline: PipelineName,
    readonly inspection: Inspection,
    readonly part: Part,
    /** What was given, or what was read where the folder lies elsewhere. */
    readonly files: readonly FolderFile[],
  ) {}

  static async load(source: Source, label: string, options: LoadOptions): Promise<OwnModel> {
    const read = new Map<string, number>();
    const progress_callback: LoadOptions['progress_callback'] = (event) => {
      if (event.status === 'initiate' && event.file) read.set(event.file, event.file_total ?? 0);
      options.progress_callback?.(event);
    };
    const inspection = await inspect(source, { signal: options.signal });
    const pipeline = pipelineOf(inspection);
    const part = await opened(pipeline, source, label, { ...options, progress_callback });
    const given = Array.isArray(source)
      ? (source as readonly File[]).map(({ name, size, webkitRelativePath }) => ({
          name: webkitRelativePath.split('/').slice(1).join('/') || name,
          bytes: size,
        }))
      : [];
    const files = given.length > 0 ? given : Array.from(read, ([name, bytes]) => ({ name, bytes }));
    const sorted = files.sort((a, b) => a.name.localeCompare(b.name));
    return new OwnModel(label, pipeline, inspection, part, sorted);
  }

  get model(): Part['model'] {
    return this.part.model;
  }

  get speed(): number | undefined {
    return 'speed' in this.part ? this.part.speed : undefined;
  }

  dispose(): Promise<void> {
    return this.part.dispose();
  }
}

/** What the model was made for. Throws what keeps it from being loaded, and `unsupported` for one that was made for nothing. */
function pipelineOf({ pipeline, problems, architectures, model_type }: Inspection): PipelineName {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const ofConfig = (code: string): number => Number(code === 'malformed_config');
  errors.sort((a, b) => ofConfig(b.code) - ofConfig(a.code)); // what describes the model comes before what it holds
  const [first] = errors;
  if (first !== undefined) throw new ClearformerError(first.code, errors.map(({ message }) => message).join('; '));
  if (pipeline !== null) return pipeline;
  throw new ClearformerError('unsupported', `${architectures[0] ?? model_type} was made for no task that is known`);
}

function opened(pipeline: PipelineName, source: Source, label: string, options: LoadOptions): Promise<Part> {
  switch (pipeline) {
    case 'text-generation':
      return LoadedModel.load(source, label, options);
    case 'translation':
    case 'summarization':
      return Translator.load(source, label, options);
    case 'image-classification':
      return ImageModel.load(source, label, options);
    default:
      return forms[pipeline](source, options);
  }
}
