// A model of the reader's own: what kind it is, what its folder holds, and the part of the page that runs it.

import { ImageModel } from './image_model.js';
import type { Loaded, LoadOptions, Source } from './model_host.js';
import { kForms, type OpenForm } from './own-tasks.js';
import { configOf } from './source-config.js';
import { architectureOf, type Task, taskOf } from './tasks.js';
import { LoadedModel } from './text_model.js';
import { Translator } from './translator.js';

export interface FolderFile {
  name: string;
  bytes: number;
}

type Part = LoadedModel | Translator | ImageModel | OpenForm;

export class OwnModel implements Loaded {
  private constructor(
    readonly label: string,
    readonly task: Task,
    /** As config.json names it; empty where it does not. */
    readonly architecture: string,
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
    const config = await configOf(source, options);
    const task = taskOf(config);
    const part = await opened(task, source, label, { ...options, progress_callback });
    const given = Array.isArray(source)
      ? (source as readonly File[]).map(({ name, size, webkitRelativePath }) => ({
          name: webkitRelativePath.split('/').slice(1).join('/') || name,
          bytes: size,
        }))
      : [];
    const files = given.length > 0 ? given : Array.from(read, ([name, bytes]) => ({ name, bytes }));
    const sorted = files.sort((a, b) => a.name.localeCompare(b.name));
    return new OwnModel(label, task, architectureOf(config), part, sorted);
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

function opened(task: Task, source: Source, label: string, options: LoadOptions): Promise<Part> {
  switch (task) {
    case 'text-generation':
      return LoadedModel.load(source, label, options);
    case 'text2text-generation':
      return Translator.load(source, label, options);
    case 'image-classification':
      return ImageModel.load(source, label, options);
    default:
      return kForms[task](source, options);
  }
}

/** Weights of other formats, which lie beside safetensors in many folders and are not read. */
export function isOtherFormat(name: string): boolean {
  return /\.(bin|onnx|onnx_data|pt|pth|h5|msgpack|ckpt|gguf|tflite|ot)$/.test(name);
}
