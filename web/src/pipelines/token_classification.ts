// token-classification: named entities and other classes of words in a text.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { checkChoice } from '../support/choices.js';
import { checkOptions, expectArgument, refusedOption } from '../support/options.js';
import type { Steps } from '../support/steps.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PacedCallOptions, TokenizerOutput } from '../text/batch.js';
import type { Token } from '../text/encoder.js';
import { isListOfTexts } from '../text/token_lists.js';
import type { EncodeText, PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import {
  type AggregationStrategy,
  type EntityGroup,
  entityGroups,
  type ScoredToken,
  type Spelling,
  type TokenEntity,
  tokenEntities,
  withoutOverlaps,
} from './entities.js';
import { loader } from './load_pipeline.js';
import { labelOf, rowOf, softmax } from './scores.js';
import {
  cut,
  inTextBatches,
  modelInputs,
  type TextCallOptions,
  textCallOptions,
  textList,
  tokenizing,
} from './texts.js';

/** Options of a call. */
export interface TokenClassificationOptions extends TextCallOptions {
  /**
   * How tokens are aggregated to entities (default `none`). `simple`: adjacent tokens of one kind form an entity;
   * `first`, `average`, `max`: so do words, whose class is that of their first token, of its mean scores, of the
   * highest score.
   */
  aggregation_strategy?: AggregationStrategy | undefined;
  /** Labels that are omitted. Default: O. */
  ignore_labels?: readonly string[] | undefined;
  /**
   * Process long texts in windows that overlap by this number of tokens, instead of truncating; not with strategy
   * `none`. A window has `max_length` tokens, or as many as tokenizer and model allow.
   */
  stride?: number | undefined;
  /**
   * The texts are arrays of words, of which each is tokenized by itself; spans are those in the joined words. Default
   * false.
   */
  is_split_into_words?: boolean | undefined;
  /** What joins words. Default: a space. Needs `is_split_into_words`. */
  delimiter?: string | undefined;
}

type Ungrouped = TokenClassificationOptions & { aggregation_strategy?: 'none' | undefined };
type Grouped = TokenClassificationOptions & { aggregation_strategy: Exclude<AggregationStrategy, 'none'> };
type Texts = string | readonly string[] | readonly (readonly string[])[];
type Words = readonly (readonly string[])[];

/** Named entity recognition. */
export interface TokenClassificationPipeline {
  /**
   * The entities of a text, or of each text, in order. Rejects with `invalid_argument` or `unsupported` for invalid
   * arguments, `disposed`, or the abort signal's reason.
   */
  (text: string, options?: Ungrouped): Promise<TokenEntity[]>;
  /** The same for several texts. */
  (texts: readonly string[], options?: Ungrouped): Promise<TokenEntity[][]>;
  /** Tokens grouped to entities. */
  (text: string, options: Grouped): Promise<EntityGroup[]>;
  /** The same for several texts. */
  (texts: readonly string[], options: Grouped): Promise<EntityGroup[][]>;
  /** One of both, as `aggregation_strategy` is. */
  (text: string, options?: TokenClassificationOptions): Promise<Entities>;
  /** The same for several texts. */
  (texts: readonly string[], options?: TokenClassificationOptions): Promise<Entities[]>;
  /** The entities of each array of words; of one such array, too, they are those of a batch, as in transformers. */
  (texts: readonly string[] | Words, options: Ungrouped & { is_split_into_words: true }): Promise<TokenEntity[][]>;
  /** Words grouped to entities. */
  (texts: readonly string[] | Words, options: Grouped & { is_split_into_words: true }): Promise<EntityGroup[][]>;
  /** One of these, as the texts are. */
  (texts: Texts, options?: TokenClassificationOptions): Promise<Entities | Entities[]>;
}

type Entities = TokenEntity[] | EntityGroup[];

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TokenClassificationPipeline extends Pipeline<
  [Texts, TokenClassificationOptions?],
  Entities | Entities[],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly #spelling: Spelling;

  /** @internal */
  constructor(task: string, model: LogitsModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.#spelling = {
      label: (id) => labelOf(model.config, id),
      text: (tokens) => tokenizer.convert_tokens_to_string(tokens),
    };
  }

  /** @internal */
  override async _call(texts: Texts, options: TokenClassificationOptions = {}): Promise<Entities | Entities[]> {
    checkOptions(this.task, options, [...textCallOptions, ...ownOptions]);
    const { aggregation_strategy: strategy = 'none', signal } = options;
    const ignored = options.ignore_labels ?? ['O'];
    expectArgument(`${this.task}: ignore_labels`, isListOfTexts(ignored), 'an array of labels', ignored);
    checkChoice('aggregation_strategy', strategy, ['none', 'simple', 'first', 'average', 'max']);
    const results = await inTextBatches(this.#given(texts, options), this.tokenizer, options, async (part) => {
      const encoded = await this.#encode(part, this.#tokenizing(options, strategy));
      const { logits } = await this.model(modelInputs(encoded), { signal });
      const found = part.map((): Entities[] => []);
      const samples = encoded.overflow_to_sample_mapping?.data;
      for (let row = 0; row < (logits.dims[0] ?? 0); row++) {
        const sample = Number(samples?.[row] ?? row);
        const tokens = this.#scored(encoded, row, rowOf(logits, row), part[sample] as Given);
        found[sample]?.push(this.#entities(tokens, strategy, ignored));
      }
      return found.map((rows, i) =>
        rows.length > 1 ? withoutOverlaps(rows.flat() as EntityGroup[], part[i]?.text as string) : (rows[0] ?? []),
      );
    });
    return Array.isArray(texts) ? results : (results[0] as Entities);
  }

  /** The texts; those that are split into words with the places of these. */
  #given(texts: Texts, { is_split_into_words: split = false, delimiter }: TokenClassificationOptions): Given[] {
    expectArgument(`${this.task}: is_split_into_words`, typeof split === 'boolean', 'true or false', split);
    if (!split) {
      if (delimiter !== undefined) throw refusedOption(this.task, 'delimiter', 'needs is_split_into_words');
      return textList(this.task, texts as string | readonly string[]).map((text) => ({ text }));
    }
    const between = delimiter ?? ' ';
    expectArgument(`${this.task}: delimiter`, typeof between === 'string', 'a text', between);
    const isList = Array.isArray(texts) && texts.every((one) => Array.isArray(one));
    return (isList ? (texts as Words) : [texts as readonly string[]]).map((words) => {
      expectArgument(this.task, isListOfTexts(words), 'an array of words or several, split into words', words);
      let end = -between.length;
      const starts = words.map((word) => {
        const start = end + between.length;
        end = start + word.length;
        return start;
      });
      return { text: words.join(between), words, starts };
    });
  }

  #encode(part: readonly Given[], options: PacedCallOptions): Promise<TokenizerOutput> {
    const texts = part.map(({ text, words }) => (words ? '' : text)); // spans of tokens are those within their words
    const encode: EncodeText | undefined = part[0]?.words && ((encoder, i) => tokensOf(encoder, part[i]?.words ?? []));
    return this.tokenizer.paced(texts, options, encode);
  }

  #tokenizing(options: TokenClassificationOptions, strategy: AggregationStrategy): PacedCallOptions {
    const { stride } = options;
    if (stride !== undefined && strategy === 'none') {
      throw refusedOption(this.task, 'stride', 'needs an aggregation_strategy');
    }
    const marks = { return_special_tokens_mask: true, return_offsets_mapping: true };
    if (stride === undefined) return { ...tokenizing(this.tokenizer, options), ...marks };
    const usual = tokenizing(this.tokenizer, cut(this, options));
    return { ...usual, ...marks, stride, return_overflowing_tokens: true };
  }

  /** The tokens of a row that belong to the text. */
  #scored(encoded: TokenizerOutput, row: number, logits: Float32Array, { text, starts }: Given): ScoredToken[] {
    const words = starts && encoded.word_ids(row);
    const width = encoded.input_ids.dims[1] ?? 0;
    const classes = logits.length / width;
    const continues = this.tokenizer.continuing_prefix ? markedSubword : unmarkedSubword;
    const tokens: ScoredToken[] = [];
    for (let index = 0; index < width; index++) {
      const at = row * width + index;
      if (encoded.special_tokens_mask?.data[at] !== 0n) continue;
      const id = Number(encoded.input_ids.data[at]);
      const from = starts?.[words?.[index] ?? 0] ?? 0;
      const [start, end] = [0, 1].map((side) => from + Number(encoded.offset_mapping?.data[2 * at + side])) as [
        number,
        number,
      ];
      const isUnknown = id === this.tokenizer.unk_token_id;
      const word = isUnknown ? text.slice(start, end) : this.tokenizer.convert_ids_to_tokens(id);
      const is_subword = !isUnknown && continues(word, text, start, end);
      const scores = softmax(logits.subarray(index * classes, (index + 1) * classes));
      tokens.push({ word, scores, index, start, end, is_subword });
    }
    return tokens;
  }

  #entities(tokens: readonly ScoredToken[], strategy: AggregationStrategy, ignored: readonly string[]): Entities {
    if (strategy === 'none') {
      return tokenEntities(tokens, this.#spelling).filter(({ entity }) => !ignored.includes(entity));
    }
    return entityGroups(tokens, strategy, this.#spelling).filter(({ entity_group }) => !ignored.includes(entity_group));
  }
}

/** A text; one that is split with its words and where they begin. */
interface Given {
  text: string;
  words?: readonly string[];
  starts?: readonly number[];
}

const ownOptions = ['aggregation_strategy', 'ignore_labels', 'stride', 'is_split_into_words', 'delimiter'];

/** The tokens of words, each by itself. */
function* tokensOf(encoder: Parameters<EncodeText>[0], words: readonly string[]): Steps<Token[]> {
  const tokens: Token[] = [];
  for (const [word, text] of words.entries()) {
    for (const token of yield* encoder.encode(text, 0, true)) tokens.push({ ...token, word });
  }
  return tokens;
}

/** Upstream's test: the mark makes a token longer than its text. */
function markedSubword(word: string, _text: string, start: number, end: number): boolean {
  return word.length !== end - start;
}

/** Upstream's heuristic without marks: no space before it, nor as its first character. */
function unmarkedSubword(_word: string, text: string, start: number): boolean {
  return start > 0 && !text.slice(start - 1, start + 1).includes(' ');
}

/** @internal */
export const load = loader<LogitsModel, PreTrainedTokenizer, TokenClassificationPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new TokenClassificationPipeline(task, model, tokenizer),
});
