// Generation step by step: the core makes one token per call, and between calls the event loop runs, so aborts are seen.

import type { Handle, OptionValue, RunInputs, StepRequest, StepValue } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { nextTurn } from '../support/platform.js';
import { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import { IncrementalDecoder, type Streamer } from '../tokenizer/text_streamer.js';
import type { PreTrainedTokenizer } from '../tokenizer/tokenizer.js';
import { KeyValueCache } from './key_value_cache.js';

/** What both ways of generating take. Defaults come from generation_config.json, then from Hugging Face's. */
export interface GenerationOptions {
  /** Tokens to add at most. */
  max_new_tokens?: number | undefined;
  /** Length at most, the prompt included. */
  max_length?: number | undefined;
  /** No end token before so many tokens were added. */
  min_new_tokens?: number | undefined;
  /** Draw tokens by their probability instead of taking the likeliest. */
  do_sample?: boolean | undefined;
  /** Divides the logits: below 1 sharper, above 1 flatter. */
  temperature?: number | undefined;
  /** Only the k likeliest tokens. */
  top_k?: number | undefined;
  /** Only the fewest tokens whose probabilities sum to p. */
  top_p?: number | undefined;
  /** The same seed gives the same tokens, everywhere. */
  seed?: number | undefined;
  /** Tokens that end a sequence; null: none does. */
  eos_token_id?: number | readonly number[] | null | undefined;
  /** What finished sequences of a batch are filled up with. */
  pad_token_id?: number | null | undefined;
  /** Processed scores of every step, as sampled from. */
  output_scores?: boolean | undefined;
  /** Raw logits of every step. */
  output_logits?: boolean | undefined;
  output_attentions?: boolean | undefined;
  output_hidden_states?: boolean | undefined;
  /** Aborting it rejects with its reason, between two tokens at the latest. */
  signal?: AbortSignal | undefined;
}

/** Options of `generate`. */
export interface GenerateOptions extends GenerationOptions {
  /** An object with everything that was asked for instead of the token ids alone. */
  return_dict_in_generate?: boolean | undefined;
  streamer?: Streamer | undefined;
}

/** Options of `generate_stream`. */
export interface GenerateStreamOptions extends GenerationOptions {
  /** Makes the text of each step; default: the model's own. null: no text. */
  tokenizer?: PreTrainedTokenizer | null | undefined;
  /** Whether tokens such as `</s>` are left out of the text. Default true. */
  skip_special_tokens?: boolean | undefined;
}

/** One step of `generate_stream`. */
export interface GenerationStep {
  /** The new token of the first sequence, and of all. */
  token_id: number;
  token_ids: number[];
  /** Text that became complete with this token, in the first sequence and in all; undefined without a tokenizer. */
  text: string | undefined;
  texts: string[] | undefined;
  /** [batch, vocabulary] */
  scores?: Tensor<'float32'>;
  logits?: Tensor<'float32'>;
  /** Per layer [batch, head, query, key]; the first step's queries are the prompt, later ones have a single query. */
  attentions?: Tensor<'float32'>[];
  /** Per layer, embedding first, [batch, query, d_model]. */
  hidden_states?: Tensor<'float32'>[];
}

/** The result of `generate` with `return_dict_in_generate`; arrays have one entry per step. */
export interface GenerateOutput {
  /** [batch, length], the prompt included. */
  sequences: Tensor<'int64'>;
  scores?: Tensor<'float32'>[];
  logits?: Tensor<'float32'>[];
  attentions?: Tensor<'float32'>[][];
  hidden_states?: Tensor<'float32'>[][];
  /** Keys and values of all positions read; give its memory back with dispose(). */
  past_key_values: KeyValueCache;
}

const stepOptions = ['output_scores', 'output_logits', 'output_attentions', 'output_hidden_states'] as const;
/** Options that are this side's; the core never sees them. */
const ownOptions = {
  generate: ['signal', 'return_dict_in_generate', 'streamer', ...stepOptions],
  generate_stream: ['signal', 'tokenizer', 'skip_special_tokens', ...stepOptions],
};

/** Options for the core, which refuses by name what it does not know, and what is to be kept of each step. */
export interface GenerationRequest {
  options: Record<string, OptionValue>;
  step: StepRequest;
  signal: AbortSignal | undefined;
}

/** Sorts the options of one of the two calls. Throws `invalid_argument` for what no option can be. */
export function sortOptions(
  call: keyof typeof ownOptions,
  given: GenerateOptions | GenerateStreamOptions,
): GenerationRequest {
  if (typeof given !== 'object' || given === null)
    throw new ClearformerError('invalid_argument', `${call}: options must be an object`);
  const asked = given as GenerateOptions;
  const step = Object.fromEntries(stepOptions.filter((name) => asked[name]).map((name) => [name, true]));
  const [wanted] = Object.keys(step);
  if (call === 'generate' && wanted !== undefined && !asked.return_dict_in_generate) {
    throw new ClearformerError('invalid_argument', `generate: ${wanted} needs return_dict_in_generate: true`, {
      option: wanted,
    });
  }
  const options: Record<string, OptionValue> = {};
  for (const [option, value] of Object.entries(given)) {
    if (value === undefined || ownOptions[call].includes(option)) continue;
    options[option] = option === 'eos_token_id' && value === null ? [] : plainValue(call, option, value);
  }
  return { options, step, signal: given.signal };
}

function plainValue(call: string, option: string, value: unknown): OptionValue {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return value as OptionValue;
  if (Array.isArray(value) && value.every(Number.isFinite)) return value;
  if (['number', 'bigint', 'string'].includes(typeof value)) {
    throw new ClearformerError('invalid_argument', `${call}: ${option} cannot be ${String(value)}`, { option });
  }
  throw new ClearformerError('unsupported', `${call}: ${option} is not supported`, { option });
}

/** A generation that is under way in the core. */
export class GenerationRun {
  #ahead: Promise<StepValue> | undefined;

  private constructor(
    private readonly engine: Engine,
    private readonly handle: Handle,
    private readonly request: GenerationRequest,
  ) {}

  static async start(
    engine: Engine,
    model: Handle,
    inputs: RunInputs,
    request: GenerationRequest,
  ): Promise<GenerationRun> {
    const { options, signal } = request;
    const { generation } = await engine.call('generation_create', { model, ...inputs, options }, signal);
    return new GenerationRun(engine, generation, request);
  }

  /** The steps to the end. A remote engine computes the next one while the caller handles this one. */
  async *steps(): AsyncGenerator<StepValue, void, undefined> {
    for (;;) {
      const value = await (this.#ahead ?? this.#next());
      const { done } = value;
      this.#ahead = this.engine.remote && !done ? this.#next() : undefined;
      this.#ahead?.catch(() => {}); // whoever asks for the next step hears of it
      yield value;
      if (done) return;
      if (!this.engine.remote) await nextTurn();
    }
  }

  #next(): Promise<StepValue> {
    const { step, signal } = this.request;
    return this.engine.call('generation_step', { generation: this.handle, ...step }, signal);
  }

  async cache(): Promise<KeyValueCache> {
    const { past_key_values } = await this.engine.call('generation_cache', { generation: this.handle });
    return new KeyValueCache(this.engine, past_key_values);
  }

  end(): Promise<void> {
    return releaseHandle(this.engine, this.handle);
  }
}

/** What was asked for in a step, as Tensors. */
export function stepTensors(
  value: StepValue,
): Pick<GenerationStep, 'scores' | 'logits' | 'attentions' | 'hidden_states'> {
  return {
    ...(value.scores && { scores: toTensor(value.scores) }),
    ...(value.logits && { logits: toTensor(value.logits) }),
    ...(value.attentions && { attentions: value.attentions.map(toTensor) }),
    ...(value.hidden_states && { hidden_states: value.hidden_states.map(toTensor) }),
  };
}

/** Turns each row's tokens into text that continues the prompt; a row that has met an end token says no more. */
export class RowDecoders {
  readonly #rows: { decoder: IncrementalDecoder; ended: boolean }[];
  readonly #ends: ReadonlySet<number>;

  constructor(
    tokenizer: PreTrainedTokenizer,
    prompt: readonly (readonly number[])[],
    ends: readonly number[],
    skip_special_tokens: boolean,
  ) {
    this.#ends = new Set(ends);
    this.#rows = prompt.map((ids) => {
      const decoder = new IncrementalDecoder(tokenizer, { skip_special_tokens });
      decoder.begin(ids);
      return { decoder, ended: false };
    });
  }

  /** `last`: no further token follows. */
  push(ids: readonly number[], last: boolean): string[] {
    return this.#rows.map((row, r) => {
      if (row.ended) return '';
      const id = ids[r] as number;
      row.ended = last || this.#ends.has(id);
      return row.decoder.push(id) + (row.ended ? row.decoder.end() : '');
    });
  }
}

/** [batch, length] int64 from rows of ids. */
export function sequencesOf(rows: readonly (readonly number[])[]): Tensor<'int64'> {
  return new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]?.length ?? 0]);
}
