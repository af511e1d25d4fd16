// Text as Whisper writes it, and the times that stand between its pieces.

import { TextStreamer, type TextStreamerOptions } from './text_streamer.js';
import type { PreTrainedTokenizer } from './tokenizer.js';

/** Options of WhisperTextStreamer; times in seconds. */
export interface WhisperTextStreamerOptions extends TextStreamerOptions {
  /** A piece of text begins at this time. */
  on_chunk_start?: ((time: number) => void) | null | undefined;
  /** It ends at this time. */
  on_chunk_end?: ((time: number) => void) | null | undefined;
  /** The last token has come. */
  on_finalize?: (() => void) | null | undefined;
  /** Seconds from one time token to the next. Default 0.02. */
  time_precision?: number | undefined;
}

/** A TextStreamer that takes the time tokens of Whisper out of the text and tells them. */
export class WhisperTextStreamer extends TextStreamer {
  readonly #options: WhisperTextStreamerOptions;
  readonly #first: number;
  #isOpen = false;

  constructor(tokenizer: PreTrainedTokenizer, options: WhisperTextStreamerOptions = {}) {
    const { on_chunk_start, on_chunk_end, on_finalize, time_precision, ...own } = options;
    super(tokenizer, own);
    this.#options = options;
    // The time tokens come behind all others.
    const last = tokenizer.convert_tokens_to_ids('<|notimestamps|>');
    this.#first = last === null || last === tokenizer.unk_token_id ? Number.POSITIVE_INFINITY : last + 1;
  }

  /** Gets the ids of one sequence's step; the prompt first. Throws `unsupported` for a batch. */
  override put(value: bigint[][]): void {
    const [ids = []] = value;
    const count = Number(ids[0]) - this.#first;
    if (value.length !== 1 || ids.length !== 1 || count < 0) {
      super.put(value);
      return;
    }
    const { on_chunk_start, on_chunk_end, token_callback_function, time_precision = 0.02 } = this.#options;
    (this.#isOpen ? on_chunk_end : on_chunk_start)?.(count * time_precision);
    this.#isOpen = !this.#isOpen;
    token_callback_function?.(ids);
  }

  /** The sequence is complete: what was held back comes out. */
  override end(): void {
    super.end();
    this.#isOpen = false;
    this.#options.on_finalize?.();
  }
}
