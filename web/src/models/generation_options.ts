// Options of generation: which are this side's and which the core's, checked as far as this side must.

import type { HookPoint, OptionValue, OutputRequest, StepRequest } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import type { Streamer } from '../text/text_streamer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { ScoresProcessor, StoppingCriterion } from './generation_functions.js';
import type { NamesFilter } from './hooks.js';
import { type EditOptions, type Observation, observe } from './observation.js';

/** What both ways of generating take. Defaults come from generation_config.json, then from Hugging Face's. */
export interface GenerationOptions extends EditOptions {
  // How long. Lengths count the prompt; with an encoder, what the decoder begins with.
  /** Tokens to add at most; default: 20, where no max_length is set. */
  max_new_tokens?: number | null | undefined;
  /** Length at most, the prompt included. */
  max_length?: number | null | undefined;
  /** No end token before so many tokens were added. */
  min_new_tokens?: number | undefined;
  /** No end token before this length, the prompt included. */
  min_length?: number | undefined;
  /** Seconds; the token that exceeds them is the last one. */
  max_time?: number | null | undefined;
  /** A sequence ends when its text holds one of these. Needs a tokenizer; not for beam search. */
  stop_strings?: string | readonly string[] | null | undefined;

  // Which way.
  /** Draw tokens by their probability instead of taking the likeliest. */
  do_sample?: boolean | undefined;
  /** Sequences that are followed at the same time. */
  num_beams?: number | undefined;
  /** Sequences to return for each prompt: the best beams, or independent draws. */
  num_return_sequences?: number | undefined;
  /** When a beam search with num_beams finished sequences ends: at once, when no better one is likely, or possible. */
  early_stopping?: boolean | 'never' | undefined;
  /** Scores of beams are divided by length ^ length_penalty: above 0 favours long sequences, below 0 short ones. */
  length_penalty?: number | undefined;
  /** The same seed gives the same draws, everywhere. */
  seed?: number | undefined;

  // What may follow.
  /** Above 1: tokens that stand in the sequence already become less likely. */
  repetition_penalty?: number | undefined;
  /** Above 1: tokens of the encoder's input (or the prompt) become likelier. */
  encoder_repetition_penalty?: number | undefined;
  /** No run of so many tokens comes twice; 0: off. */
  no_repeat_ngram_size?: number | undefined;
  /** No run of so many tokens of the encoder's input (or the prompt) comes; 0: off. */
  encoder_no_repeat_ngram_size?: number | undefined;
  /** Sequences of tokens that must not come. */
  bad_words_ids?: readonly (readonly number[])[] | null | undefined;
  /** [tokens, bias]: added to the score of the last one, where it would complete the others. */
  sequence_bias?: readonly (readonly [readonly number[], number])[] | null | undefined;
  /** The first token that is written, behind a prompt of one token. */
  forced_bos_token_id?: number | null | undefined;
  /** What stands at max_length. */
  forced_eos_token_id?: number | readonly number[] | null | undefined;
  /** [position, token] */
  forced_decoder_ids?: readonly (readonly [number, number | null])[] | null | undefined;
  /** Tokens that never come, or not as the first. */
  suppress_tokens?: readonly number[] | null | undefined;
  begin_suppress_tokens?: readonly number[] | null | undefined;
  /** [start, factor]: from so many new tokens on the end becomes likelier with each. */
  exponential_decay_length_penalty?: readonly [number, number] | null | undefined;
  /** NaN becomes 0, infinities the largest numbers. */
  remove_invalid_values?: boolean | undefined;
  /** Scores are normalised after all rules. */
  renormalize_logits?: boolean | undefined;

  /**
   * Whisper: the text stands between times, tokens behind no_timestamps_token_id; they come in pairs and in order. Not with
   * that token in the prompt.
   */
  return_timestamps?: boolean | undefined;

  // What a draw may choose.
  /** Divides the logits: below 1 sharper, above 1 flatter. */
  temperature?: number | undefined;
  /** Only the k likeliest tokens; 0: all. */
  top_k?: number | undefined;
  /** Only the fewest tokens whose probabilities sum to p. */
  top_p?: number | undefined;
  /** Only tokens that are at least so probable as this share of the likeliest. */
  min_p?: number | undefined;
  /** Only the likeliest tokens that hold this share of the entropy. */
  top_h?: number | null | undefined;
  /** Only tokens about as surprising as expected, until their probabilities sum to this. */
  typical_p?: number | undefined;
  /** Only tokens of at least this probability; eta_cutoff: less where many are possible. */
  epsilon_cutoff?: number | undefined;
  eta_cutoff?: number | undefined;

  // Special tokens; null: there is none.
  /** Tokens that end a sequence. */
  eos_token_id?: number | readonly number[] | null | undefined;
  /** What finished sequences of a batch are filled up with. */
  pad_token_id?: number | null | undefined;
  /** What begins where there is no prompt. */
  bos_token_id?: number | null | undefined;
  decoder_start_token_id?: number | null | undefined;

  // What is kept.
  /** Processed scores of every step, as chosen from; of a beam search, log-probabilities. */
  output_scores?: boolean | undefined;
  /** Raw logits of every step. */
  output_logits?: boolean | undefined;
  output_attentions?: boolean | undefined;
  output_hidden_states?: boolean | undefined;
  /** Activations to capture in every step: `cache` of each. */
  names_filter?: NamesFilter | undefined;
  /** Makes text: of stop_strings, and of each step of `generate_stream`. Default: the model's own; null: no text. */
  tokenizer?: PreTrainedTokenizer | null | undefined;
  /** Aborting it rejects with its reason, within one layer's time. */
  signal?: AbortSignal | undefined;

  // Functions of the caller's. They run in this thread; a model in a worker waits for them with each token.
  /** Told the prompt's ids, then each step's; not for beam search. */
  streamer?: Streamer | null | undefined;
  /** Asked after each token which sequences end; not for beam search. */
  stopping_criteria?: StoppingCriterion | readonly StoppingCriterion[] | null | undefined;
  /**
   * Change the scores of each step, in the order given: behind the rules above, before temperature and what follows it.
   * They cost a copy of the scores, [row, vocabulary], each way, and with a worker two messages a token.
   */
  logits_processor?: ScoresProcessor | readonly ScoresProcessor[] | null | undefined;

  /** Options that hold where no other says so, as an object. */
  generation_config?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Options of `generate`. */
export interface GenerateOptions extends GenerationOptions {
  /** An object with everything that was asked for instead of the token ids alone. */
  return_dict_in_generate?: boolean | undefined;
  /** Whether that object holds past_key_values. Default true. */
  use_cache?: boolean | undefined;
}

/** Options of `generate_stream`. */
export interface GenerateStreamOptions extends GenerationOptions {
  /** Whether tokens such as `</s>` are left out of the text. Default true. */
  skip_special_tokens?: boolean | undefined;
}

const stepOptions = ['output_scores', 'output_logits'] as const;
const listOptions = ['output_attentions', 'output_hidden_states'] as const;
const inside = ['names_filter', 'edits', 'fwd_hooks'];
const functions = ['streamer', 'stopping_criteria', 'logits_processor'];
const sharedOptions = ['signal', 'tokenizer', 'stop_strings', ...functions, ...inside, ...stepOptions, ...listOptions];
/** Options that are this side's; the core never sees them. */
const ownOptions = {
  generate: ['return_dict_in_generate', 'use_cache', ...sharedOptions],
  generate_stream: ['skip_special_tokens', ...sharedOptions],
};

export type GenerationCall = keyof typeof ownOptions;

/** Options for the core, which refuses by name what it does not know, and what is to be kept of each step. */
export interface GenerationRequest {
  call: GenerationCall;
  options: Record<string, OptionValue>;
  step: StepRequest;
  observation: Observation;
  signal: AbortSignal | undefined;
  tokenizer: PreTrainedTokenizer | null | undefined;
  stop_strings: readonly string[];
  streamer: Streamer | null | undefined;
  criteria: readonly StoppingCriterion[];
  processors: readonly ScoresProcessor[];
}

/**
 * Sorts the options of one of the two calls; `defaults` is generation_config.json, `model` what can be seen and where it
 * runs. Throws `invalid_argument` or `unsupported` for what no option can be.
 */
export function sortOptions(
  call: GenerationCall,
  given: GenerateOptions | GenerateStreamOptions,
  defaults: Record<string, unknown>,
  model: { hooks: readonly HookPoint[]; remote: boolean },
): GenerationRequest {
  if (typeof given !== 'object' || given === null)
    throw new ClearformerError('invalid_argument', `${call}: options must be an object`);
  const asked = given as GenerateOptions;
  const flags = <K extends keyof GenerateOptions>(names: readonly K[]) =>
    Object.fromEntries(names.filter((name) => asked[name]).map((name) => [name, true])) as { [N in K]?: true };
  const step: StepRequest = flags(stepOptions);
  const lists: OutputRequest = flags(listOptions);
  const [wanted] = Object.keys({ ...step, ...lists, ...(asked.names_filter !== undefined && { names_filter: true }) });
  if (call === 'generate' && wanted !== undefined && !asked.return_dict_in_generate) {
    throw new ClearformerError('invalid_argument', `generate: ${wanted} needs return_dict_in_generate: true`, {
      option: wanted,
    });
  }
  const options: Record<string, OptionValue> = { stop_strings: null }; // looked for on this side
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined && !ownOptions[call].includes(option)) options[option] = plainValue(call, option, value);
  }
  const stops = given.stop_strings === undefined ? defaults.stop_strings : given.stop_strings;
  const { request, cause } = observe(call, asked, model.hooks, model.remote);
  const observation = { request: { ...request, ...lists }, cause };
  const { signal, tokenizer } = given;
  const { streamer } = given;
  if (streamer && (typeof streamer.put !== 'function' || typeof streamer.end !== 'function')) {
    throw new ClearformerError('invalid_argument', `${call}: streamer must have put() and end()`, {
      option: 'streamer',
    });
  }
  return {
    ...{ call, options, step, observation, signal, tokenizer, streamer },
    stop_strings: stopStrings(call, stops),
    criteria: functionsIn(call, 'stopping_criteria', given.stopping_criteria),
    processors: functionsIn(call, 'logits_processor', given.logits_processor),
  };
}

function functionsIn<F>(call: string, option: string, given: F | readonly F[] | null | undefined): F[] {
  const list = [given ?? []].flat() as F[];
  if (list.every((one) => typeof one === 'function')) return list;
  throw new ClearformerError('invalid_argument', `${call}: ${option} must be a function, or a list of functions`, {
    option,
  });
}

function stopStrings(call: string, value: unknown): string[] {
  const list = value === undefined || value === null ? [] : [value].flat();
  if (list.every((text): text is string => typeof text === 'string' && text !== '')) return list;
  throw new ClearformerError('invalid_argument', `${call}: stop_strings must be texts, none of them empty`, {
    option: 'stop_strings',
  });
}

function plainValue(call: string, option: string, value: unknown): OptionValue {
  if (value === null || ['boolean', 'string'].includes(typeof value)) return value as OptionValue;
  if (Number.isFinite(value)) return value as number;
  if (Array.isArray(value)) return value.map((entry) => plainValue(call, option, entry));
  if (['number', 'bigint'].includes(typeof value)) {
    throw new ClearformerError('invalid_argument', `${call}: ${option} cannot be ${String(value)}`, { option });
  }
  throw new ClearformerError('unsupported', `${call}: ${option} is not supported`, { option });
}
