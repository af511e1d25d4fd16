// question-answering: the part of a text that answers a question. Long texts are processed in overlapping windows.

import type { ModelOutput } from '../models/outputs.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions, throwIfAborted } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { TokenizerOutput } from '../text/batch.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { bestSpans } from './answer_spans.js';
import { Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import { checkCount, rowOf } from './scores.js';
import { type CallOptions, callOptions, inBatches, modelInputs, positionsOf, textList } from './texts.js';

type SpanModel = PreTrainedModel<ModelOutput & { start_logits: Tensor<'float32'>; end_logits: Tensor<'float32'> }>;

/** Options of a call, with upstream's defaults. */
export interface QuestionAnsweringOptions extends CallOptions {
  /** Number of answers, best first. Default 1. */
  top_k?: number | undefined;
  /** Maximum number of tokens of an answer. Default 15. */
  max_answer_len?: number | undefined;
  /** Tokens per window, including the question. Default 384, or what tokenizer and model allow. */
  max_seq_len?: number | undefined;
  /** Overlap of windows in tokens. Default 128, or half a window if that is less. */
  doc_stride?: number | undefined;
  /** Include the empty answer. Default false. */
  handle_impossible_answer?: boolean | undefined;
  /** Extend answers to whole words. Default true. */
  align_to_words?: boolean | undefined;
}

/** An answer: a part of the context. */
export interface Answer {
  answer: string;
  /** Its probability. */
  score: number;
  /** [start, end) in the context, in UTF-16 code units as for `context.slice`. */
  start: number;
  end: number;
}

type One = QuestionAnsweringOptions & { top_k?: 1 | undefined };

/** Extractive question answering. */
export interface QuestionAnsweringPipeline {
  /**
   * The answer to a question about a context, or with `top_k` other than 1 the best ones; for arrays of both, one
   * result each.
   * Rejects with `invalid_argument` or `unsupported` for invalid arguments, `disposed`, or the abort signal's reason.
   */
  (question: string, context: string, options?: One): Promise<Answer>;
  /** The best answer for each question and context. */
  (questions: readonly string[], contexts: readonly string[], options?: One): Promise<Answer[]>;
  /** The best answers; of a number that is not known, or one. */
  <K extends number>(
    question: string,
    context: string,
    options: QuestionAnsweringOptions & { top_k: K },
  ): Promise<number extends K ? Answer | Answer[] : Answer[]>;
  /** The best answers for each question and context; of a number that is not known, or one for each. */
  <K extends number>(
    questions: readonly string[],
    contexts: readonly string[],
    options: QuestionAnsweringOptions & { top_k: K },
  ): Promise<number extends K ? Answer[] | Answer[][] : Answer[][]>;
  /** One of these, as the options are. */
  (question: string, context: string, options?: QuestionAnsweringOptions): Promise<Answer | Answer[]>;
  /** The same for each question and context. */
  (
    questions: readonly string[],
    contexts: readonly string[],
    options?: QuestionAnsweringOptions,
  ): Promise<Answer[] | Answer[][]>;
}

type Texts = string | readonly string[];
type Numbers = 'top_k' | 'max_answer_len' | 'max_seq_len' | 'doc_stride';
type Choices = 'handle_impossible_answer' | 'align_to_words';
/** The options with defaults applied. */
type Settings = Record<Numbers, number> & Record<Choices, boolean> & CallOptions;

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class QuestionAnsweringPipeline extends Pipeline<
  [Texts, Texts, QuestionAnsweringOptions?],
  Answer | Answer[] | Answer[][],
  SpanModel
> {
  readonly tokenizer: PreTrainedTokenizer;

  /** @internal */
  constructor(task: string, model: SpanModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
  }

  /** @internal */
  override async _call(
    question: Texts,
    context: Texts,
    options: QuestionAnsweringOptions = {},
  ): Promise<Answer | Answer[] | Answer[][]> {
    const settings = this.#settings(options);
    const [questions, contexts] = [textList(this.task, question), textList(this.task, context)];
    if (questions.length !== contexts.length || Array.isArray(question) !== Array.isArray(context)) {
      const count = `${questions.length} questions, ${contexts.length} contexts`;
      throw new ClearformerError('invalid_argument', `${this.task}: ${count}: each question needs its context`);
    }
    if ([...questions, ...contexts].includes('')) {
      throw new ClearformerError('invalid_argument', `${this.task}: question and context cannot be empty`);
    }
    const results: Answer[][] = [];
    for (const [i, each] of questions.entries()) {
      throwIfAborted(options.signal);
      results.push(await this.#answers(each, contexts[i] as string, settings));
    }
    const shaped = settings.top_k === 1 ? (results as [Answer][]).map(([best]) => best) : results;
    return Array.isArray(question) ? (shaped as Answer[] | Answer[][]) : (shaped[0] as Answer | Answer[]);
  }

  #settings(options: QuestionAnsweringOptions): Settings {
    const known = [
      'top_k',
      'max_answer_len',
      'max_seq_len',
      'doc_stride',
      'handle_impossible_answer',
      'align_to_words',
    ];
    checkOptions(this.task, options, [...callOptions, ...known]);
    const { max_seq_len = Math.min(this.tokenizer.model_max_length, positionsOf(this.model), 384) } = options;
    const { top_k = 1, max_answer_len = 15, doc_stride = Math.min(Math.floor(max_seq_len / 2), 128) } = options;
    for (const [name, value] of Object.entries({ top_k, max_answer_len, max_seq_len })) checkCount(name, value);
    checkCount('doc_stride', doc_stride, 0);
    const { batch_size, signal } = options;
    const handle_impossible_answer = options.handle_impossible_answer ?? false;
    const align_to_words = options.align_to_words ?? true;
    const shared = { handle_impossible_answer, align_to_words, batch_size, signal };
    return { top_k, max_answer_len, max_seq_len, doc_stride, ...shared };
  }

  async #answers(question: string, context: string, settings: Settings): Promise<Answer[]> {
    const windows = await this.tokenizer.paced([question], {
      text_pair: [context],
      padding: this.tokenizer.pad_token !== null,
      truncation: 'only_second',
      max_length: settings.max_seq_len,
      stride: settings.doc_stride,
      return_overflowing_tokens: true,
      return_attention_mask: true,
      return_offsets_mapping: true,
      signal: settings.signal,
    });
    const rows = Array.from({ length: windows.input_ids.dims[0] ?? 0 }, (_, row) => row);
    const answers = new Map<string, Answer>(); // by text, as upstream sums the scores of equal ones
    let nullScore = Number.POSITIVE_INFINITY;
    const found = await inBatches(rows, settings, (part) => this.#spansOf(windows, part, settings));
    for (const [row, { spans, nullScore: own }] of found.entries()) {
      nullScore = Math.min(nullScore, own);
      for (const { start, end, score } of spans) {
        const place = this.#place(windows, row, [start, end], settings.align_to_words);
        const answer = context.slice(...place);
        const known = answers.get(answer.toLowerCase());
        if (known !== undefined) known.score += score;
        else answers.set(answer.toLowerCase(), { answer, score, start: place[0], end: place[1] });
      }
    }
    const all = [...answers.values()];
    if (settings.handle_impossible_answer || all.length === 0)
      all.push({ answer: '', score: nullScore, start: 0, end: 0 });
    return all.sort((a, b) => b.score - a.score).slice(0, settings.top_k);
  }

  async #spansOf(windows: TokenizerOutput, part: readonly number[], { signal, ...settings }: Settings) {
    const range = [part[0] ?? 0, (part.at(-1) ?? 0) + 1] as const;
    const { input_ids, attention_mask, token_type_ids } = windows;
    const inputs = modelInputs({
      input_ids: input_ids.slice(range),
      attention_mask: attention_mask.slice(range),
      ...(token_type_ids && { token_type_ids: token_type_ids.slice(range) }),
    });
    const { start_logits, end_logits } = await this.model(inputs, { signal });
    const { top_k, max_answer_len, align_to_words } = settings;
    // Spans that extend to the same words are merged later: upstream uses more for that.
    const count = align_to_words ? 2 * top_k + 10 : top_k;
    return part.map((row, i) =>
      bestSpans({ start: rowOf(start_logits, i), end: rowOf(end_logits, i) }, this.#wanted(windows, row), {
        max_answer_len,
        count,
      }),
    );
  }

  /** The tokens of the context, and the class token, which represents no answer. */
  #wanted(windows: TokenizerOutput, row: number): boolean[] {
    const ids = windows.input_ids.slice(row).data;
    const { cls_token_id } = this.tokenizer;
    return windows
      .sequence_ids(row)
      .map((sequence, i) => sequence === 1 || (cls_token_id !== null && Number(ids[i]) === cls_token_id));
  }

  /** [start, end) of the tokens in the context, or of the words they belong to. */
  #place(windows: TokenizerOutput, row: number, [start, end]: [number, number], words: boolean): [number, number] {
    const offsets = windows.offset_mapping?.slice(row).data as BigInt64Array;
    const [ids, sequences] = [windows.word_ids(row), windows.sequence_ids(row)];
    const sameWord = (token: number) => (other: number) =>
      other === token || (words && sequences[other] === 1 && ids[token] !== null && ids[other] === ids[token]);
    const tokens = ids.map((_, token) => token);
    const first = tokens.find(sameWord(start)) ?? start;
    const last = tokens.findLast(sameWord(end)) ?? end;
    return [Number(offsets[2 * first]), Number(offsets[2 * last + 1])];
  }
}

/** @internal */
export const load = loader<SpanModel, PreTrainedTokenizer, QuestionAnsweringPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new QuestionAnsweringPipeline(task, model, tokenizer),
});
