// Generation: the core computes one token per call, and between calls the event loop runs, so that aborts take effect.

import type { GenerationValue, Handle, RunInputs, StepValue } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { onAbort, refusedOption, throwIfAborted } from '../support/options.js';
import { loadPart, nextTurn } from '../support/platform.js';
import { Lease } from '../support/resource.js';
import { warn } from '../support/warning.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { Callbacks } from './generation_callbacks.js';
import type { GenerateOptions, GenerateStreamOptions, GenerationRequest } from './generation_options.js';
import {
  byKind,
  type GenerateOutput,
  type GenerationStep,
  type StepTensors,
  stepTensors,
  toInt64,
} from './generation_output.js';
import { rowsOf } from './inputs.js';
import { KeyValueCache } from './key_value_cache.js';
import type { Observation } from './observation.js';
import type { RowDecoders } from './row_decoders.js';
import type { StopStrings } from './stop_strings.js';

/** The model that generates. */
export interface GeneratingModel {
  engine: Engine;
  model: Handle;
  /** The tokenizer in the model's folder, if there is one. */
  tokenizer(): Promise<PreTrainedTokenizer | undefined>;
  /** What was changed in its generation_config since it was loaded, as JSON. */
  generation_config: string | undefined;
}

/** The inputs of a generation, in the core's form, and the cache it extends if one was given. */
export interface GenerationInputs {
  inputs: RunInputs;
  past_key_values?: KeyValueCache | null | undefined;
}

/** A running generation in the core. */
class GenerationRun {
  #ahead: Promise<StepValue> | undefined;
  /** Rows that reached a stop string in the last step. */
  stopped: readonly number[] = [];
  readonly #stop = new AbortController();
  readonly #forget: () => void;
  readonly #lease: Lease;
  /** Whether the cache given is to be filled. */
  #fills = false;

  private constructor(
    private readonly engine: Engine,
    private readonly value: GenerationValue,
    private readonly request: GenerationRequest,
    readonly observation: Observation,
    private readonly stops: StopStrings | undefined,
    private readonly callbacks: Callbacks | undefined,
    private readonly past: KeyValueCache | null | undefined,
  ) {
    const { signal } = request;
    const stop = this.#stop; // the signal must not hold this: a stream that is forgotten is released, too
    const abort = () => stop.abort(signal?.reason);
    if (signal?.aborted) abort();
    this.#forget = onAbort(signal, abort);
    this.#lease = new Lease('this generation', this, () => releaseHandle(engine, value.generation));
  }

  static async start(
    host: GeneratingModel,
    { inputs, past_key_values: past }: GenerationInputs,
    request: GenerationRequest,
  ): Promise<GenerationRun> {
    const { engine, model, generation_config } = host;
    const { options, signal, stop_strings } = request;
    while (past?.filling) await past.filling;
    const held = past?.handleFor(engine);
    if (held) inputs.past_key_values = held;
    const observation = await request.observe();
    const hold_scores = request.processors.length > 0;
    const changed = generation_config !== undefined && { generation_config };
    const given = { model, ...inputs, options, ...changed, ...observation.request, hold_scores };
    const value = await engine.call('generation_create', given, signal);
    try {
      if (value.warning !== undefined) warn(value.warning);
      const stops = stop_strings.length > 0 ? await stopStrings(host, request, value) : undefined;
      const callbacks = await followed(request, value);
      const run = new GenerationRun(engine, value, request, observation, stops, callbacks, past);
      run.#fills = !!past && !held;
      return run;
    } catch (thrown) {
      await releaseHandle(engine, value.generation);
      throw thrown;
    }
  }

  get beams(): boolean {
    return this.value.num_beams > 1;
  }
  /** The prompt of every row. */
  get prompt(): number[][] {
    return promptRows(this.value);
  }
  get ends(): readonly number[] {
    return this.value.eos_token_ids;
  }

  /**
   * The steps to the end. With a remote engine the next one is computed while the caller handles this one, except into a
   * cache of the caller's, which has what the steps that were handled left in it.
   */
  async *steps(): AsyncGenerator<StepValue, void, undefined> {
    const { streamer, signal } = this.request;
    const ahead = this.engine.remote && !this.past;
    streamer?.put(this.prompt.map((row) => row.map(BigInt)));
    for (;;) {
      throwIfAborted(signal); // the step ahead may be complete
      let value = await (this.#ahead ?? this.#next());
      if (this.#fills && this.past) {
        this.#fills = false;
        this.past.fill(this.engine, await this.#cache());
      }
      streamer?.put(Array.from(value.token_ids.data, (id) => [BigInt(id)]));
      if (await this.#endRows(value)) value = { ...value, done: true };
      const { done } = value;
      this.#ahead = ahead && !done ? this.#next() : undefined;
      this.#ahead?.catch(() => {}); // reported when the next step is requested
      if (done) streamer?.end();
      yield value;
      if (done) return;
      if (!this.engine.remote) await nextTurn();
    }
  }

  async #next(): Promise<StepValue> {
    const { generation } = this.value;
    const step = { generation, ...this.request.step };
    const { signal } = this.#stop;
    try {
      const value = await this.engine.call('generation_step', step, signal);
      if (!('held_scores' in value)) return value;
      const scores = toTensor(value.held_scores);
      const { data, dims } = (await this.callbacks?.processed(scores)) ?? scores;
      const changed_scores = { data, dims: [...dims] };
      return (await this.engine.call('generation_step', { ...step, changed_scores }, signal)) as StepValue;
    } catch (thrown) {
      throw this.observation.cause(thrown);
    }
  }

  /** Ends the rows that reached a stop string or a criterion; returns whether all rows are finished. */
  async #endRows(value: StepValue): Promise<boolean> {
    const asked = (await this.callbacks?.ended(value)) ?? [];
    const found = this.stops?.found([...value.token_ids.data]) ?? [];
    this.stopped = value.done ? [] : [...new Set([...asked, ...found])];
    if (this.stopped.length === 0) return false;
    const rows = { data: Int32Array.from(this.stopped), dims: [this.stopped.length] };
    const { done } = await this.engine.call('generation_end', { generation: this.value.generation, rows });
    return done;
  }

  /** The sequences and, for beam search, their scores. */
  async result(): Promise<Pick<GenerateOutput, 'sequences' | 'sequences_scores' | 'beam_indices'>> {
    const { generation } = this.value;
    const { sequences, sequences_scores, beam_indices } = await this.engine.call('generation_result', { generation });
    return {
      sequences: toInt64(sequences),
      ...(sequences_scores && { sequences_scores: toTensor(sequences_scores) }),
      ...(beam_indices && { beam_indices: toInt64(beam_indices) }),
    };
  }

  /** Keys and values of all processed positions. */
  async cache(): Promise<KeyValueCache> {
    return this.past ?? new KeyValueCache(this.engine, await this.#cache());
  }

  async #cache(): Promise<Handle> {
    return (await this.engine.call('generation_cache', { generation: this.value.generation })).past_key_values;
  }

  /** Releases the generation; a step computed ahead is abandoned. */
  async end(): Promise<void> {
    this.#forget();
    this.#stop.abort();
    await this.#lease.release();
  }
}

function promptRows({ prompt, num_sequences }: GenerationValue): number[][] {
  const rows = rowsOf(prompt);
  return Array.from({ length: num_sequences }, (_, row) => [
    ...(rows[Math.floor((row * rows.length) / num_sequences)] as number[]),
  ]);
}

/** The caller's callbacks, if there are any. */
async function followed(request: GenerationRequest, value: GenerationValue): Promise<Callbacks | undefined> {
  const { call, streamer, criteria, processors } = request;
  const follower = streamer ? 'streamer' : criteria.length > 0 ? 'stopping_criteria' : undefined;
  if (follower && value.num_beams > 1) {
    const cure = follower === 'streamer' ? 'generate_stream tells each step' : 'use signal or max_time';
    throw refusedOption(call, follower, `cannot follow a beam search; ${cure}`, 'unsupported');
  }
  if (criteria.length === 0 && processors.length === 0) return undefined;
  const { Callbacks } = await import('./generation_callbacks.js'); // rarely needed
  return new Callbacks(rowsOf(value.prompt), request);
}

async function stopStrings(
  { tokenizer }: GeneratingModel,
  request: GenerationRequest,
  value: GenerationValue,
): Promise<StopStrings> {
  const { StopStrings } = await loadPart(() => import('./stop_strings.js')); // rarely needed
  return StopStrings.of(request, value, promptRows(value), tokenizer);
}

/** Decoders of the rows of a stream. */
async function rowDecoders(
  tokenizer: PreTrainedTokenizer,
  { prompt, ends }: GenerationRun,
  skip_special_tokens: boolean,
): Promise<RowDecoders> {
  const { RowDecoders } = await loadPart(() => import('./row_decoders.js'));
  return new RowDecoders(tokenizer, prompt, ends, skip_special_tokens);
}

/** `generate`: runs to completion. */
export async function generate(
  host: GeneratingModel,
  inputs: GenerationInputs,
  request: GenerationRequest,
  options: GenerateOptions,
): Promise<Tensor<'int64'> | GenerateOutput> {
  const run = await GenerationRun.start(host, inputs, request);
  try {
    const steps: StepTensors[] = [];
    for await (const value of run.steps()) steps.push(stepTensors(value, run.observation.cache));
    const result = await run.result();
    if (!options.return_dict_in_generate) return result.sequences;
    const cached = options.use_cache ?? true;
    const past = cached && { past_key_values: await run.cache() };
    return { ...result, ...byKind(steps), ...past };
  } finally {
    await run.end();
  }
}

/** `generate_stream`: yields each step. */
export async function* generateStream(
  host: GeneratingModel,
  inputs: GenerationInputs,
  request: GenerationRequest,
  options: GenerateStreamOptions,
): AsyncGenerator<GenerationStep, void, undefined> {
  const tokenizer = options.tokenizer === null ? undefined : (options.tokenizer ?? (await host.tokenizer()));
  const run = await GenerationRun.start(host, inputs, request);
  try {
    const texted = tokenizer !== undefined && !run.beams;
    const skip = options.skip_special_tokens ?? true;
    const decoders = texted ? await rowDecoders(tokenizer, run, skip) : undefined;
    for await (const value of run.steps()) {
      const token_ids = [...value.token_ids.data];
      const texts = decoders?.push(token_ids, value.done, run.stopped);
      yield {
        token_id: token_ids[0] as number,
        token_ids,
        text: texts?.[0],
        texts,
        ...(value.beam_indices && { beam_indices: [...value.beam_indices.data] }),
        ...(value.beam_scores && { beam_scores: [...value.beam_scores.data] }),
        ...stepTensors(value, run.observation.cache),
      };
    }
  } finally {
    await run.end();
  }
}
