// Models that continue text: one forward pass, generation, and a look at every number on the way.

import type { ForwardArguments, ForwardValue, RunInputs } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { integerMatrix } from '../tensor/integer_input.js';
import type { Tensor } from '../tensor/tensor.js';
import { type ActivationCache, toCache, toTensor } from '../tensor/tensor_output.js';
import {
  type GenerateOptions,
  type GenerateOutput,
  type GenerateStreamOptions,
  type GenerationRequest,
  GenerationRun,
  type GenerationStep,
  RowDecoders,
  sequencesOf,
  sortOptions,
  stepTensors,
} from './generation.js';
import { type NamesFilter, resolveNames } from './hooks.js';
import { type ModelInputs, type PromptInputs, promptIn, rowsOf } from './inputs.js';
import { KeyValueCache } from './key_value_cache.js';
import { PreTrainedModel } from './pre_trained_model.js';

/** Options of a forward pass. */
export interface ForwardOptions {
  output_attentions?: boolean | undefined;
  output_hidden_states?: boolean | undefined;
  /** Return `past_key_values`. Default false, since that memory is the core's until it is disposed of. */
  use_cache?: boolean | undefined;
  /** Aborting it rejects with its reason; a pass that has begun in this thread ends first. */
  signal?: AbortSignal | undefined;
}

/** Options of `run_with_cache`. */
export interface RunWithCacheOptions {
  /** Which activations; default: all. */
  names_filter?: NamesFilter | undefined;
  signal?: AbortSignal | undefined;
}

/** The result of a forward pass. */
export interface CausalLMOutput {
  /** [batch, position, vocabulary], before softmax. */
  logits: Tensor<'float32'>;
  /** Per layer [batch, head, query, key]; rows sum to 1. */
  attentions?: Tensor<'float32'>[];
  /** Embedding, then the output of every layer, the last one normalised: [batch, position, d_model]. */
  hidden_states?: Tensor<'float32'>[];
  past_key_values?: KeyValueCache;
}

export interface CausalLM {
  /**
   * One forward pass. Rejects with `invalid_argument`, `shape_mismatch` or `dtype_mismatch` for what does not fit,
   * `unsupported` for an unknown input or option, `disposed`, or the signal's reason.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (inputs: ModelInputs, options?: ForwardOptions): Promise<CausalLMOutput>;
}

/** A decoder-only model with its output layer. It is a function, too: `await model({ input_ids })`. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class CausalLM extends PreTrainedModel<[ModelInputs, ForwardOptions?], Promise<CausalLMOutput>> {
  /** @internal */
  override async _call(inputs: ModelInputs, options: ForwardOptions = {}): Promise<CausalLMOutput> {
    checkOptions('model', options, ['output_attentions', 'output_hidden_states', 'use_cache', 'signal']);
    const { output_attentions = false, output_hidden_states = false, use_cache = false, signal } = options;
    const { value, past } = await this.#forward(
      'model',
      inputs,
      { output_attentions, output_hidden_states, use_cache },
      signal,
    );
    return {
      logits: toTensor(value.logits),
      ...(value.attentions && { attentions: value.attentions.map(toTensor) }),
      ...(value.hidden_states && { hidden_states: value.hidden_states.map(toTensor) }),
      ...(past && { past_key_values: past }),
    };
  }

  /**
   * One forward pass that keeps what happens inside: `[logits, cache]`, the cache holding a Tensor under every hook name
   * asked for. Rejects like a call of the model; a name that no hook has is `invalid_argument`.
   */
  async run_with_cache(
    inputs: ModelInputs,
    options: RunWithCacheOptions = {},
  ): Promise<[Tensor<'float32'>, ActivationCache]> {
    checkOptions('run_with_cache', options, ['names_filter', 'signal']);
    const names = resolveNames(this.hooks(), options.names_filter);
    const { value } = await this.#forward('run_with_cache', inputs, { names }, options.signal);
    return [toTensor(value.logits), toCache(value.captured)];
  }

  /**
   * Continues the prompt: int64 ids [batch, length], the prompt included, or with `return_dict_in_generate` an object with
   * all that was asked for. Rejects like a call of the model, and with the signal's reason between two tokens.
   */
  generate(inputs: PromptInputs, options: GenerateOptions & { return_dict_in_generate: true }): Promise<GenerateOutput>;
  generate(
    inputs: PromptInputs,
    options?: GenerateOptions & { return_dict_in_generate?: false | undefined },
  ): Promise<Tensor<'int64'>>;
  async generate(inputs: PromptInputs, options: GenerateOptions = {}): Promise<Tensor<'int64'> | GenerateOutput> {
    const request = sortOptions('generate', options);
    const prompt = promptIn('generate', inputs);
    const { engine, model } = this.open();
    const run = await GenerationRun.start(engine, model, prompt, request);
    try {
      const { rows, steps } = await collect(run, rowsOf(prompt.input_ids), options);
      const sequences = sequencesOf(rows);
      if (!options.return_dict_in_generate) return sequences;
      return { sequences, ...byKind(steps), past_key_values: await run.cache() };
    } finally {
      await run.end();
    }
  }

  /**
   * Continues the prompt token by token. Leaving the loop early ends the generation. Rejects like `generate`, with the
   * first step.
   */
  generate_stream(
    inputs: PromptInputs,
    options: GenerateStreamOptions = {},
  ): AsyncGenerator<GenerationStep, void, undefined> {
    const request = sortOptions('generate_stream', options);
    const prompt = promptIn('generate_stream', inputs);
    this.open();
    return this.#stream(prompt, request, options);
  }

  async *#stream(
    prompt: RunInputs,
    request: GenerationRequest,
    options: GenerateStreamOptions,
  ): AsyncGenerator<GenerationStep, void, undefined> {
    const decoders = await this.#decoders(prompt, options);
    const { engine, model } = this.open();
    const run = await GenerationRun.start(engine, model, prompt, request);
    try {
      for await (const value of run.steps()) {
        const token_ids = [...value.token_ids.data];
        const texts = decoders?.push(token_ids, value.done);
        yield { token_id: token_ids[0] as number, token_ids, text: texts?.[0], texts, ...stepTensors(value) };
      }
    } finally {
      await run.end();
    }
  }

  async #decoders(prompt: RunInputs, options: GenerateStreamOptions): Promise<RowDecoders | undefined> {
    const tokenizer = options.tokenizer === null ? undefined : (options.tokenizer ?? (await this.ownTokenizer()));
    if (tokenizer === undefined) return undefined;
    const ends = options.eos_token_id === undefined ? this.generation_config.eos_token_id : options.eos_token_id;
    const rows = rowsOf(prompt.input_ids);
    return new RowDecoders(tokenizer, rows, [ends ?? []].flat() as number[], options.skip_special_tokens ?? true);
  }

  async #forward(
    call: string,
    inputs: ModelInputs,
    request: Partial<ForwardArguments>,
    signal: AbortSignal | undefined,
  ): Promise<{ value: ForwardValue; past: KeyValueCache | undefined }> {
    const { engine, model } = this.open();
    const given = forwardIn(call, inputs, engine);
    const value = await engine.call('model_forward', { model, ...given, ...request }, signal);
    const { past_key_values: handle } = value;
    const past = inputs.past_key_values ?? (handle === undefined ? undefined : new KeyValueCache(engine, handle));
    return { value, past };
  }
}

function forwardIn(call: string, inputs: ModelInputs, engine: Engine): Omit<ForwardArguments, 'model'> {
  checkOptions(call, inputs, ['input_ids', 'attention_mask', 'position_ids', 'past_key_values']);
  const { position_ids, past_key_values, ...prompt } = inputs;
  if (past_key_values !== undefined && !(past_key_values instanceof KeyValueCache)) {
    throw new ClearformerError('invalid_argument', `${call}: past_key_values must be what an earlier call returned`, {
      option: 'past_key_values',
    });
  }
  return {
    ...promptIn(call, prompt),
    ...(position_ids !== undefined && { position_ids: integerMatrix('position_ids', position_ids) }),
    ...(past_key_values !== undefined && { past_key_values: past_key_values.handleFor(engine), use_cache: true }),
  };
}

type StepTensors = ReturnType<typeof stepTensors>;

/** Runs to the end: every row with its new tokens, and what was captured on the way. */
async function collect(
  run: GenerationRun,
  rows: number[][],
  { streamer }: GenerateOptions,
): Promise<{ rows: number[][]; steps: StepTensors[] }> {
  const steps: StepTensors[] = [];
  streamer?.put(rows.map((row) => row.map(BigInt)));
  for await (const value of run.steps()) {
    const ids = value.token_ids.data;
    rows.forEach((row, r) => {
      row.push(ids[r] as number);
    });
    streamer?.put(Array.from(ids, (id) => [BigInt(id)]));
    steps.push(stepTensors(value));
  }
  streamer?.end();
  return { rows, steps };
}

/** From one object per step to one array per kind. */
function byKind(steps: readonly StepTensors[]): Omit<GenerateOutput, 'sequences' | 'past_key_values'> {
  const kinds = ['scores', 'logits', 'attentions', 'hidden_states'] as const;
  const asked = kinds.filter((kind) => steps[0]?.[kind] !== undefined);
  return Object.fromEntries(asked.map((kind) => [kind, steps.map((step) => step[kind])]));
}
