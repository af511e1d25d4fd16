// text2text-generation: the output of an encoder-decoder for a text.

import { type TextToTextOptions, TextToTextPipeline, textToTextLoader } from './text_to_text.js';

/** The decoder's output. */
export interface Text2TextGeneration {
  generated_text: string;
}

/** Transforms texts. */
export interface Text2TextGenerationPipeline {
  /**
   * One result per text (or `num_return_sequences` per text), in an array even for a single text, like
   * upstream. Options are generate()'s. Rejects like `generate`.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (texts: string | readonly string[], options?: TextToTextOptions): Promise<Text2TextGeneration[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class Text2TextGenerationPipeline extends TextToTextPipeline<Text2TextGeneration> {
  /** @internal */
  protected override written(generated_text: string): Text2TextGeneration {
    return { generated_text };
  }
}

/** @internal */
export const load = textToTextLoader(Text2TextGenerationPipeline);
