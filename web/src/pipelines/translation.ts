// translation: translates texts.

import { ClearformerError } from '../support/error.js';
import { languageId } from '../text/languages.js';
import {
  type TaskSettings,
  type TextToTextOptions,
  TextToTextPipeline,
  taskSettings,
  textToTextLoader,
} from './text_to_text.js';

/** Options of a call. */
export interface TranslationOptions extends TextToTextOptions {
  /**
   * Languages, by the model's names. NLLB (`eng_Latn`), mBART (`en_XX`) and M2M100 (`en`) need both, as options or in
   * the task `translation_en_to_fr`. Of other models that task's name only selects settings of config.json, as in
   * transformers: a model of one pair of languages translates that pair whatever the task is called. Otherwise
   * `tgt_lang` is one that config.json has settings for (T5's `translation_en_to_fr`; with `src_lang`), or that the
   * tokenizer has a token for (`>>fra<<` of an opus-mt model with several targets).
   */
  src_lang?: string | undefined;
  tgt_lang?: string | undefined;
}

/** A translated text. */
export interface Translation {
  translation_text: string;
}

/** Translates texts. */
export interface TranslationPipeline {
  /**
   * One result per text (or `num_return_sequences` per text), in an array even for a single text, like
   * upstream. Options are generate()'s. Rejects like `generate`.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (texts: string | readonly string[], options?: TranslationOptions): Promise<Translation[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TranslationPipeline extends TextToTextPipeline<Translation> {
  /** @internal */
  protected override readonly ownOptions: readonly string[] = ['src_lang', 'tgt_lang'];

  /** @internal */
  override settings(options: TranslationOptions): TaskSettings {
    const { src_lang, tgt_lang } = options;
    if ('src_lang' in this.tokenizer) {
      const forced_bos_token_id = languageId(this.tokenizer, 'tgt_lang', tgt_lang ?? this.#languages()[1]);
      return { ...super.settings(options), forced_bos_token_id };
    }
    if (src_lang === undefined && tgt_lang === undefined) return super.settings(options);
    if (tgt_lang === undefined) throw this.#refused('src_lang', 'without tgt_lang it names no translation');
    const { config } = this.model;
    const task = src_lang === undefined ? undefined : `translation_${src_lang}_to_${tgt_lang}`;
    if (task !== undefined && Object.hasOwn(Object(config.task_specific_params), task))
      return taskSettings(config, task);
    const token = `>>${tgt_lang}<<`;
    const [id] = this.tokenizer.convert_tokens_to_ids([token]);
    if (id !== null && id !== undefined && id !== this.tokenizer.unk_token_id) {
      const { prefix, ...others } = super.settings(options);
      return { ...others, prefix: `${prefix}${token} ` };
    }
    const lacks = task === undefined ? 'the tokenizer has no' : `config.json has no ${task} and the tokenizer no`;
    throw this.#refused('tgt_lang', `${lacks} ${token}`);
  }

  #refused(option: 'src_lang' | 'tgt_lang', why: string): ClearformerError {
    const message = `${this.task}: ${option}: ${why}; leave languages out where a model has one pair of them`;
    return new ClearformerError('unsupported', message, { option });
  }

  /** @internal */
  protected override prepare({ src_lang = this.#languages()[0] }: TranslationOptions): void {
    if (!('src_lang' in this.tokenizer)) return;
    languageId(this.tokenizer, 'src_lang', src_lang);
    this.tokenizer.src_lang = src_lang;
  }

  /** The two languages of the task's name. */
  #languages(): readonly (string | undefined)[] {
    return /^translation_(\w+?)_to_(\w+)$/.exec(this.task)?.slice(1) ?? [];
  }

  /** @internal */
  protected override written(translation_text: string): Translation {
    return { translation_text };
  }
}

/** @internal */
export const load = textToTextLoader(TranslationPipeline);
