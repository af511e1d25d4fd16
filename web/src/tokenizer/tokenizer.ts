// Text to token ids and back: Hugging Face's tokenizers with the padding, truncation and tensors they lack in JavaScript.

import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { Callable } from '../support/callable.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import {
  callOptions,
  type Encoded,
  invalid,
  layOut,
  paddedLength,
  type TokenizerCallOptions,
  type TokenizerLists,
  type TokenizerOutput,
  truncationLimit,
} from './batch.js';
import { alignByteFallback } from './byte_fallback.js';

export interface DecodeOptions {
  /** Leave out tokens such as `<s>`. Default false. */
  skip_special_tokens?: boolean | undefined;
  /** Take spaces before punctuation out; default as tokenizer_config.json says. */
  clean_up_tokenization_spaces?: boolean | undefined;
}

/** Token ids of one text. */
export type TokenIds = readonly number[] | readonly bigint[] | Int32Array | BigInt64Array | Tensor;

type TokenizerConfig = Record<string, unknown>;
const specialNames = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

export interface PreTrainedTokenizer {
  /** Token ids of a text or a batch of texts. Rows of different lengths without `padding` throw `shape_mismatch`. */
  (
    text: string | readonly string[],
    options?: TokenizerCallOptions & { return_tensor?: true | undefined },
  ): TokenizerOutput;
  (text: string, options: TokenizerCallOptions & { return_tensor: false }): TokenizerLists<number[]>;
  (text: readonly string[], options: TokenizerCallOptions & { return_tensor: false }): TokenizerLists<number[][]>;
}

/** A tokenizer made from tokenizer.json and tokenizer_config.json. It is a function, too: `tokenizer('some text')`. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class PreTrainedTokenizer extends Callable<
  [string | readonly string[], TokenizerCallOptions?],
  TokenizerOutput | TokenizerLists<number[] | number[][]>
> {
  /** The side padding goes to; generation wants `left`. */
  padding_side: 'left' | 'right';
  /** The token padding is made of; null when the tokenizer has none. */
  pad_token: string | null;
  /** The longest input the model was made for; Infinity when the files do not say. */
  readonly model_max_length: number;
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #config: TokenizerConfig;
  readonly #special: ReadonlySet<number>;

  /** `tokenizerJson` and `config` are the parsed files. Throws `malformed_config` for what they cannot be. */
  constructor(tokenizerJson: object, config: object = {}) {
    super();
    this.#config = config as TokenizerConfig;
    try {
      this.#tokenizer = new HuggingFaceTokenizer(tokenizerJson, config);
      alignByteFallback(this.#tokenizer.decoder);
    } catch (cause) {
      throw new ClearformerError(
        'malformed_config',
        `tokenizer.json: ${messageOf(cause)}`,
        { file: 'tokenizer.json' },
        cause,
      );
    }
    const { padding_side, model_max_length } = this.#config;
    this.padding_side = padding_side === 'left' ? 'left' : 'right';
    this.pad_token = this.#tokenText('pad_token');
    // Files without a limit hold a number of thirty digits.
    this.model_max_length =
      typeof model_max_length === 'number' && model_max_length < 1e9 ? model_max_length : Number.POSITIVE_INFINITY;
    this.#special = this.#findSpecial();
  }

  /** Id of the padding token, and of the tokens that begin and end a text; null where the tokenizer has none. */
  get pad_token_id(): number | null {
    return this.#idOf(this.pad_token);
  }
  get bos_token_id(): number | null {
    return this.#idOf(this.#tokenText('bos_token'));
  }
  get eos_token_id(): number | null {
    return this.#idOf(this.#tokenText('eos_token'));
  }
  get unk_token_id(): number | null {
    return this.#idOf(this.#tokenText('unk_token'));
  }

  /** Ids that `skip_special_tokens` leaves out. */
  get all_special_ids(): number[] {
    return [...this.#special];
  }

  /** Number of tokens. */
  get vocab_size(): number {
    return this.#tokenizer.get_vocab().size;
  }

  /** The tokens of a text, as the vocabulary spells them. */
  tokenize(text: string, options: { add_special_tokens?: boolean | undefined } = {}): string[] {
    checkOptions('tokenize', options, ['add_special_tokens']);
    return this.#tokenizer.tokenize(text, { add_special_tokens: options.add_special_tokens ?? false });
  }

  /** The ids of one text (or pair) as numbers. */
  encode(
    text: string,
    options: { text_pair?: string | undefined; add_special_tokens?: boolean | undefined } = {},
  ): number[] {
    checkOptions('encode', options, ['text_pair', 'add_special_tokens']);
    return this.#encode(text, options.text_pair, options.add_special_tokens ?? true, false).ids;
  }

  /**
   * The text of one sequence of ids. Incomplete characters become U+FFFD; ids beyond the vocabulary, which models with
   * rounded-up sizes can produce, stand for no text.
   */
  decode(ids: TokenIds, options: DecodeOptions = {}): string {
    checkOptions('decode', options, ['skip_special_tokens', 'clean_up_tokenization_spaces']);
    const { skip_special_tokens = false, clean_up_tokenization_spaces } = options;
    const known = idList(ids).filter((id) => this.#tokenizer.id_to_token(id) !== undefined);
    const kept = skip_special_tokens ? known.filter((id) => !this.#special.has(id)) : known;
    if (kept.length === 0) return '';
    return this.#tokenizer.decode(kept, {
      skip_special_tokens: false,
      clean_up_tokenization_spaces: clean_up_tokenization_spaces ?? null,
    });
  }

  /** The text of every row of a tensor [batch, position] or of every sequence in an array. */
  batch_decode(batch: Tensor | readonly TokenIds[], options: DecodeOptions = {}): string[] {
    if (!(batch instanceof Tensor)) return batch.map((ids) => this.decode(ids, options));
    if (batch.dims.length !== 2) {
      throw new ClearformerError(
        'shape_mismatch',
        `batch_decode: needs dims [batch, position], got [${batch.dims.join(', ')}]`,
      );
    }
    return Array.from({ length: batch.dims[0] ?? 0 }, (_, row) => this.decode(batch.slice(row), options));
  }

  convert_ids_to_tokens(ids: TokenIds): string[] {
    return idList(ids).map((id) => this.#tokenAt(id));
  }

  /** Ids of tokens as the vocabulary spells them; the unknown token's id (or null) for those it has not. */
  convert_tokens_to_ids(tokens: readonly string[]): (number | null)[] {
    return tokens.map((token) => this.#tokenizer.token_to_id(token) ?? this.unk_token_id);
  }

  /** @internal */
  override _call(
    text: string | readonly string[],
    options: TokenizerCallOptions = {},
  ): TokenizerOutput | TokenizerLists<number[] | number[][]> {
    checkOptions('tokenizer', options, callOptions);
    const rows = this.#encodeAll(text, options);
    const longest = Math.max(0, ...rows.map((row) => row.ids.length));
    const length = paddedLength(longest, options, this.model_max_length);
    const needed = length !== undefined && rows.some((row) => row.ids.length < length);
    const padding = { length, side: this.padding_side, id: needed ? this.#padId() : 0 };
    return layOut(rows, padding, options, typeof text === 'string');
  }

  #encodeAll(text: string | readonly string[], options: TokenizerCallOptions): Encoded[] {
    const texts = typeof text === 'string' ? [text] : text;
    const pairs = typeof options.text_pair === 'string' ? [options.text_pair] : options.text_pair;
    if (!Array.isArray(texts) || !texts.every((one) => typeof one === 'string')) {
      throw new ClearformerError('invalid_argument', 'tokenizer: needs a text or an array of texts');
    }
    if (pairs !== undefined && pairs.length !== texts.length) {
      throw new ClearformerError('shape_mismatch', `tokenizer: ${texts.length} texts, ${pairs.length} pairs`);
    }
    const limit = truncationLimit(options, this.model_max_length);
    const special = options.add_special_tokens ?? true;
    return texts.map((one, i) => {
      const whole = this.#encode(one, pairs?.[i], special, options.return_token_type_ids ?? false);
      return whole.ids.length <= limit ? whole : this.#truncate(one, whole, limit, pairs !== undefined, special);
    });
  }

  #encode(
    text: string,
    pair: string | undefined,
    add_special_tokens: boolean,
    return_token_type_ids: boolean,
  ): Encoded {
    const text_pair = pair ?? null;
    const { ids, token_type_ids } = this.#tokenizer.encode(text, {
      text_pair,
      add_special_tokens,
      return_token_type_ids,
    }) as { ids: number[]; token_type_ids?: number[] };
    if (ids.some((id) => typeof id !== 'number')) {
      throw new ClearformerError(
        'invalid_argument',
        'tokenizer: the text has a part no token stands for, and there is no unknown token',
      );
    }
    return { ids, types: token_type_ids };
  }

  /** Cuts the text's own tokens, so that the special ones around them stay. */
  #truncate(text: string, whole: Encoded, limit: number, isPair: boolean, special: boolean): Encoded {
    if (isPair) {
      throw new ClearformerError('unsupported', 'tokenizer: a pair cannot be truncated yet', { option: 'truncation' });
    }
    const own = special ? this.#encode(text, undefined, false, false).ids : whole.ids;
    const [before, after] = special ? this.#specialAround() : [0, 0];
    const room = limit - before - after;
    if (room < 0) {
      throw invalid('max_length', `max_length ${limit} has no room for ${before + after} special tokens`);
    }
    const ids = [...whole.ids.slice(0, before), ...own.slice(0, room), ...whole.ids.slice(whole.ids.length - after)];
    return { ids, types: whole.types?.slice(0, ids.length) };
  }

  /** How many special tokens stand before and after a text, found with a token no text has. */
  #specialAround(): [before: number, after: number] {
    const marker = '\u0000';
    const tokens: string[] = this.#tokenizer.post_processor?.([marker], null, true).tokens ?? [marker];
    const place = tokens.indexOf(marker);
    return [place, tokens.length - 1 - place];
  }

  #padId(): number {
    const id = this.pad_token_id;
    if (id !== null) return id;
    throw invalid('padding', 'it has no padding token; set tokenizer.pad_token to one of its tokens');
  }

  #tokenText(name: (typeof specialNames)[number]): string | null {
    const token = this.#config[name];
    if (typeof token === 'string') return token;
    const content = (token as { content?: unknown } | null | undefined)?.content;
    return typeof content === 'string' ? content : null;
  }

  #idOf(token: string | null): number | null {
    return token === null ? null : (this.#tokenizer.token_to_id(token) ?? null);
  }

  #findSpecial(): Set<number> {
    const ids = new Set<number>();
    for (const [id, token] of this.#tokenizer.get_added_tokens_decoder()) if (token.special) ids.add(id);
    for (const name of specialNames) {
      const id = this.#idOf(this.#tokenText(name));
      if (id !== null) ids.add(id);
    }
    return ids;
  }

  #tokenAt(id: number): string {
    const token = this.#tokenizer.id_to_token(id);
    if (token !== undefined) return token;
    throw new ClearformerError(
      'invalid_argument',
      `token id ${id} is not in the vocabulary of ${this.vocab_size} tokens`,
    );
  }
}

function idList(ids: TokenIds): number[] {
  if (ids instanceof Tensor && ids.dims.length !== 1) {
    throw new ClearformerError(
      'shape_mismatch',
      `token ids of one text have dims [position], got [${ids.dims.join(', ')}] (batch_decode takes several)`,
    );
  }
  return Array.from((ids instanceof Tensor ? ids.data : ids) as ArrayLike<number | bigint>, (given) => {
    const id = Number(given);
    if (Number.isSafeInteger(id) && id >= 0) return id;
    throw new ClearformerError('invalid_argument', `${String(given)} is no token id`);
  });
}
