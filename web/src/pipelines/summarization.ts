// summarization: a text in fewer words.

import { type TextToTextOptions, TextToTextPipeline, textToTextLoader } from './text_to_text.js';

/** A summary. */
export interface Summarization {
  summary_text: string;
}

/** Texts to shorter ones. */
export interface SummarizationPipeline {
  /**
   * One result for each text (`num_return_sequences` for each, where that is set), in an array for one text too, as
   * upstream. Options are generate()'s. Rejects as `generate` does.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (texts: string | readonly string[], options?: TextToTextOptions): Promise<Summarization[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class SummarizationPipeline extends TextToTextPipeline<Summarization> {
  /** @internal */
  protected override written(summary_text: string): Summarization {
    return { summary_text };
  }
}

/** @internal */
export const load = textToTextLoader(SummarizationPipeline);
