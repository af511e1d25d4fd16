// zero-shot-classification: which of some labels, given as text, fits a text best. A natural language inference model
// scores the hypothesis "This example is {label}." Source: Yin et al. 2019, Benchmarking Zero-shot Text Classification.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { warn } from '../support/warning.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import { namesOf, sentencesOf, softmax, topIndices } from './scores.js';
import { checkTexts, logitsOfPairs } from './text_pairs.js';
import { type TextCallOptions, textCallOptions, textList } from './texts.js';

/** Options of a call. A text that is too long is truncated, its hypothesis is not. */
export interface ZeroShotClassificationOptions extends TextCallOptions {
  /** The hypothesis template; {} is replaced by the label, {{ by a brace. Default: `This example is {}.` */
  hypothesis_template?: string | undefined;
  /** Score each label independently: entailment against contradiction. Default false: scores sum to 1. */
  multi_label?: boolean | undefined;
}

/** A text and all labels, the most probable first. */
export interface ZeroShotClassification {
  sequence: string;
  labels: string[];
  /** Of the labels, in the same order. */
  scores: number[];
}

/** Classifies texts by custom labels. */
export interface ZeroShotClassificationPipeline {
  /**
   * All labels with their probabilities for a text. Labels are an array, or a comma-separated string. Rejects with
   * `invalid_argument` or `unsupported` for invalid arguments, `disposed`, or the abort signal's reason.
   */
  (
    text: string,
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions,
  ): Promise<ZeroShotClassification>;
  /** The same for several texts. */
  (
    texts: readonly string[],
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions,
  ): Promise<ZeroShotClassification[]>;
  /** One of both, as the texts are. */
  (
    texts: string | readonly string[],
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions,
  ): Promise<ZeroShotClassification | ZeroShotClassification[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ZeroShotClassificationPipeline extends Pipeline<
  [string | readonly string[], string | readonly string[], ZeroShotClassificationOptions?],
  ZeroShotClassification | ZeroShotClassification[],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly #classes: Judgements;

  /** @internal */
  constructor(task: string, model: LogitsModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.#classes = judgements(model.config);
  }

  /** @internal */
  override async _call(
    texts: string | readonly string[],
    candidate_labels: string | readonly string[],
    options: ZeroShotClassificationOptions = {},
  ): Promise<ZeroShotClassification | ZeroShotClassification[]> {
    checkOptions(this.task, options, [...textCallOptions, 'hypothesis_template', 'multi_label']);
    const { hypothesis_template: template = 'This example is {}.', multi_label = false } = options;
    const list = textList(this.task, texts);
    const labels = typeof candidate_labels === 'string' ? separated(candidate_labels) : candidate_labels;
    checkTexts(this.task, 'candidate_labels', labels);
    const hypotheses = sentencesOf(this.task, labels, template);
    const pairs = list.flatMap((text) => hypotheses.map((text_pair) => ({ text, text_pair })));
    const logits = await logitsOfPairs(this, pairs, options, 'only_first');
    const results = list.map((sequence, i) => {
      const own = logits.slice(i * labels.length, (i + 1) * labels.length);
      const scores = this.#scores(own, multi_label || labels.length === 1);
      const order = topIndices(scores, null);
      return {
        sequence,
        labels: order.map((at) => labels[at] as string),
        scores: order.map((at) => scores[at] as number),
      };
    });
    return Array.isArray(texts) ? results : (results[0] as ZeroShotClassification);
  }

  /** The scores for one text: each label against its contradiction, or softmax over all labels. */
  #scores(logits: readonly Float32Array[], each: boolean): number[] {
    const last = (logits[0]?.length ?? 0) - 1;
    if (last < 1) throw oneClass();
    const { entailment = last, contradiction = entailment } = this.#classes;
    const other = contradiction !== entailment ? contradiction : entailment === 0 ? last : 0;
    if (!each) return softmax(logits.map((row) => row[entailment] as number));
    return logits.map((row) => softmax([row[other] as number, row[entailment] as number])[1] as number);
  }
}

function separated(labels: string): string[] {
  return labels
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

/** Classes by their names in config.json. */
interface Judgements {
  entailment?: number | undefined;
  contradiction?: number | undefined;
}

/**
 * The classes of entailment and contradiction; if none is named entailment it is the last class, as upstream, with a
 * warning. Throws `unsupported` for a model with fewer than two classes.
 */
function judgements(config: Readonly<Record<string, unknown>>): Judgements {
  const { id2label, label2id } = namesOf(config);
  const ids = new Map(Object.entries(id2label).map(([id, name]) => [name, id]));
  const named = [...Object.entries(label2id), ...ids];
  const find = (test: RegExp) => {
    const found = named.find(([name]) => test.test(String(name)))?.[1];
    return found === undefined ? undefined : Number(found);
  };
  if (new Set(named.map(([, id]) => Number(id))).size === 1) throw oneClass();
  const entailment = find(/^entail/i);
  if (entailment === undefined) {
    const message = 'zero-shot-classification: config.json names no class "entailment": the last one is taken for it';
    warn({ code: 'no_entailment', message });
  }
  return { entailment, contradiction: find(/^(contradiction|not_entailment)/i) };
}

function oneClass(): ClearformerError {
  return new ClearformerError(
    'unsupported',
    'zero-shot-classification: this model has one class, it takes one that tells entailment from contradiction; for one score a pair there is text-ranking',
    { option: 'task' },
  );
}

/** @internal */
export const load = loader<LogitsModel, PreTrainedTokenizer, ZeroShotClassificationPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new ZeroShotClassificationPipeline(task, model, tokenizer),
});
