// translation: a text in another language.

import { type TextToTextOptions, TextToTextPipeline, textToTextLoader } from './text_to_text.js';

/** A translated text. */
export interface Translation {
  translation_text: string;
}

/** Texts in another language. */
export interface TranslationPipeline {
  /**
   * One result for each text (`num_return_sequences` for each, where that is set), in an array for one text too, as
   * upstream. Options are generate()'s. Rejects as `generate` does.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (texts: string | readonly string[], options?: TextToTextOptions): Promise<Translation[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TranslationPipeline extends TextToTextPipeline<Translation> {
  /** @internal */
  protected override written(translation_text: string): Translation {
    return { translation_text };
  }
}

/** @internal */
export const load = textToTextLoader(TranslationPipeline);
