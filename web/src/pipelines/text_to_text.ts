// The base of translation and summarization: an encoder-decoder transforms a text.

import { GenerativeModel } from '../models/generative_model.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { Pipeline } from './base_pipeline.js';
import { type GenerationCallOptions, generationSettings, splitOptions, type TextOptions } from './generation_call.js';
import { type Load, loader } from './load_pipeline.js';
import { inTextBatches, modelInputs, textList, tokenizing } from './texts.js';

/** Options of a call: those of `generate`, and whether to truncate texts beyond the tokenizer's maximum. */
export interface TextToTextOptions extends GenerationCallOptions {
  /** Default: true if the tokenizer has a maximum. */
  truncation?: boolean | undefined;
}

/** Settings for a task in config.json (T5, BART): a prefix of each text, and options of generate(). */
export type TaskSettings = TextOptions & { prefix: string };

/** Base class of text-to-text pipelines; `Written` is the type of their result. */
export abstract class TextToTextPipeline<Written> extends Pipeline<
  [string | readonly string[], TextToTextOptions?],
  Written[],
  GenerativeModel
> {
  readonly tokenizer: PreTrainedTokenizer;

  /** @internal */
  constructor(task: string, model: GenerativeModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
  }

  /** @internal Names of the task's own options. */
  protected readonly ownOptions: readonly string[] = [];

  /** @internal The settings for the task in config.json. */
  settings(_options: TextToTextOptions): TaskSettings {
    return taskSettings(this.model.config, this.task);
  }

  /** @internal Prepares the tokenizer for the texts of a call; what it sets applies until the next call. */
  protected prepare(_options: TextToTextOptions): void {}

  /** @internal The result of one text. */
  protected abstract written(text: string): Written;

  /** @internal */
  override async _call(texts: string | readonly string[], called: TextToTextOptions = {}): Promise<Written[]> {
    const options = this.model.withConfig(this.task, called);
    const list = textList(this.task, texts);
    const { generate } = splitOptions(this.task, options, ['truncation', ...this.ownOptions], list.length);
    const { prefix, ...ofTask } = this.settings(options);
    const settings = generationSettings(this, generate, ofTask, 1);
    return inTextBatches(list, this.tokenizer, options, async (part) => {
      const prefixed = part.map((text) => prefix + text);
      const { truncation, signal } = options;
      this.prepare(options);
      const encoded = await this.tokenizer.paced(prefixed, tokenizing(this.tokenizer, { truncation, signal }));
      const { input_ids, attention_mask } = modelInputs(encoded);
      const sequences = await this.model.generate({ input_ids, attention_mask }, settings);
      return this.tokenizer.batch_decode(sequences, { skip_special_tokens: true }).map((text) => this.written(text));
    });
  }
}

/** The settings of a task in config.json. */
export function taskSettings(
  { prefix, task_specific_params }: Readonly<Record<string, unknown>>,
  task: string,
): TaskSettings {
  const settings = (task_specific_params as Record<string, Record<string, unknown>> | null | undefined)?.[task];
  return { ...settings, prefix: String(settings?.prefix ?? prefix ?? '') };
}

export function textToTextLoader<Made>(
  Made: new (task: string, model: GenerativeModel, tokenizer: PreTrainedTokenizer) => Made,
): Load<Made> {
  return loader<GenerativeModel, PreTrainedTokenizer, Made>({
    Model: GenerativeModel,
    read: readTokenizer,
    create: (task, model, tokenizer) => new Made(task, model, tokenizer),
  });
}
