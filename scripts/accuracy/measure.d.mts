// Types of measure.mjs for the tests that hold the bars.
import type { LoadOptions } from 'clearformer';

/** One dtype of one checkpoint, against fp32; what a checkpoint has no numbers for is absent. */
export interface Measured {
  dtype: 'fp32' | 'fp16' | 'q8' | 'q4';
  /** Of the weights. */
  bytes: number;
  /** Errors of the logits, and the standard deviation of fp32's. */
  rms?: number;
  largest?: number;
  spread?: number;
  /** Share of the positions with fp32's top token. */
  top?: number;
  /** Relative change. */
  perplexity?: number;
  /** Share of the tokens of greedy texts up to the first that differs. */
  greedy?: number;
  /** The smallest of all embeddings or hidden states. */
  cosine?: number;
}

export const subjectNames: readonly string[];
export function measure(
  project: string,
  name: string,
  dtypes: readonly ('fp16' | 'q8' | 'q4')[],
  options?: LoadOptions,
): Promise<Measured[]>;
