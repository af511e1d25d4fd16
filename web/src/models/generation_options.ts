// The options of generation: separates those handled in JavaScript from the core's, and checks the former.

import type { HookPoint, OptionValue, OutputRequest, StepRequest } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { readable } from '../support/error.js';
import { checkKinds, expectArgument, refusedOption } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { warn } from '../support/warning.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Streamer } from '../text/text_streamer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { CapturePart } from './capture_parts.js';
import type { ScoresProcessor, StoppingCriterion } from './generation_functions.js';
import type { NamesFilter } from './hooks.js';
import type { EditOptions, Observation } from './observation.js';
import { plainValue } from './plain_values.js';

/** Token ids as tokenizers and models have them. */
type TypedIds = readonly bigint[] | Int32Array | BigInt64Array | Tensor;

/**
 * Options common to `generate` and `generate_stream`. Defaults: generation_config.json, then Hugging Face's. null
 * switches an option off, also one that the checkpoint sets.
 */
export interface GenerationOptions extends EditOptions {
  // Length. Lengths include the prompt; with an encoder, the decoder's.
  /**
   * Maximum number of new tokens; default: 20, in pipelines (chat, translate, transcribe) 256, unless max_length is
   * set.
   */
  max_new_tokens?: number | null | undefined;
  /** Maximum length, including the prompt, unless max_new_tokens is set, also by generation_config.json. */
  max_length?: number | null | undefined;
  /** No end token before this number of new tokens. */
  min_new_tokens?: number | null | undefined;
  /** No end token before this length, including the prompt, unless min_new_tokens is set. */
  min_length?: number | null | undefined;
  /** Seconds; the token that exceeds them is the last. */
  max_time?: number | null | undefined;
  /** A sequence ends when its text contains one of these. Needs a tokenizer; not for beam search. */
  stop_strings?: string | readonly string[] | null | undefined;

  // Search.
  /**
   * Sample tokens by their probability instead of choosing the most probable. With false, temperature and the
   * fractions of sampling (top_p, …) have no effect, and no range.
   */
  do_sample?: boolean | undefined;
  /** Number of beams. */
  num_beams?: number | null | undefined;
  /** Sequences to return per prompt: the best beams, or independent samples. */
  num_return_sequences?: number | null | undefined;
  /**
   * When beam search with num_beams finished sequences stops: at once, when a better one is unlikely, or impossible.
   */
  early_stopping?: boolean | 'never' | null | undefined;
  /** Scores of beams are divided by length ^ length_penalty: above 0 favours long sequences, below 0 short ones. */
  length_penalty?: number | null | undefined;
  /** The same seed gives the same samples on every platform; row r is drawn with seed + r. Default 0. */
  seed?: number | undefined;

  // Logits processors.
  /** Above 1: tokens that occur in the sequence become less likely. */
  repetition_penalty?: number | null | undefined;
  /**
   * Above 1: tokens of the encoder's input (or the prompt) become more likely, in every beam (transformers 5.12 changes only
   * as many beams as there are inputs).
   */
  encoder_repetition_penalty?: number | null | undefined;
  /** No n-gram of this size occurs twice; 0: off. */
  no_repeat_ngram_size?: number | null | undefined;
  /** No n-gram of this size from the encoder's input (or the prompt) occurs; 0: off. */
  encoder_no_repeat_ngram_size?: number | null | undefined;
  /** Sequences of tokens that must not occur. */
  bad_words_ids?: readonly (readonly number[] | TypedIds)[] | null | undefined;
  /** [tokens, bias]: added to the score of the last token if it would complete the sequence. */
  sequence_bias?: readonly (readonly [readonly number[] | TypedIds, number])[] | null | undefined;
  /** The first new token, after a prompt of one token. */
  forced_bos_token_id?: number | bigint | null | undefined;
  /** The token at max_length. */
  forced_eos_token_id?: number | bigint | readonly number[] | TypedIds | null | undefined;
  /** [[position, token], …]: the token at this position. */
  forced_decoder_ids?: readonly (readonly [number, number | bigint | null])[] | null | undefined;
  /** Tokens that never occur. */
  suppress_tokens?: readonly number[] | TypedIds | null | undefined;
  /** Tokens that do not occur as the first new one. */
  begin_suppress_tokens?: readonly number[] | TypedIds | null | undefined;
  /**
   * [start, factor]: after this number of new tokens the end token becomes more likely with each token, unless another
   * option excludes it (in transformers 5.12 its score is then NaN, which wins).
   */
  exponential_decay_length_penalty?: readonly [number, number] | null | undefined;
  /** Replaces NaN by 0 and infinities by the largest finite numbers. */
  remove_invalid_values?: boolean | undefined;
  /** Normalise the scores after all processors. */
  renormalize_logits?: boolean | undefined;

  /**
   * Whisper: timestamp tokens, those after no_timestamps_token_id, around the text; they come in pairs and in order.
   * Not with that token in the prompt.
   */
  return_timestamps?: boolean | undefined;

  // Sampling.
  /** Divides the logits: below 1 sharpens the distribution, above 1 flattens it. */
  temperature?: number | null | undefined;
  /** Only the k most probable tokens; 0: all. */
  top_k?: number | null | undefined;
  /** Only the smallest set of most probable tokens whose probabilities sum to p. */
  top_p?: number | null | undefined;
  /** Only tokens whose probability is at least this fraction of the largest. */
  min_p?: number | null | undefined;
  /** Only the most probable tokens that contribute this share of the entropy. */
  top_h?: number | null | undefined;
  /** Only the tokens with information closest to the entropy, until their probabilities sum to this. */
  typical_p?: number | null | undefined;
  /** Only tokens with at least this probability. */
  epsilon_cutoff?: number | null | undefined;
  /** Only tokens with at least this probability, or a lower one if the entropy is high. */
  eta_cutoff?: number | null | undefined;

  // Special tokens; null: none.
  /** Tokens that end a sequence. */
  eos_token_id?: number | bigint | readonly number[] | TypedIds | null | undefined;
  /** Pads the finished sequences of a batch. */
  pad_token_id?: number | bigint | null | undefined;
  /** The first token if there is no prompt. */
  bos_token_id?: number | bigint | null | undefined;
  /** The first token of the decoder. */
  decoder_start_token_id?: number | bigint | null | undefined;

  // Output.
  /** Processed scores of every step, as used for the choice; for beam search, log-probabilities. */
  output_scores?: boolean | undefined;
  /** Unprocessed logits of every step. */
  output_logits?: boolean | undefined;
  output_attentions?: boolean | undefined;
  output_hidden_states?: boolean | undefined;
  /** Activations to capture in every step, as its `cache`. */
  names_filter?: NamesFilter | undefined;
  /**
   * The part of them that is kept, as in `run_with_cache`. Positions are those of the whole sequence, negative ones those
   * of the step (-1: its last), rows those of the prompts; reductions are over what a step has of the part.
   */
  select?: CapturePart | readonly CapturePart[] | undefined;
  /** Decodes text: for stop_strings, and each step of `generate_stream`. Default: the model's own; null: no text. */
  tokenizer?: PreTrainedTokenizer | null | undefined;
  /** An abort signal: the call rejects with its reason, after at most one layer. */
  signal?: AbortSignal | undefined;

  // Callbacks. They run in this thread; a model in a worker waits for them at each token.
  /** Receives the prompt's ids, then each step's; not for beam search. */
  streamer?: Streamer | null | undefined;
  /** Called after each token to decide which sequences end; not for beam search. */
  stopping_criteria?: StoppingCriterion | readonly StoppingCriterion[] | null | undefined;
  /**
   * Change the scores of each step, in this order: after the processors above, before temperature and the sampling
   * filters. They cost a copy of the scores, [row, vocabulary], in each direction, and with a worker two messages per
   * token.
   */
  logits_processor?: ScoresProcessor | readonly ScoresProcessor[] | null | undefined;

  // Settings.
  /** Options as an object, over the model's own generation_config; options given directly take precedence. */
  generation_config?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Language and task of a Whisper's prompt. */
export interface SpeechTask {
  /** A code such as `en`, or the language's English name. Default: detected by the model. */
  language?: string | null | undefined;
  /** `transcribe` (default), or `translate` into English. */
  task?: 'transcribe' | 'translate' | null | undefined;
}

/** What the prompt of a Whisper is made of where there are neither `decoder_input_ids` nor `forced_decoder_ids`. */
export interface SpeechPrompt extends SpeechTask {
  /** Tokens before that prompt: `<|startofprev|>` and an earlier text. */
  prompt_ids?: readonly number[] | TypedIds | null | undefined;
}

/** Options of `generate`. */
export interface GenerateOptions extends GenerationOptions, SpeechPrompt {
  /** Return an object with all requested outputs instead of the token ids only. */
  return_dict_in_generate?: boolean | undefined;
  /** Whether that object contains past_key_values. Default true. */
  use_cache?: boolean | undefined;
}

/** Options of `generate_stream`. */
export interface GenerateStreamOptions extends GenerationOptions, SpeechPrompt {
  /** Whether tokens such as `</s>` are omitted from the text. Default true. */
  skip_special_tokens?: boolean | undefined;
}

const stepOptions = ['output_scores', 'output_logits'] as const;
const listOptions = ['output_attentions', 'output_hidden_states'] as const;
const inside = ['names_filter', 'select', 'edits', 'fwd_hooks'] as const;
const functions = ['streamer', 'stopping_criteria', 'logits_processor'];
/** What a call gives beside the tokens. */
export const outputOptions = ['return_dict_in_generate', 'use_cache', ...stepOptions, ...listOptions] as const;
const sharedOptions: readonly string[] = [
  ...['signal', 'tokenizer', 'stop_strings'],
  ...[...functions, ...inside, ...outputOptions],
];
/** Options handled here; the core never sees them. */
const ownOptions = { generate: sharedOptions, generate_stream: ['skip_special_tokens', ...sharedOptions] };

export type GenerationCall = keyof typeof ownOptions;

/** Options for the core, which rejects unknown ones by name, and the outputs to keep of each step. */
export interface GenerationRequest {
  call: GenerationCall;
  options: Record<string, OptionValue>;
  step: StepRequest;
  /** What is captured and edited; rejects with `invalid_argument` or `unsupported` if the model cannot. */
  observe: () => Promise<Observation>;
  signal: AbortSignal | undefined;
  tokenizer: PreTrainedTokenizer | null | undefined;
  stop_strings: readonly string[];
  streamer: Streamer | null | undefined;
  criteria: readonly StoppingCriterion[];
  processors: readonly ScoresProcessor[];
}

/**
 * Separates the options of a call; `defaults` is generation_config.json, `model` gives its hook points and where it
 * runs. Throws `invalid_argument` or `unsupported` for invalid options, except those that `observe` reads.
 */
export function sortOptions(
  call: GenerationCall,
  given: GenerateOptions | GenerateStreamOptions,
  defaults: Record<string, unknown>,
  model: { hooks: readonly HookPoint[]; engine: Engine },
): GenerationRequest {
  checkKinds(call, given);
  const asked = given as GenerateOptions;
  const flags = <K extends keyof GenerateOptions>(names: readonly K[]) =>
    Object.fromEntries(names.filter((name) => asked[name]).map((name) => [name, true])) as { [N in K]?: true };
  const step: StepRequest = flags(stepOptions);
  const lists: OutputRequest = flags(listOptions);
  const [wanted] = Object.keys({ ...step, ...lists, ...(asked.names_filter !== undefined && { names_filter: true }) });
  if (call === 'generate' && wanted !== undefined && !asked.return_dict_in_generate) {
    throw refusedOption(call, wanted, 'needs return_dict_in_generate: true');
  }
  const options: Record<string, OptionValue> = { stop_strings: null }; // handled in JavaScript
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined && !ownOptions[call].includes(option))
      options[option] = readable(`${call}: ${option}`, () => plainValue(value, option));
  }
  const observe = async (): Promise<Observation> => {
    if (inside.every((name) => asked[name] === undefined)) return { request: lists, cause: (thrown) => thrown };
    const inner = await loadPart(() => import('./observation.js'));
    const { request, ...rest } = await inner.observe(call, asked, model.hooks, model.engine);
    return { request: { ...request, ...lists }, ...rest };
  };
  const { signal, tokenizer, streamer, stop_strings = defaults.stop_strings, max_length } = given;
  const { max_new_tokens = defaults.max_new_tokens } = given;
  if (typeof max_length === 'number' && typeof max_new_tokens === 'number') {
    const message = `max_length has no effect: max_new_tokens, ${max_new_tokens}, comes first (null switches it off)`;
    warn({ code: 'ignored_length', message });
  }
  const decodes = tokenizer == null || typeof tokenizer.decode === 'function';
  expectArgument(call, decodes, 'a tokenizer', tokenizer);
  if (streamer != null && ![streamer.put, streamer.end].every((method) => typeof method === 'function')) {
    throw refusedOption(call, 'streamer', 'must have put() and end()');
  }
  return {
    call,
    options,
    step,
    observe,
    signal,
    tokenizer,
    streamer,
    stop_strings: stopStrings(call, stop_strings),
    criteria: functionsIn(call, 'stopping_criteria', given.stopping_criteria),
    processors: functionsIn(call, 'logits_processor', given.logits_processor),
  };
}

function functionsIn<F>(call: string, option: string, given: F | readonly F[] | null | undefined): F[] {
  const list = [given ?? []].flat() as F[];
  if (list.every((one) => typeof one === 'function')) return list;
  throw refusedOption(call, option, 'must be a function, or a list of functions');
}

function stopStrings(call: string, value: unknown): string[] {
  const list: unknown[] = [value ?? []].flat();
  if (list.every((text): text is string => typeof text === 'string' && text !== '')) return list;
  throw refusedOption(call, 'stop_strings', 'must be texts, none of them empty');
}
