// Models that generate text: decoder-only ones continue a prompt, encoder-decoders transform text or audio.

import { loadPart } from '../support/platform.js';
import type { Tensor } from '../tensor/tensor.js';
import { type GeneratingModel, generate, generateStream } from './generation.js';
import { type GenerateOptions, type GenerateStreamOptions, sortOptions } from './generation_options.js';
import type { GenerateOutput, GenerationStep } from './generation_output.js';
import { changesIn, loadedSettings, withSettings } from './generation_settings.js';
import { type PromptInputs, promptIn, separated } from './inputs.js';
import type { CausalLMOutput } from './outputs.js';
import { PreTrainedModel } from './pre_trained_model.js';

interface MainInput {
  /** The model's main input: `input_ids`, or float32 `input_features` of audio. */
  inputs?: Tensor | undefined;
}

/** Inputs and options of `generate` in one object. */
export type GenerateInputs = PromptInputs & MainInput & GenerateOptions;

interface AsOutput {
  return_dict_in_generate: true;
}
/** What asks `generate` for an object with all outputs; an option has precedence over its `generation_config`. */
type ForOutput = AsOutput | { return_dict_in_generate?: undefined; generation_config: AsOutput };

interface Bare {
  return_dict_in_generate?: false | undefined;
}
/** What asks for the ids alone. */
type ForIds = Bare & { generation_config?: Bare | null | undefined };

type Prompted<O> = () => Promise<[PromptInputs, O]>;

/** A language model. Instances are callable: `await model({ input_ids })`. */
export class GenerativeModel extends PreTrainedModel<CausalLMOutput> {
  readonly #loaded = loadedSettings(this.generation_config);

  /**
   * Continues the prompt. Resolves to int64 ids [batch · num_return_sequences, length], which include the prompt for a
   * decoder-only model, or with `return_dict_in_generate` to an object with all requested outputs. `past_key_values`
   * may hold a prefix of the prompt, and is extended in place. Without `attention_mask`, padding tokens of the prompt
   * are masked unless they are end tokens as well; `configure({ onWarning })` is notified if that is ambiguous. Options
   * may be given among the inputs, as in transformers.js: `generate({ ...inputs, max_new_tokens: 20 })`. Rejects like a
   * call of the model, and with the abort signal's reason after at most one layer. Without `decoder_input_ids` a Whisper's
   * prompt is made of `language` and `task`, where it has several, and sequences begin with it.
   */
  generate(inputs: GenerateInputs & ForIds, options?: GenerateOptions & ForIds): Promise<Tensor<'int64'>>;
  generate(
    inputs: GenerateInputs & { return_dict_in_generate?: undefined },
    options: GenerateOptions & ForOutput,
  ): Promise<GenerateOutput>;
  generate(
    inputs: GenerateInputs & ForOutput,
    options?: GenerateOptions & { return_dict_in_generate?: undefined },
  ): Promise<GenerateOutput>;
  generate(inputs: GenerateInputs, options?: GenerateOptions): Promise<Tensor<'int64'> | GenerateOutput>;
  async generate(given: GenerateInputs, options: GenerateOptions = {}): Promise<Tensor<'int64'> | GenerateOutput> {
    const [inputs, rest] = separated('generate', given, options);
    const own = this.withConfig('generate', rest, this.generation_config);
    const spoken = this.#spoken('generate', inputs, own);
    if (spoken) return this.generate(...(await spoken()));
    const request = sortOptions('generate', own, this.generation_config, this.#seen());
    const prompt = this.#given('generate', inputs);
    return this.calls.ask(undefined, () => generate(this.#generating(), prompt, request, own));
  }

  /**
   * Continues the prompt token by token. Leaving the loop early ends the generation. The first step rejects like
   * `generate`. In a worker, unless `past_key_values` are given, the next step is computed while the loop handles one: what
   * changes the weights meanwhile concerns the step after it.
   */
  generate_stream(
    given: PromptInputs & MainInput & GenerateStreamOptions,
    options: GenerateStreamOptions = {},
  ): AsyncGenerator<GenerationStep, void, undefined> {
    const [inputs, rest] = separated('generate_stream', given, options);
    const own = this.withConfig('generate_stream', rest, this.generation_config);
    const spoken = this.#spoken('generate_stream', inputs, own);
    if (spoken) return this.#streamed(spoken);
    const request = sortOptions('generate_stream', own, this.generation_config, this.#seen());
    return generateStream(this.#generating(), this.#given('generate_stream', inputs), request, own);
  }

  /** @internal The options of a call, with those of its `generation_config` and the outputs that `ofModel` asks for. */
  withConfig<O extends Pick<GenerateOptions, 'generation_config'>>(call: string, options: O, ofModel = {}): O {
    return withSettings(call, options, this.#loaded, ofModel);
  }

  /** For a Whisper without a prompt, and where options of one are given: makes the inputs and options with it. */
  #spoken<O extends GenerateOptions>(call: string, inputs: PromptInputs, options: O): Prompted<O> | undefined {
    const { language, task, prompt_ids, forced_decoder_ids } = options ?? {};
    const { input_features, decoder_input_ids, past_key_values } = inputs ?? {};
    const given = decoder_input_ids ?? past_key_values ?? forced_decoder_ids;
    const model = input_features && !given && this.config.model_type === 'whisper' ? this : undefined;
    if (!model && (language ?? task ?? prompt_ids) === undefined) return undefined;
    return async () => (await loadPart(() => import('./whisper_prompt.js'))).prompted(call, model, inputs, options);
  }

  async *#streamed(spoken: Prompted<GenerateStreamOptions>): ReturnType<typeof generateStream> {
    yield* this.generate_stream(...(await spoken()));
  }

  #given(call: string, inputs: PromptInputs) {
    return {
      inputs: promptIn(call, inputs, this.open().engine),
      past_key_values: inputs?.past_key_values,
    };
  }

  #seen() {
    return { hooks: this.hooks({ on_request: true }), engine: this.open().engine };
  }

  /** @internal What was changed in its generation_config since it was loaded, as JSON. */
  get changes(): string | undefined {
    return changesIn(this.generation_config, this.#loaded);
  }

  #generating(): GeneratingModel {
    return { ...this.open(), tokenizer: () => this.ownTokenizer(), generation_config: this.changes };
  }
}
