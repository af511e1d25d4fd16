// text2text-generation: whatever an encoder-decoder was trained to make of a text.

import { type TextToTextOptions, TextToTextPipeline, textToTextLoader } from './text_to_text.js';

/** What the decoder wrote. */
export interface Text2TextGeneration {
  generated_text: string;
}

/** Texts to other texts. */
export interface Text2TextGenerationPipeline {
  /**
   * One result for each text (`num_return_sequences` for each, where that is set), in an array for one text too, as
   * upstream. Options are generate()'s. Rejects as `generate` does.
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
