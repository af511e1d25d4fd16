// Generative models, with and without an encoder, and streaming of their text.

import {
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  ClearformerError,
  type GenerationOptions,
  type GenerativeModel,
  inspect,
  type LoadOptions,
  type PreTrainedTokenizer,
  TextStreamer,
} from '../index.js';
import type { Output } from './output.js';

/** A generative model of either kind. */
export async function loadGenerative(source: string, options: LoadOptions): Promise<GenerativeModel> {
  try {
    return await AutoModelForCausalLM.from_pretrained(source, options);
  } catch (thrown) {
    if (!(thrown instanceof ClearformerError) || thrown.code !== 'unsupported') throw thrown;
    const { revision, signal } = options;
    const { pipelines, valid } = await inspect(source, { revision, signal });
    if (!valid || pipelines.length === 0 || pipelines.includes('text2text-generation')) {
      return AutoModelForSeq2SeqLM.from_pretrained(source, options);
    }
    const message = `generate: ${source} is for ${pipelines.join(' and ')}`;
    throw new ClearformerError('unsupported', message, { option: 'task', expected: pipelines });
  }
}

/** Whether there is a single sequence that only grows, so that its text can be streamed. */
export function streams(model: GenerativeModel, options: GenerationOptions): boolean {
  const defaults = model.generation_config as GenerationOptions;
  const of = (name: 'num_beams' | 'num_return_sequences') => options[name] ?? defaults[name] ?? 1;
  return of('num_beams') === 1 && of('num_return_sequences') === 1;
}

/** Writes the text of one sequence while it is generated. */
export function textStreamer(tokenizer: PreTrainedTokenizer, output: Output, skip_prompt: boolean): TextStreamer {
  return new TextStreamer(tokenizer, { skip_prompt, callback_function: (text) => output.write(text) });
}
