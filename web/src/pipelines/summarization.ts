// summarization: a shorter version of a text.

import { type TextToTextOptions, TextToTextPipeline, textToTextLoader } from './text_to_text.js';

/** A summary. */
export interface Summarization {
  summary_text: string;
}

/** Summarises texts. */
export interface SummarizationPipeline {
  /**
   * One result per text (or `num_return_sequences` per text), in an array even for a single text, like
   * upstream. Options are generate()'s. Rejects like `generate`.
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
