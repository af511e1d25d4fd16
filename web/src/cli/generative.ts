// Models that write, with and without an encoder, and their text as it comes.

import {
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  ClearformerError,
  type GenerationOptions,
  type GenerativeModel,
  type LoadOptions,
  type PreTrainedTokenizer,
  TextStreamer,
} from '../index.js';
import type { Output } from './output.js';

/** A model that writes, whichever of the two kinds it is. */
export async function loadGenerative(source: string, options: LoadOptions): Promise<GenerativeModel> {
  try {
    return await AutoModelForCausalLM.from_pretrained(source, options);
  } catch (thrown) {
    if (!(thrown instanceof ClearformerError) || thrown.code !== 'unsupported') throw thrown;
    return AutoModelForSeq2SeqLM.from_pretrained(source, options);
  }
}

/** Whether there is one sequence that only grows, so that its text can be shown as it comes. */
export function streams(model: GenerativeModel, options: GenerationOptions): boolean {
  const defaults = model.generation_config as GenerationOptions;
  const of = (name: 'num_beams' | 'num_return_sequences') => options[name] ?? defaults[name] ?? 1;
  return of('num_beams') === 1 && of('num_return_sequences') === 1;
}

/** Writes the text of one sequence while it is generated. */
export function textStreamer(tokenizer: PreTrainedTokenizer, output: Output, skip_prompt: boolean): TextStreamer {
  return new TextStreamer(tokenizer, { skip_prompt, callback_function: (text) => output.write(text) });
}
