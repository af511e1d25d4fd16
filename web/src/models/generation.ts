// Generation step by step: the core makes one token per call, and between calls the event loop runs, so aborts are seen.

import type { GenerationValue, Handle, RunInputs, StepValue } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { nextTurn } from '../support/platform.js';
import { warn } from '../support/warning.js';
import type { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import type { Streamer } from '../text/text_streamer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
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
import { RowDecoders, StopStrings } from './row_decoders.js';

/** The model that generates. */
export interface GeneratingModel {
  engine: Engine;
  model: Handle;
  /** The tokenizer beside the model, if there is one. */
  tokenizer(): Promise<PreTrainedTokenizer | undefined>;
}

/** What a generation starts from, in the form the core reads, and the cache it extends if one was given. */
export interface GenerationInputs {
  inputs: RunInputs;
  past_key_values?: KeyValueCache | undefined;
}

/** A generation that is under way in the core. */
class GenerationRun {
  #ahead: Promise<StepValue> | undefined;
  /** Rows that met a stop string with the last step. */
  stopped: readonly number[] = [];
  readonly #stop = new AbortController();
  readonly #abort = () => this.#stop.abort(this.request.signal?.reason);

  private constructor(
    private readonly engine: Engine,
    private readonly value: GenerationValue,
    private readonly request: GenerationRequest,
    private readonly stops: StopStrings | undefined,
  ) {
    if (request.signal?.aborted) this.#abort();
    request.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  static async start(
    host: GeneratingModel,
    { inputs }: GenerationInputs,
    request: GenerationRequest,
  ): Promise<GenerationRun> {
    const { engine, model } = host;
    const { options, signal, stop_strings, observation } = request;
    const given = { model, ...inputs, options, ...observation.request };
    const value = await engine.call('generation_create', given, signal);
    try {
      if (value.warning !== undefined) warn(value.warning);
      const tokenizer = stop_strings.length > 0 ? await stopTokenizer(host, request, value) : undefined;
      const stops = tokenizer && new StopStrings(stop_strings, tokenizer, promptRows(value), [...value.eos_token_ids]);
      return new GenerationRun(engine, value, request, stops);
    } catch (thrown) {
      await releaseHandle(engine, value.generation);
      throw thrown;
    }
  }

  get beams(): boolean {
    return this.value.num_beams > 1;
  }
  /** What every row begins with. */
  get prompt(): number[][] {
    return promptRows(this.value);
  }
  get ends(): readonly number[] {
    return this.value.eos_token_ids;
  }

  /** The steps to the end. A remote engine computes the next one while the caller handles this one. */
  async *steps(): AsyncGenerator<StepValue, void, undefined> {
    for (;;) {
      let value = await (this.#ahead ?? this.#next());
      if (await this.#endRows(value)) value = { ...value, done: true };
      const { done } = value;
      this.#ahead = this.engine.remote && !done ? this.#next() : undefined;
      this.#ahead?.catch(() => {}); // whoever asks for the next step hears of it
      yield value;
      if (done) return;
      if (!this.engine.remote) await nextTurn();
    }
  }

  #next(): Promise<StepValue> {
    const { generation } = this.value;
    const step = this.engine.call('generation_step', { generation, ...this.request.step }, this.#stop.signal);
    return step.catch((thrown: unknown) => {
      throw this.request.observation.cause(thrown);
    });
  }

  /** Ends the rows that met a stop string; whether all rows are finished now. */
  async #endRows(value: StepValue): Promise<boolean> {
    this.stopped = (value.done ? undefined : this.stops?.found([...value.token_ids.data])) ?? [];
    if (this.stopped.length === 0) return false;
    const rows = { data: Int32Array.from(this.stopped), dims: [this.stopped.length] };
    const { done } = await this.engine.call('generation_end', { generation: this.value.generation, rows });
    return done;
  }

  /** Sequences, and of a beam search their scores. */
  async result(): Promise<Pick<GenerateOutput, 'sequences' | 'sequences_scores' | 'beam_indices'>> {
    const { generation } = this.value;
    const { sequences, sequences_scores, beam_indices } = await this.engine.call('generation_result', { generation });
    return {
      sequences: toInt64(sequences),
      ...(sequences_scores && { sequences_scores: toTensor(sequences_scores) }),
      ...(beam_indices && { beam_indices: toInt64(beam_indices) }),
    };
  }

  async cache(): Promise<KeyValueCache> {
    const { past_key_values } = await this.engine.call('generation_cache', { generation: this.value.generation });
    return new KeyValueCache(this.engine, past_key_values);
  }

  /** Gives the generation back; a step that is being computed for nobody ends. */
  async end(): Promise<void> {
    this.request.signal?.removeEventListener('abort', this.#abort);
    this.#stop.abort();
    await releaseHandle(this.engine, this.value.generation);
  }
}

function promptRows({ prompt, num_sequences }: GenerationValue): number[][] {
  const rows = rowsOf(prompt);
  return Array.from({ length: num_sequences }, (_, row) => [
    ...(rows[Math.floor((row * rows.length) / num_sequences)] as number[]),
  ]);
}

async function stopTokenizer(
  host: GeneratingModel,
  { call, tokenizer }: GenerationRequest,
  { num_beams }: GenerationValue,
): Promise<PreTrainedTokenizer> {
  const refuse = (why: string) =>
    new ClearformerError('unsupported', `${call}: stop_strings ${why}`, { option: 'stop_strings' });
  if (num_beams > 1) throw refuse('are not looked for in a beam search');
  const found = tokenizer === null ? undefined : (tokenizer ?? (await host.tokenizer()));
  if (found === undefined) throw refuse('need a tokenizer, and there is none beside the model');
  return found;
}

/** `generate`: runs to the end. */
export async function generate(
  host: GeneratingModel,
  inputs: GenerationInputs,
  request: GenerationRequest,
  options: GenerateOptions,
): Promise<Tensor<'int64'> | GenerateOutput> {
  const run = await GenerationRun.start(host, inputs, request);
  try {
    const steps = await collect(run, options.streamer);
    const result = await run.result();
    if (!options.return_dict_in_generate) return result.sequences;
    const cached = options.use_cache ?? true;
    const past = cached && { past_key_values: inputs.past_key_values ?? (await run.cache()) };
    return { ...result, ...byKind(steps), ...past };
  } finally {
    await run.end();
  }
}

async function collect(run: GenerationRun, streamer: Streamer | undefined): Promise<StepTensors[]> {
  if (streamer !== undefined && run.beams) {
    throw new ClearformerError('unsupported', 'generate: a streamer cannot follow a beam search', {
      option: 'streamer',
    });
  }
  streamer?.put(run.prompt.map((row) => row.map(BigInt)));
  const steps: StepTensors[] = [];
  for await (const value of run.steps()) {
    streamer?.put(Array.from(value.token_ids.data, (id) => [BigInt(id)]));
    steps.push(stepTensors(value));
  }
  streamer?.end();
  return steps;
}

/** `generate_stream`: step by step. */
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
    const decoders = texted ? new RowDecoders(tokenizer, run.prompt, run.ends, skip) : undefined;
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
        ...stepTensors(value),
      };
    }
  } finally {
    await run.end();
  }
}
