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
    return AutoModelForSeq2SeqLM.from_pretrained(source, options).catch(async (last: unknown) => {
      throw (await madeForOthers(source, options)) ?? last;
    });
  }
}

/** The error for a model that can be loaded, but generates no text. */
async function madeForOthers(source: string, options: LoadOptions): Promise<ClearformerError | undefined> {
  const { revision, signal } = options;
  const { pipelines, valid } = await inspect(source, { revision, signal });
  if (!valid || pipelines.length === 0) return undefined;
  const message = `generate: ${source} is for ${pipelines.join(' and ')}`;
  return new ClearformerError('unsupported', message, { option: 'task', expected: pipelines });
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
