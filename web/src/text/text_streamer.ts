// Streams text while it is generated: token ids in, whole characters out.

import { ClearformerError } from '../support/error.js';
import { checkOptions, expectArgument } from '../support/options.js';
import { isNode, nodeModule } from '../support/platform.js';
import { idList, type TokenIds } from './token_lists.js';
import type { PreTrainedTokenizer } from './tokenizer.js';

/** An incomplete character decodes to this. */
const replacement = '\uFFFD';
/** Number of tokens before the first new one that are decoded with it: a space between words may belong to either. */
const contextTokens = 16;

/**
 * Decodes a growing sequence piece by piece. The concatenated pieces are the text of the whole sequence, by default
 * (other than `decode`'s) without special tokens; a character spread over several tokens is returned in one piece, with
 * the last of them. Only where tokens of single bytes in a row are no UTF-8, of which `decode` makes U+FFFD each, those
 * that were text when they came remain so.
 */
export class IncrementalDecoder {
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #skip: ReadonlySet<number>;
  // Tokens from the start of the last piece returned; the first #shown of them are already text.
  #window: number[] = [];
  #shown = 0;

  constructor(tokenizer: PreTrainedTokenizer, options: { skip_special_tokens?: boolean | undefined } = {}) {
    checkOptions('IncrementalDecoder', options, ['skip_special_tokens']);
    expectTokenizer('IncrementalDecoder', tokenizer);
    this.#tokenizer = tokenizer;
    this.#skip = new Set((options.skip_special_tokens ?? true) ? tokenizer.all_special_ids : []);
  }

  /** Sets the tokens before the first one, which give no text. Throws `invalid_argument` for what is no list of ids. */
  begin(context: TokenIds): void {
    const ids = idList(context, 'IncrementalDecoder');
    this.#window = ids.filter((id) => this.#hasText(id)).slice(-contextTokens);
    this.#shown = this.#window.length;
  }

  /** The text completed by this token; '' while a character is incomplete. Throws `invalid_argument` for what is no id. */
  push(token: number | bigint): string {
    const [id] = idList([token] as TokenIds, 'IncrementalDecoder') as [number];
    if (!this.#hasText(id)) return '';
    this.#window.push(id);
    const text = this.#text(this.#window);
    return text.endsWith(replacement) ? '' : this.#emit(text);
  }

  /** The text since the last piece, without an incomplete character at its end. */
  get pending(): string {
    return this.#piece(this.#text(this.#window)).replace(/\uFFFD+$/, '');
  }

  /** The rest at the end: an incomplete character as U+FFFD, or ''. */
  end(): string {
    return this.#emit(this.#text(this.#window));
  }

  /** Whether decoding takes notice of an id: as context, others would be the start of a text. */
  #hasText(id: number): boolean {
    return !this.#skip.has(id) && this.#tokenizer.has_id(id);
  }

  #emit(text: string): string {
    const piece = this.#piece(text);
    this.#window = this.#window.slice(this.#shown);
    this.#shown = this.#window.length;
    return piece;
  }

  /** What is new in the window's text. */
  #piece(text: string): string {
    let before = this.#text(this.#window.slice(0, this.#shown));
    // A character that the context left incomplete belongs to the new text.
    while (before.endsWith(replacement) && !text.startsWith(before)) before = before.slice(0, -1);
    return text.slice(before.length);
  }

  // Cleaning up spaces would change text already returned.
  #text(ids: readonly number[]): string {
    return this.#tokenizer.decode(ids, { clean_up_tokenization_spaces: false });
  }
}

/** Receives the tokens of `generate` while it runs: first the prompt's ids, then each step's, one row per sequence. */
export interface Streamer {
  /** Receives the ids of a step, [sequence][token]; the prompt first. */
  put(value: bigint[][]): void;
  /** Called after the last token. */
  end(): void;
}

/** Base class of streamers: override both methods. */
export abstract class BaseStreamer implements Streamer {
  /** Receives the ids of a step, [sequence][token]; the prompt first. */
  abstract put(value: bigint[][]): void;
  /** Called after the last token. */
  abstract end(): void;
}

/** Options of TextStreamer, as in transformers.js. */
export interface TextStreamerOptions {
  /** Omit the prompt. Default false. */
  skip_prompt?: boolean | undefined;
  /** Omit special tokens. Default true. */
  skip_special_tokens?: boolean | undefined;
  /** Called with every piece of text. Default: prints it, to standard output or else the console. */
  callback_function?: ((text: string) => void) | null | undefined;
  /** Called with every step's token ids. */
  token_callback_function?: ((ids: bigint[]) => void) | null | undefined;
  /** May contain `skip_special_tokens`, which comes before the one beside it. */
  decode_kwargs?: { skip_special_tokens?: boolean | undefined } | undefined;
}

function print(text: string): void {
  if (isNode()) nodeModule('node:process').stdout.write(text);
  else console.log(text);
}

/** Throws `invalid_argument` for what is no tokenizer. */
export function expectTokenizer(call: string, tokenizer: unknown): void {
  expectArgument(call, typeof (tokenizer as PreTrainedTokenizer)?.decode === 'function', 'a tokenizer', tokenizer);
}

/** The names of TextStreamer's options. */
export const textStreamerOptions: readonly string[] = [
  'skip_prompt',
  'skip_special_tokens',
  'decode_kwargs',
  'callback_function',
  'token_callback_function',
];

/** Decodes the tokens of one sequence while they are generated: `generate(inputs, { streamer })`. */
export class TextStreamer extends BaseStreamer {
  readonly #options: TextStreamerOptions;
  readonly #decoder: IncrementalDecoder;
  #prompt = true;

  constructor(tokenizer: PreTrainedTokenizer, options: TextStreamerOptions = {}) {
    super();
    expectTokenizer('TextStreamer', tokenizer);
    checkOptions('TextStreamer', options ?? {}, textStreamerOptions);
    const { decode_kwargs, ...own } = options ?? {};
    checkOptions('TextStreamer: decode_kwargs', decode_kwargs ?? {}, ['skip_special_tokens']);
    this.#options = own;
    const { skip_special_tokens } = own;
    this.#decoder = new IncrementalDecoder(tokenizer, {
      skip_special_tokens: decode_kwargs?.skip_special_tokens ?? skip_special_tokens,
    });
  }

  /** Receives the ids of a step of one sequence; the prompt first. Throws `unsupported` for a batch. */
  put(value: bigint[][]): void {
    const areIds = Array.isArray(value) && value.every(Array.isArray);
    expectArgument('TextStreamer.put', areIds, 'ids of sequences', value);
    const [ids] = value;
    if (ids === undefined || value.length !== 1) {
      throw new ClearformerError('unsupported', `TextStreamer: one sequence at a time, not a batch of ${value.length}`);
    }
    const isPrompt = this.#prompt;
    this.#prompt = false;
    if (isPrompt && this.#options.skip_prompt) {
      this.#decoder.begin(ids);
      return;
    }
    this.#options.token_callback_function?.(ids);
    this.#tell(ids.map((id) => this.#decoder.push(id)).join(''));
  }

  /** Passes on text held back until the sequence is complete. */
  end(): void {
    this.#tell(this.#decoder.end());
    this.#decoder.begin([]);
    this.#prompt = true;
    if (!this.#options.callback_function && isNode()) print('\n');
  }

  #tell(text: string): void {
    if (text !== '') (this.#options.callback_function ?? print)(text);
  }
}
