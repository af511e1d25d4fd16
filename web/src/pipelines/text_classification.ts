// text-classification: the classes of a text, or of a pair of texts.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import {
  type ClassificationOptions,
  checkClassification,
  classesOf,
  type LabelScore,
  rowOf,
  usualFunction,
} from './scores.js';
import { inTextBatches, modelInputs, type TextCallOptions, textCallOptions, tokenizing } from './texts.js';

/** A text, or a pair whose relation is classified. */
export type ClassifiedText = string | { readonly text: string; readonly text_pair: string };

/** Options of a call. `top_k` is 1 by default. */
export interface TextClassificationOptions extends TextCallOptions, ClassificationOptions {}

/** Classifies texts. */
export interface TextClassificationPipeline {
  /**
   * The best class of each text, in an array even for a single text, like upstream; with `top_k` other than 1 the best
   * classes of each. Rejects with `invalid_argument` or `unsupported` for invalid arguments, `disposed`, or the abort
   * signal's reason.
   */
  (
    texts: ClassifiedText | readonly ClassifiedText[],
    options?: TextClassificationOptions & { top_k?: 1 | undefined },
  ): Promise<LabelScore[]>;
  /** The best classes of a text. */
  (texts: ClassifiedText, options?: TextClassificationOptions): Promise<LabelScore[]>;
  /** The best classes of each text; of a number that is not known, one of both. */
  <K extends number | null>(
    texts: readonly ClassifiedText[],
    options: TextClassificationOptions & { top_k: K },
  ): Promise<number extends K ? LabelScore[] | LabelScore[][] : LabelScore[][]>;
  /** One of both, as texts and options are. */
  (
    texts: ClassifiedText | readonly ClassifiedText[],
    options?: TextClassificationOptions,
  ): Promise<LabelScore[] | LabelScore[][]>;
}

type Texts = ClassifiedText | readonly ClassifiedText[];

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TextClassificationPipeline extends Pipeline<
  [Texts, TextClassificationOptions?],
  LabelScore[] | LabelScore[][],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;

  /** @internal */
  constructor(task: string, model: LogitsModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
  }

  /** @internal */
  override async _call(texts: Texts, options: TextClassificationOptions = {}): Promise<LabelScore[] | LabelScore[][]> {
    checkOptions(this.task, options, [...textCallOptions, 'top_k', 'function_to_apply']);
    checkClassification(options);
    const { top_k = 1, signal } = options;
    const list = Array.isArray(texts) ? (texts as readonly ClassifiedText[]) : [texts as ClassifiedText];
    const parts = grouped(list.map((text) => pairOf(this.task, text)));
    const results: LabelScore[][] = new Array(list.length);
    for (const part of parts) {
      const found = await inTextBatches(part, this.tokenizer, options, async (rows) => {
        const first = rows.map(({ text }) => text);
        const second = rows.flatMap(({ text_pair }) => text_pair ?? []);
        const pairs = second.length > 0 ? { text_pair: second } : {};
        const encoded = await this.tokenizer.paced(first, { ...tokenizing(this.tokenizer, options), ...pairs });
        const { logits } = await this.model(modelInputs(encoded), { signal });
        const apply = options.function_to_apply ?? usualFunction(this.model.config, logits.dims[1] ?? 0);
        return rows.map((_, row) => classesOf(rowOf(logits, row), this.model.config, { top_k, apply }));
      });
      part.forEach(({ at }, i) => {
        results[at] = found[i] as LabelScore[];
      });
    }
    if (top_k === 1) return results.flat();
    return Array.isArray(texts) ? results : (results[0] as LabelScore[]);
  }
}

interface Entry {
  text: string;
  text_pair: string | undefined;
}

function pairOf(call: string, given: ClassifiedText): Entry {
  const { text, text_pair } = typeof given === 'string' ? { text: given, text_pair: undefined } : (given ?? {});
  if (typeof text === 'string' && (text_pair === undefined || typeof text_pair === 'string')) {
    if (typeof given !== 'string') checkOptions(call, given, ['text', 'text_pair']);
    return { text, text_pair: text_pair || undefined }; // an empty one is none, as upstream
  }
  throw new ClearformerError('invalid_argument', `${call}: needs texts, or objects with text and text_pair`);
}

/** Separates pairs and single texts, with their indices. */
function grouped(entries: readonly Entry[]): (Entry & { at: number })[][] {
  const placed = entries.map((entry, at) => ({ ...entry, at }));
  const single = placed.filter(({ text_pair }) => text_pair === undefined);
  const pairs = placed.filter(({ text_pair }) => text_pair !== undefined);
  return [single, pairs];
}

/** @internal */
export const load = loader<LogitsModel, PreTrainedTokenizer, TextClassificationPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new TextClassificationPipeline(task, model, tokenizer),
});
