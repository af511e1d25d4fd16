// Streams Whisper's text and the timestamps between its pieces.

import { quoted } from '../support/error.js';
import { checkOptions, refusedOption } from '../support/options.js';
import { expectTokenizer, TextStreamer, type TextStreamerOptions, textStreamerOptions } from './text_streamer.js';
import type { PreTrainedTokenizer } from './tokenizer.js';

/** Options of WhisperTextStreamer; times in seconds. */
export interface WhisperTextStreamerOptions extends TextStreamerOptions {
  /** Called with the time at which a piece of text begins. */
  on_chunk_start?: ((time: number) => void) | null | undefined;
  /** Called with the time at which it ends. */
  on_chunk_end?: ((time: number) => void) | null | undefined;
  /** Called after the last token. */
  on_finalize?: (() => void) | null | undefined;
  /** Seconds between two timestamp tokens. Default 0.02. */
  time_precision?: number | null | undefined;
}

/** A TextStreamer that removes Whisper's timestamp tokens from the text and reports them. */
export class WhisperTextStreamer extends TextStreamer {
  readonly #options: WhisperTextStreamerOptions;
  readonly #precision: number;
  readonly #first: number;
  #isOpen = false;

  constructor(tokenizer: PreTrainedTokenizer, options: WhisperTextStreamerOptions = {}) {
    const { on_chunk_start, on_chunk_end, on_finalize, time_precision, ...own } = options ?? {};
    const calls = { on_chunk_start, on_chunk_end, on_finalize };
    const call = 'WhisperTextStreamer';
    expectTokenizer(call, tokenizer);
    checkOptions(call, { ...own, ...calls }, [...textStreamerOptions, ...Object.keys(calls), 'time_precision']);
    const seconds = time_precision ?? 0.02;
    if (!(Number.isFinite(seconds) && seconds > 0)) {
      throw refusedOption(call, 'time_precision', `is ${quoted(seconds)}, not a number above 0`);
    }
    super(tokenizer, own);
    this.#options = { ...own, ...calls };
    this.#precision = seconds;
    // The ids of timestamp tokens are above all others.
    const last = tokenizer.convert_tokens_to_ids('<|notimestamps|>');
    this.#first = last === null || last === tokenizer.unk_token_id ? Number.POSITIVE_INFINITY : last + 1;
  }

  /** Receives the ids of a step of one sequence; the prompt first. Throws `unsupported` for a batch. */
  override put(value: bigint[][]): void {
    const [ids = []] = Array.isArray(value) ? value : [];
    const count = Number(ids[0]) - this.#first;
    if (value?.length !== 1 || ids.length !== 1 || count < 0) {
      super.put(value);
      return;
    }
    const { on_chunk_start, on_chunk_end, token_callback_function } = this.#options;
    (this.#isOpen ? on_chunk_end : on_chunk_start)?.(count * this.#precision);
    this.#isOpen = !this.#isOpen;
    token_callback_function?.(ids);
  }

  /** Passes on text held back until the sequence is complete. */
  override end(): void {
    super.end();
    this.#isOpen = false;
    this.#options.on_finalize?.();
  }
}
