// Converts text to token ids and back, with padding, truncation and tensors.

import { brokenTokenizerRules, expectNone } from '../checkpoint/file_rules.js';
import { Callable } from '../support/callable.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, expectArgument, withoutNulls } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { atOnce, inSlices, type Steps } from '../support/steps.js';
import { isTensor, type Tensor } from '../tensor/tensor.js';
import { readAddedTokens } from './added_tokens.js';
import {
  callOptions,
  layOut,
  type PacedCallOptions,
  paddingOf,
  type Row,
  type TokenizerCall,
  type TokenizerCallOptions,
  type TokenizerLists,
  type TokenizerOutput,
  truncationOf,
} from './batch.js';
import type { ChatPromptOptions, Chats, Conversation } from './chat_prompt.js';
import { cleanedUp, TokenDecoder } from './decoder.js';
import { Encoder, type Token, type WholeJson } from './encoder.js';
import type { Model } from './model_parts.js';
import { modelOf } from './models.js';
import { PostProcessor, type Rows } from './post_processor.js';
import { type Side, settingsOf, withStored } from './settings.js';
import {
  addedTokensOf,
  classNameOf,
  modelInputNames,
  modelTokenTexts,
  specialNames,
  specialTokensOf,
  type TokenizerConfig,
} from './special_tokens.js';
import { expectTexts, idList, spellings, type TokenIds } from './token_lists.js';
import { truncated } from './truncation.js';

/** Options of decoding. */
export interface DecodeOptions {
  /** Omit tokens such as `<s>`. Default false. */
  skip_special_tokens?: boolean | undefined;
  /** Remove spaces before punctuation; default: the setting of tokenizer_config.json. */
  clean_up_tokenization_spaces?: boolean | undefined;
  /** Whisper: keep timestamps, as `<|1.08|>`; the tokenizer must be loaded by AutoTokenizer. Default false. */
  decode_with_timestamps?: boolean | undefined;
}

/** The tokens of a batch's text of this index, if it is not encoded as a whole. */
export type EncodeText = (encoder: Encoder, sample: number) => Steps<Token[]>;

export interface PreTrainedTokenizer extends TokenizerCall {}

/** A tokenizer made from tokenizer.json and tokenizer_config.json. Instances are callable: `tokenizer('some text')`. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class PreTrainedTokenizer extends Callable<
  [string | readonly string[], OrNull<TokenizerCallOptions>?],
  TokenizerOutput | TokenizerLists<number[] | number[][]>
> {
  /** The side that is padded; generation needs `left`. */
  declare padding_side: Side;
  /** The side that tokens are truncated from. */
  declare truncation_side: Side;
  // The special tokens by role; null if the tokenizer has none. `pad_token` is used for padding.
  declare bos_token: string | null;
  declare eos_token: string | null;
  declare unk_token: string | null;
  declare sep_token: string | null;
  declare pad_token: string | null;
  declare cls_token: string | null;
  declare mask_token: string | null;
  // Their ids; null if the tokenizer has none.
  declare readonly bos_token_id: number | null;
  declare readonly eos_token_id: number | null;
  declare readonly unk_token_id: number | null;
  declare readonly sep_token_id: number | null;
  declare readonly pad_token_id: number | null;
  declare readonly cls_token_id: number | null;
  declare readonly mask_token_id: number | null;
  /** The model's maximum input length; Infinity if the files do not give it. */
  declare readonly model_max_length: number;
  /**
   * The Jinja chat template, or several by name, of files of their own or tokenizer_config.json; null if there is
   * none.
   */
  declare readonly chat_template: string | Readonly<Record<string, string>> | null;
  /** The texts' language, with NLLB, mBART and M2M100 only; one without a token throws `invalid_argument`. */
  declare src_lang?: string | undefined;
  /** The model's inputs: without `attention_mask` it was trained without one. */
  readonly model_input_names: readonly string[];
  readonly #model: Model;
  readonly #tokens: readonly (string | undefined)[]; // by id
  readonly #encoder: Encoder;
  readonly #decoder: TokenDecoder;
  #postProcessor: PostProcessor;
  readonly #config: TokenizerConfig;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #padType: number;

  /**
   * `tokenizerJson` and `config` are the parsed files. Throws `malformed_config` for invalid ones, `unsupported` for
   * unknown steps.
   */
  constructor(tokenizerJson: object, config: object = {}) {
    super();
    for (const one of [tokenizerJson, config]) {
      expectArgument('PreTrainedTokenizer', isObject(one), 'objects', one);
    }
    const json = tokenizerJson as WholeJson;
    try {
      expectNone(brokenTokenizerRules(tokenizerJson, config));
      this.#config = withStored(config as TokenizerConfig, json);
      this.model_input_names = modelInputNames(this.#config);
      this.#model = modelOf(json.model);
      const added_tokens = addedTokensOf(readAddedTokens(json.added_tokens), this.#model, this.#config);
      this.#addedIds = new Map(added_tokens.map(({ content, id }) => [content, id]));
      this.#encoder = new Encoder({ ...json, added_tokens }, this.#model, this.#config);
      this.#tokens = spellings(this.#model, this.#encoder.added);
      const wordEnd = classNameOf(this.#config) === 'clip' ? json.model.end_of_word_suffix : undefined;
      this.#decoder = new TokenDecoder(json.decoder, this.#tokens, this.#encoder.added, wordEnd);
      this.#postProcessor = new PostProcessor(json.post_processor, (id) => this.#tokens[id]);
    } catch (cause) {
      if (cause instanceof ClearformerError) throw cause;
      throw new ClearformerError(
        'malformed_config',
        `tokenizer.json: ${messageOf(cause)}`,
        { file: 'tokenizer.json' },
        cause,
      );
    }
    const { pad_type, ...settings } = settingsOf(this.#config, json);
    this.#padType = pad_type;
    Object.assign(
      this,
      settings,
      specialTokensOf(this.#config, (token) => this.#idOf(token) !== null),
    );
    for (const name of specialNames) Object.defineProperty(this, `${name}_id`, { get: () => this.#idOf(this[name]) });
  }

  /** Ids that `skip_special_tokens` omits. */
  get all_special_ids(): number[] {
    return [...this.#special()];
  }

  /** Their texts. */
  get all_special_tokens(): string[] {
    return this.convert_ids_to_tokens(this.all_special_ids);
  }

  /** @internal Replaces the special tokens around texts; `step` is as in tokenizer.json. */
  set post_processor(step: object) {
    this.#postProcessor = new PostProcessor(step, (id) => this.#tokens[id]);
  }

  /** Special tokens by role, without unused roles, and the model's own by name (`image_token`). */
  get special_tokens_map(): Record<string, string> {
    const held = specialNames.map((name) => [name, this[name]] as const).filter(([, token]) => token !== null);
    return { ...(Object.fromEntries(held) as Record<string, string>), ...modelTokenTexts(this.#config) };
  }

  /** Number of tokens. */
  get vocab_size(): number {
    const { ids } = this.#model;
    return ids.size + Array.from(this.#addedIds.keys()).filter((token) => !ids.has(token)).length;
  }

  /** @internal The highest token id. */
  get largest_id(): number {
    return this.#tokens.length - 1;
  }

  /** @internal Whether there is a token of this id. */
  has_id(id: number): boolean {
    return this.#tokens[id] !== undefined;
  }

  /** @internal What marks tokens that continue a word, as WordPiece's ##; none if it is empty. */
  get continuing_prefix(): string {
    return this.#model.prefix ?? '';
  }

  /** The number of special tokens added to a text, or a pair (`'pair'`, or true as in transformers). */
  num_special_tokens_to_add(pair: 'single' | 'pair' | boolean = 'single'): number {
    const known = ['single', 'pair', true, false];
    expectArgument('num_special_tokens_to_add', known.includes(pair), "'single', 'pair', true or false", pair);
    return this.#postProcessor.added(pair === true || pair === 'pair');
  }

  /** The tokens of a text, as in the vocabulary. */
  tokenize(
    text: string,
    options: { text_pair?: string | undefined; add_special_tokens?: boolean | undefined } = {},
  ): string[] {
    checkOptions('tokenize', options, ['text_pair', 'add_special_tokens']);
    const tokens = atOnce(this.#encodeWhole(text, options.text_pair, options.add_special_tokens ?? false));
    return tokens.map(({ id, value }) => value ?? this.#tokenAt(id));
  }

  /** The ids of one text (or pair) as numbers. */
  encode(
    text: string,
    options: { text_pair?: string | undefined; add_special_tokens?: boolean | undefined } = {},
  ): number[] {
    checkOptions('encode', options, ['text_pair', 'add_special_tokens']);
    return atOnce(this.#encodeWhole(text, options.text_pair, options.add_special_tokens ?? true)).map(({ id }) => id);
  }

  /**
   * Decodes one sequence of ids, or one id. Incomplete characters become U+FFFD; ids beyond the vocabulary, which
   * models with rounded-up sizes can produce, give no text.
   */
  decode(ids: TokenIds | number | bigint, options: DecodeOptions = {}): string {
    checkOptions('decode', options, ['skip_special_tokens', 'clean_up_tokenization_spaces']);
    const { skip_special_tokens, clean_up_tokenization_spaces } = options;
    const omitted = skip_special_tokens ? this.#special() : undefined;
    const text = this.#decoder.decode(idList(ids).filter((id) => !omitted?.has(id)));
    // As in transformers, the file's setting does not apply to BPE, whose spaces are the text's own.
    const usual = this.#config.clean_up_tokenization_spaces === true && this.#model.kind !== 'BPE';
    return (clean_up_tokenization_spaces ?? usual) ? cleanedUp(text) : text;
  }

  /** Decodes every row of a tensor [batch, position] or every sequence of an array. */
  batch_decode(batch: Tensor | readonly TokenIds[], options: DecodeOptions = {}): string[] {
    if (!Array.isArray(batch)) {
      expectArgument('batch_decode', isTensor(batch), 'a Tensor or an array of token ids', batch);
      if (batch.dims.length !== 2) {
        const message = `batch_decode: needs dims [batch, position], got [${batch.dims.join(', ')}]`;
        throw new ClearformerError('shape_mismatch', message);
      }
    }
    return Array.from(batch as Iterable<TokenIds>, (ids) => this.decode(ids, options));
  }

  /**
   * Renders a conversation, or a batch of them, with the chat template: ids and mask, or with `tokenize: false` the
   * text. Rejects like `apply_chat_template` of `clearformer/chat_template`.
   */
  apply_chat_template(conversation: Conversation, options: ChatPromptOptions & { tokenize: false }): Promise<string>;
  apply_chat_template(
    conversations: readonly Conversation[],
    options: ChatPromptOptions & { tokenize: false },
  ): Promise<string[]>;
  apply_chat_template(
    conversation: Chats,
    options: ChatPromptOptions & { tokenize?: true | undefined; return_dict: false },
  ): Promise<Tensor<'int64'>>;
  apply_chat_template(
    conversation: Chats,
    options?: ChatPromptOptions & { tokenize?: true | undefined; return_dict?: true | undefined },
  ): Promise<TokenizerOutput>;
  apply_chat_template(
    conversation: Chats,
    options?: ChatPromptOptions,
  ): Promise<string | string[] | TokenizerOutput | Tensor<'int64'>>;
  apply_chat_template(
    conversation: Chats,
    options: ChatPromptOptions = {},
  ): Promise<string | string[] | TokenizerOutput | Tensor<'int64'>> {
    const prompt = import('./chat_prompt.js').then((part) => part.chatPrompt(this, conversation, options));
    // `{ ...prompt }` would be no inputs, with which models generate as well.
    const get = () => expectArgument('apply_chat_template', false, 'await', prompt);
    return Object.defineProperty(prompt, 'input_ids', { enumerable: true, get });
  }

  /** The vocabulary's entry for an id, or for each of several. */
  convert_ids_to_tokens(ids: number): string;
  convert_ids_to_tokens(ids: TokenIds): string[];
  convert_ids_to_tokens(ids: number | TokenIds): string | string[] {
    return typeof ids === 'number' ? this.#tokenAt(ids) : idList(ids).map((id) => this.#tokenAt(id));
  }

  /** Ids of tokens as in the vocabulary; the unknown token's id (or null) for others. */
  convert_tokens_to_ids(tokens: string): number | null;
  convert_tokens_to_ids(tokens: readonly string[]): (number | null)[];
  convert_tokens_to_ids(tokens: string | readonly string[]): number | null | (number | null)[] {
    if (typeof tokens === 'string') return this.#idOf(tokens) ?? this.unk_token_id;
    expectTexts('convert_tokens_to_ids', tokens);
    return tokens.map((token) => this.convert_tokens_to_ids(token));
  }

  /** Tokens as text, by the file's decoder; others than the vocabulary's are taken as they are. */
  convert_tokens_to_string(tokens: readonly string[]): string {
    expectTexts('convert_tokens_to_string', tokens);
    return this.#decoder.joined(tokens);
  }

  /** @internal */
  override _call(
    text: string | readonly string[],
    options: OrNull<TokenizerCallOptions> = {},
  ): TokenizerOutput | TokenizerLists<number[] | number[][]> {
    return atOnce(this.#encoded(text, options));
  }

  /**
   * The same in slices of time, so that the thread stays responsive over long texts and the signal is seen: rejects
   * with its reason. `encode` is internal.
   */
  async paced(
    text: string | readonly string[],
    options: PacedCallOptions = {},
    encode?: EncodeText,
  ): Promise<TokenizerOutput> {
    checkOptions('tokenizer', options, [...callOptions, 'signal']);
    const { signal, ...given } = options;
    return (await inSlices(this.#encoded(text, given, encode), signal)) as TokenizerOutput;
  }

  *#encoded(
    text: string | readonly string[],
    given: OrNull<TokenizerCallOptions>,
    encode?: EncodeText,
  ): Steps<TokenizerOutput | TokenizerLists<number[] | number[][]>> {
    checkOptions('tokenizer', given, callOptions);
    const options = withoutNulls<TokenizerCallOptions>(given);
    const rows = yield* this.#encodeAll(text, options, encode);
    const padding = paddingOf(rows, options, this, this.#padType);
    const spelling = (id: number) => this.#tokenAt(id);
    const how = { single: typeof text === 'string', spelling, inputs: this.model_input_names };
    return yield* layOut(rows, padding, options, how);
  }

  *#encodeAll(
    text: string | readonly string[],
    options: TokenizerCallOptions,
    encode: EncodeText | undefined,
  ): Steps<Row[]> {
    const texts = typeof text === 'string' ? [text] : text;
    // As in transformers, an empty text is no pair of a single one.
    const pair = options.text_pair === '' ? undefined : options.text_pair;
    const pairs = typeof pair === 'string' ? [pair] : pair;
    expectTexts('tokenizer', texts);
    if (pairs !== undefined) {
      expectTexts('tokenizer: text_pair', pairs);
      if (pairs.length !== texts.length)
        throw new ClearformerError('shape_mismatch', `tokenizer: ${texts.length} texts, ${pairs.length} pairs`);
    }
    const special = options.add_special_tokens ?? true;
    const postProcessor = this.#postProcessor; // src_lang may be set while this call is suspended
    const truncation = truncationOf(options, special ? postProcessor.added(pairs !== undefined) : 0, this);
    const withOffsets = options.return_offsets_mapping ?? false;
    const all: Row[] = [];
    for (const [sample, one] of texts.entries()) {
      const pair = pairs?.[sample];
      const parts = encode ? [yield* encode(this.#encoder, sample)] : yield* this.#parts(one, pair, withOffsets);
      const cut = truncation === undefined ? parts.map((part) => [part]) : truncated(parts, truncation);
      const rows = yield* postProcessor.process(cut, special, withOffsets ? [one, pair ?? ''] : undefined);
      for (const tokens of options.return_overflowing_tokens ? rows : rows.slice(0, 1)) all.push({ tokens, sample });
      yield;
    }
    return all;
  }

  *#parts(text: string, pair: string | undefined, withOffsets: boolean): Steps<Token[][]> {
    const first = yield* this.#encoder.encode(text, 0, withOffsets);
    return pair === undefined ? [first] : [first, yield* this.#encoder.encode(pair, 1, withOffsets)];
  }

  *#encodeWhole(text: string, pair: string | undefined, special: boolean): Steps<readonly Token[]> {
    expectArgument('tokenizer', typeof text === 'string', 'a text', text);
    expectArgument('tokenizer: text_pair', typeof (pair ?? '') === 'string', 'a text', pair);
    const parts: Rows[] = (yield* this.#parts(text, pair || undefined, false)).map((part) => [part]);
    return (yield* this.#postProcessor.process(parts, special, undefined))[0] ?? [];
  }

  #special(): ReadonlySet<number> {
    const named = specialNames.map((name) => this.#idOf(this[name])).filter((id) => id !== null);
    return new Set([...this.#decoder.special, ...named]);
  }

  #idOf(token: string | null): number | null {
    return token === null ? null : (this.#addedIds.get(token) ?? this.#model.ids.get(token) ?? null);
  }

  #tokenAt(id: number): string {
    const token = this.#tokens[id];
    if (token !== undefined) return token;
    throw new ClearformerError('invalid_argument', `token id ${id} is none of ${this.vocab_size} tokens`);
  }
}
