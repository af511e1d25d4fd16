// text-ranking: ranks documents for a query with a cross-encoder, which reads query and document together.
// Names and defaults are those of CrossEncoder.rank in sentence-transformers.

import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { checkChoice } from '../support/choices.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import { checkCount, sigmoid, topIndices } from './scores.js';
import { type EmbeddingDefaults, readEmbeddingDefaults, readModelSettings } from './sentence_transformers.js';
import { checkTexts, logitsOfPairs } from './text_pairs.js';
import { cut, type TextCallOptions, textCallOptions, textList } from './texts.js';

/** Options of a call. */
export interface TextRankingOptions extends TextCallOptions {
  /** Number of documents, best first. Default: all. */
  top_k?: number | null | undefined;
  /** Whether results contain the documents' text. Default true. */
  return_documents?: boolean | undefined;
  /** The function applied to logits. Default: the setting in the model's files, or sigmoid. */
  function_to_apply?: 'sigmoid' | 'none' | undefined;
}

/** A document and its score. */
export interface RankedText {
  /** Its index among the documents. */
  corpus_id: number;
  score: number;
  text?: string;
}

/** Ranks documents. */
export interface TextRankingPipeline {
  /**
   * The documents in descending order of their score for a query, which a default prompt of the model's files precedes. Rejects with `invalid_argument` or `unsupported` for
   * invalid arguments, `disposed`, or the abort signal's reason.
   */
  (query: string, documents: readonly string[], options?: TextRankingOptions): Promise<RankedText[]>;
  /** The same for several queries. */
  (queries: readonly string[], documents: readonly string[], options?: TextRankingOptions): Promise<RankedText[][]>;
  /** One of both, as the queries are. */
  (
    queries: string | readonly string[],
    documents: readonly string[],
    options?: TextRankingOptions,
  ): Promise<RankedText[] | RankedText[][]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TextRankingPipeline extends Pipeline<
  [string | readonly string[], readonly string[], TextRankingOptions?],
  RankedText[] | RankedText[][],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly #settings: ModelSettings;
  readonly #longest: EmbeddingDefaults['longest'];

  /** @internal */
  constructor(task: string, model: LogitsModel, { tokenizer, settings, longest }: BesideRanker) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.#settings = settings;
    this.#longest = (most, positions) => Math.min(longest(most, positions), positions);
  }

  /** @internal */
  override async _call(
    queries: string | readonly string[],
    documents: readonly string[],
    options: TextRankingOptions = {},
  ): Promise<RankedText[] | RankedText[][]> {
    checkOptions(this.task, options, [...textCallOptions, 'top_k', 'return_documents', 'function_to_apply']);
    const { top_k = null, return_documents } = options;
    const { prompts, default_prompt_name, activation_fn } = this.#settings;
    const { function_to_apply: apply = usualActivation(this.model.config, activation_fn) } = options;
    if (top_k !== null) checkCount('top_k', top_k);
    checkChoice('function_to_apply', apply, ['sigmoid', 'none']);
    checkTexts(this.task, 'documents', documents);
    const list = textList(this.task, queries);
    const prompt = prompts?.[default_prompt_name ?? ''] ?? '';
    const pairs = list.flatMap((text) => documents.map((text_pair) => ({ text: prompt + text, text_pair })));
    const logits = (await logitsOfPairs(this, pairs, cut(this, options, this.#longest), 'longest_first')).map((row) =>
      this.#only(row),
    );
    const results = list.map((_, query) => {
      const own = logits.slice(query * documents.length, (query + 1) * documents.length);
      const scores = apply === 'none' ? own : sigmoid(own);
      return topIndices(own, top_k).map((corpus_id) => {
        const text = return_documents === false ? {} : { text: documents[corpus_id] as string };
        return { corpus_id, score: scores[corpus_id] as number, ...text };
      });
    });
    return Array.isArray(queries) ? results : (results[0] as RankedText[]);
  }

  #only(row: Float32Array): number {
    if (row.length === 1) return row[0] as number;
    throw new ClearformerError(
      'unsupported',
      `${this.task}: this model has ${row.length} classes, a ranking takes one with one score a pair; for classes of pairs there is text-classification with { text, text_pair }`,
      { option: 'task' },
    );
  }
}

/** The model's activation, which versions of sentence-transformers store in different places: newer ones in a file `of` theirs. */
function usualActivation(config: Readonly<Record<string, unknown>>, of: string | null | undefined): 'sigmoid' | 'none' {
  const own = config.sentence_transformers as Readonly<Record<string, unknown>> | undefined;
  const name = of ?? own?.activation_fn ?? config.sbert_ce_default_activation_function;
  const kind = name === undefined || name === null ? 'Sigmoid' : String(name).split('.').at(-1);
  if (kind === 'Sigmoid') return 'sigmoid';
  if (kind === 'Identity') return 'none';
  throw new ClearformerError(
    'unsupported',
    `text-ranking: the model's files name the activation ${String(name)}, known are Sigmoid and Identity; pass function_to_apply`,
    { option: 'function_to_apply' },
  );
}

type ModelSettings = Awaited<ReturnType<typeof readModelSettings>>;

/** @internal The files of a cross-encoder besides the model itself. */
export interface BesideRanker {
  tokenizer: PreTrainedTokenizer;
  settings: ModelSettings;
  longest: EmbeddingDefaults['longest'];
}

async function readBeside(folder: Folder, options: ReadOptions): Promise<BesideRanker> {
  const [settings, { change, longest }] = await Promise.all([
    readModelSettings(folder, options),
    readEmbeddingDefaults(folder, options),
  ]);
  return { tokenizer: await readTokenizer(folder, options, undefined, change), settings, longest };
}

/** @internal */
export const load = loader<LogitsModel, BesideRanker, TextRankingPipeline>({
  Model: PreTrainedModel,
  read: readBeside,
  create: (task, model, beside) => new TextRankingPipeline(task, model, beside),
});
