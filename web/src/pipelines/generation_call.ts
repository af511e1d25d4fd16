// Common to pipelines that generate: separates generate()'s options, and its defaults in a pipeline.

import { type GenerateOptions, outputOptions, type SpeechPrompt } from '../models/generation_options.js';
import type { GenerativeModel } from '../models/generative_model.js';
import { ClearformerError } from '../support/error.js';
import { checkKinds, refusedOption } from '../support/options.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { checkCount } from './scores.js';
import type { CallOptions } from './texts.js';

/** Options of `generate` that have results other than texts, which a pipeline does not return. */
const notForTexts = [...outputOptions, 'names_filter', 'select'] as const;

/** Options of `generate` that concern texts, and not sound. */
export type TextOptions = Omit<GenerateOptions, keyof SpeechPrompt | (typeof notForTexts)[number]>;

/** The options passed on to `generate`, and the pipelines' own. */
export interface GenerationCallOptions extends CallOptions, TextOptions {}

/**
 * Separates the options; `generate` checks its own by name. Throws `unsupported` for what a pipeline cannot return, and
 * for a streamer with more than one input.
 */
export function splitOptions(
  call: string,
  options: GenerationCallOptions,
  own: readonly string[],
  inputs: number,
): { generate: TextOptions & { return_dict_in_generate: false } } {
  if (typeof options !== 'object' || options === null) {
    throw new ClearformerError('invalid_argument', `${call}: options must be an object`);
  }
  checkKinds(call, options);
  const { batch_size, ...rest } = options;
  if (batch_size !== undefined) checkCount('batch_size', batch_size);
  const option = notForTexts.find((name) => (rest as GenerateOptions)[name] !== undefined);
  if (option !== undefined) {
    throw refusedOption(call, option, 'is for model.generate, a pipeline gives texts', 'unsupported');
  }
  if (rest.streamer && inputs > 1) {
    throw new ClearformerError('unsupported', `${call}: streamer: one input at a time, not ${inputs}`, {
      option: 'streamer',
    });
  }
  const passed = Object.entries(rest).filter(([name, value]) => value !== undefined && !own.includes(name));
  return { generate: { ...Object.fromEntries(passed), return_dict_in_generate: false } };
}

const usualLength = 256; // as in upstream's pipelines

/**
 * The defaults: the model's settings for the task, and a maximum of 256 new tokens (or as many as
 * its positions allow after `prompt` tokens) if no length is set.
 */
export function generationDefaults(
  model: GenerativeModel,
  given: TextOptions,
  ofTask: TextOptions,
  prompt: number,
): TextOptions {
  const lengths = ['max_new_tokens', 'max_length'] as const;
  const says = (settings: Readonly<Record<string, unknown>>) =>
    lengths.some((name) => settings[name] !== undefined && settings[name] !== null);
  if (says(given as Record<string, unknown>)) {
    const { max_length, max_new_tokens, ...others } = ofTask;
    return others;
  }
  if (says(ofTask as Record<string, unknown>) || says(model.generation_config)) return ofTask;
  const { n_ctx } = model.cfg;
  const room = n_ctx > 0 ? n_ctx - prompt : usualLength;
  return { ...ofTask, max_new_tokens: Math.max(1, Math.min(usualLength, room)) };
}

/**
 * The options of `generate` for texts: those given over the defaults, and the tokenizer, whose padding token follows ends
 * if the model has none, as upstream.
 */
export function generationSettings(
  { model, tokenizer }: { model: GenerativeModel; tokenizer: PreTrainedTokenizer },
  given: TextOptions,
  ofTask: TextOptions,
  prompt: number,
): TextOptions {
  const { pad_token_id: pad } = tokenizer;
  const pads = pad !== null && pad < model.cfg.d_vocab && (model.generation_config.pad_token_id ?? null) === null;
  return {
    tokenizer,
    ...(pads && { pad_token_id: pad }),
    ...generationDefaults(model, given, ofTask, prompt),
    ...given,
  };
}
