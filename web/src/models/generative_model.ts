// Models that make text: decoder-only ones continue it, encoder-decoders turn text or sound into it.

import type { Tensor } from '../tensor/tensor.js';
import { type GeneratingModel, generate, generateStream } from './generation.js';
import { type GenerateOptions, type GenerateStreamOptions, sortOptions } from './generation_options.js';
import type { GenerateOutput, GenerationStep } from './generation_output.js';
import { type PromptInputs, promptIn, separated } from './inputs.js';
import type { CausalLMOutput } from './outputs.js';
import { PreTrainedModel } from './pre_trained_model.js';

interface MainInput {
  /** The model's main input: `input_ids`, or sound as float32 `input_features`. */
  inputs?: Tensor | undefined;
}

/** Inputs and options of `generate` in one object. */
export type GenerateInputs = PromptInputs & MainInput & GenerateOptions;

/** A language model. It is a function, too: `await model({ input_ids })`. */
export class GenerativeModel extends PreTrainedModel<CausalLMOutput> {
  /**
   * Continues the prompt: int64 ids [batch · num_return_sequences, length], of a decoder-only model the prompt included,
   * or with `return_dict_in_generate` an object with all that was asked for. `past_key_values` may hold the first
   * positions of the prompt, and is extended in place. Without `attention_mask`, padding tokens of the prompt are masked
   * unless they are end tokens, too; `configure({ onWarning })` hears where that is doubtful. Options may stand among the
   * inputs, as transformers.js has it: `generate({ ...inputs, max_new_tokens: 20 })`. Rejects like a call of the model, and
   * with the signal's reason within one layer's time.
   */
  generate(inputs: PromptInputs, options: GenerateOptions & { return_dict_in_generate: true }): Promise<GenerateOutput>;
  generate(inputs: GenerateInputs & { return_dict_in_generate: true }): Promise<GenerateOutput>;
  generate(
    inputs: GenerateInputs & { return_dict_in_generate?: false | undefined },
    options?: GenerateOptions & { return_dict_in_generate?: false | undefined },
  ): Promise<Tensor<'int64'>>;
  generate(inputs: GenerateInputs, options?: GenerateOptions): Promise<Tensor<'int64'> | GenerateOutput>;
  async generate(given: GenerateInputs, options: GenerateOptions = {}): Promise<Tensor<'int64'> | GenerateOutput> {
    const [inputs, own] = separated('generate', given, options);
    const request = sortOptions('generate', own, this.generation_config, this.#seen());
    return generate(this.#generating(), this.#given('generate', inputs), request, own);
  }

  /**
   * Continues the prompt token by token. Leaving the loop early ends the generation. Rejects like `generate`, with the
   * first step.
   */
  generate_stream(
    given: PromptInputs & MainInput & GenerateStreamOptions,
    options: GenerateStreamOptions = {},
  ): AsyncGenerator<GenerationStep, void, undefined> {
    const [inputs, own] = separated('generate_stream', given, options);
    const request = sortOptions('generate_stream', own, this.generation_config, this.#seen());
    return generateStream(this.#generating(), this.#given('generate_stream', inputs), request, own);
  }

  #given(call: string, inputs: PromptInputs) {
    return {
      inputs: promptIn(call, inputs, this.open().engine),
      past_key_values: inputs?.past_key_values ?? undefined,
    };
  }

  #seen() {
    return { hooks: this.hooks(), remote: this.open().engine.remote };
  }

  #generating(): GeneratingModel {
    return { ...this.open(), tokenizer: () => this.ownTokenizer() };
  }
}
