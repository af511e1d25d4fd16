// Generation step by step: the core makes one token per call, and between calls the event loop runs, so aborts are seen.

import type { CoreGenerationOptions, Handle, RunInputs, StepValue } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions, definedOnly, throwIfAborted } from '../support/options.js';
import { nextTurn } from '../support/platform.js';
import { Tensor } from '../tensor/tensor.js';
import { IncrementalDecoder, type Streamer } from '../tokenizer/text_streamer.js';
import type { PreTrainedTokenizer } from '../tokenizer/tokenizer.js';
import { toTensor } from './hooks.js';
import { KeyValueCache, releaseHandle } from './key_value_cache.js';

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

const coreOptions = [
  'max_new_tokens',
  'max_length',
  'min_new_tokens',
  'do_sample',
  'temperature',
  'top_k',
  'top_p',
  'seed',
  'eos_token_id',
  'pad_token_id',
  'output_scores',
  'output_logits',
  'output_attentions',
  'output_hidden_states',
] as const;
export const generateOptions = [...coreOptions, 'signal', 'return_dict_in_generate', 'streamer'];
export const generateStreamOptions = [...coreOptions, 'signal', 'tokenizer', 'skip_special_tokens'];

/** The options the core reads, without those that are ours. */
export function optionsForCore(options: GenerationOptions): CoreGenerationOptions {
  const given = Object.fromEntries(coreOptions.map((name) => [name, options[name]]));
  if (given.eos_token_id === null) given.eos_token_id = [];
  if (given.pad_token_id === null) delete given.pad_token_id;
  return definedOnly(given) as CoreGenerationOptions;
}

/** A generation that is under way in the core. */
export class GenerationRun {
  #ahead: Promise<StepValue> | undefined;

  private constructor(
    private readonly engine: Engine,
    private readonly handle: Handle,
    private readonly signal: AbortSignal | undefined,
  ) {}

  static async start(
    engine: Engine,
    model: Handle,
    inputs: RunInputs,
    options: GenerationOptions,
  ): Promise<GenerationRun> {
    const { signal } = options;
    const { generation } = await engine.call(
      'generation_create',
      { model, ...inputs, options: optionsForCore(options) },
      signal,
    );
    return new GenerationRun(engine, generation, signal);
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
      throwIfAborted(this.signal);
    }
  }

  #next(): Promise<StepValue> {
    return this.engine.call('generation_step', { generation: this.handle }, this.signal);
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

/** Refuses what only one of the two ways of generating understands, or what cannot go together. */
export function checkGeneration(call: string, options: object, known: readonly string[]): void {
  checkOptions(call, options, known);
  const asked = options as GenerateOptions;
  const wanted = (['output_scores', 'output_logits', 'output_attentions', 'output_hidden_states'] as const).find(
    (name) => asked[name],
  );
  if (call === 'generate' && wanted !== undefined && !asked.return_dict_in_generate) {
    throw new ClearformerError('invalid_argument', `generate: ${wanted} needs return_dict_in_generate: true`, {
      option: wanted,
    });
  }
}
