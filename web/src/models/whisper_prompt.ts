// The prompt of Whisper's decoder: <|startoftranscript|>, for multilingual models the language and the task, and
// <|notimestamps|>. Source: Radford et al. 2022, Robust Speech Recognition via Large-Scale Weak Supervision, section
// 2.3.

import { expectNone } from '../checkpoint/file_rules.js';
import { checkChoice } from '../support/choices.js';
import { ClearformerError } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import { integerMatrix } from '../tensor/integer_input.js';
import { Tensor } from '../tensor/tensor.js';
import { floats } from '../tensor/tensor_input.js';
import { languageId, nameOfLanguage, tasks } from '../text/whisper_languages.js';
import type { GenerateOptions, SpeechTask } from './generation_options.js';
import { type PromptInputs, rowsOf } from './inputs.js';
import type { CausalLMOutput } from './outputs.js';
import { plainValue } from './plain_values.js';
import type { PreTrainedModel } from './pre_trained_model.js';
import { brokenSpeechRules } from './whisper_rules.js';

/** What listens. */
type SpeechModel = PreTrainedModel<CausalLMOutput>;

type Ids = Readonly<Record<string, number>>;

/** The parts of a Whisper's generation_config.json for prompt and timestamps, without those that are null. */
interface WhisperConfig {
  decoder_start_token_id: number;
  is_multilingual?: boolean;
  lang_to_id?: Ids;
  task_to_id?: Ids;
  no_timestamps_token_id?: number;
  /** [layer, head] of the cross-attentions that follow the audio. */
  alignment_heads?: readonly (readonly [number, number])[];
  return_timestamps?: boolean;
  language?: string;
  task?: 'transcribe' | 'translate';
  /** Of older files: [position, token] of language, task and <|notimestamps|>. */
  forced_decoder_ids?: readonly (readonly [number, number | null])[];
}

const usualStart = 50257; // transformers' default

/** Throws `malformed_config` for languages and tasks in the file that no prompt can be made of. */
export function whisperConfig(model: SpeechModel): WhisperConfig {
  const { decoder_start_token_id = usualStart } = model.config; // where generation_config.json has none
  const held = Object.entries(model.generation_config).filter(([, value]) => value !== null);
  expectNone(brokenSpeechRules(model.generation_config, model.cfg));
  return { decoder_start_token_id, ...Object.fromEntries(held) } as unknown as WhisperConfig;
}

/** The prompt of each audio of a batch. */
export interface WhisperPrompt {
  ids: number[][];
  /** English names, such as "french"; undefined if the model has a single language. */
  languages: (string | undefined)[];
}

/**
 * The prompt tokens for each audio of a batch; `times` says whether to request timestamps. Without a language the model
 * detects it, which takes a separate pass, unless forced tokens or the files name one. Throws `invalid_argument` for a
 * language or task that the model does not support, or that is given beside forced tokens, and for forced tokens that do
 * not follow the first, `malformed_config` for such in the files.
 */
export async function whisperPrompt(
  model: SpeechModel,
  input_features: Tensor<'float32'>,
  given: SpeechTask & { times: boolean; start?: unknown; forced_decoder_ids?: unknown },
  signal: AbortSignal | undefined,
): Promise<WhisperPrompt> {
  const config = whisperConfig(model);
  const { lang_to_id, task_to_id, no_timestamps_token_id } = config;
  const start = plainValue(given.start ?? config.decoder_start_token_id) as number;
  const batch = input_features.dims[0] ?? 0;
  const end = no_timestamps_token_id === undefined || given.times ? [] : [no_timestamps_token_id];
  const language = given.language ?? config.language;
  const task = given.task ?? config.task;
  if ((given.task ?? null) !== null) checkChoice('task', given.task, tasks);
  const forced = forcedTokens(model, given, language !== undefined || task !== undefined);
  let [spoken, what] = forced;
  let heard: readonly number[] = [];
  const named = new Map<unknown, string>();
  if (lang_to_id === undefined || task_to_id === undefined || config.is_multilingual === false) {
    refuseForOneLanguage(given);
  } else {
    for (const [token, id] of Object.entries(lang_to_id)) named.set(id, nameOfLanguage(token.slice(2, -2)));
    if (task !== undefined) checkChoice('task', task, Object.keys(task_to_id));
    if (forced.length === 0) what = task_to_id[task ?? 'transcribe'];
    if (language !== undefined) spoken = languageId(language, lang_to_id);
    if (spoken == null)
      heard = await heardLanguages(model, input_features, { start, ids: Object.values(lang_to_id) }, signal);
  }
  const rows = Array.from({ length: batch }, (_, row) => [start, heard[row] ?? spoken, what, ...forced.slice(2)]);
  return {
    ids: rows.map((row) => [...row.filter((id) => id != null && id !== no_timestamps_token_id), ...end] as number[]),
    languages: rows.map(([, id]) => named.get(id)),
  };
}

/**
 * The tokens after the first that the caller asks for, or an older file if neither language nor task is named; none if
 * they begin later, as in transformers.
 */
function forcedTokens(
  model: SpeechModel,
  { language, task, forced_decoder_ids: given }: SpeechTask & { forced_decoder_ids?: unknown },
  isNamed: boolean,
): (number | null)[] {
  const option = 'forced_decoder_ids';
  const isGiven = given !== undefined && given !== null;
  if (isGiven && (language ?? task ?? null) !== null) {
    throw new ClearformerError('invalid_argument', `${option} stand for language and task: give either`, { option });
  }
  const ofFiles = isNamed ? [] : (whisperConfig(model).forced_decoder_ids ?? model.config.forced_decoder_ids ?? []);
  const held = plainValue(isGiven ? given : ofFiles);
  const pairs = Array.isArray(held) ? held.flat() : [undefined];
  const isRead = (id: unknown, i: number) => (i % 2 ? id === null || Number.isInteger(id) : id === i / 2 + 1);
  if (typeof pairs[0] === 'number' && pairs[0] !== 1) return [];
  if (pairs.every(isRead)) return pairs.filter((_, i) => i % 2);
  const code = isGiven ? 'invalid_argument' : 'malformed_config';
  throw new ClearformerError(code, `${option} must name the tokens from position 1 on`, { option });
}

function refuseForOneLanguage(given: SpeechTask): void {
  for (const option of ['language', 'task'] as const) {
    if (given[option] === undefined || given[option] === null) continue;
    const message = `${option}: this model knows one language and one task, generation_config.json names no others`;
    throw new ClearformerError('invalid_argument', message, { option });
  }
}

/** The most probable language of each audio. */
async function heardLanguages(
  model: SpeechModel,
  input_features: Tensor<'float32'>,
  { start, ids }: { start: number; ids: readonly number[] },
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const batch = input_features.dims[0] ?? 0;
  const decoder_input_ids = Array.from({ length: batch }, () => [start]);
  const { logits } = await model({ input_features, decoder_input_ids }, { signal });
  return decoder_input_ids.map((_, row) => {
    const scores = logits.slice(row).data;
    return ids.reduce((best, id) => ((scores[id] as number) > (scores[best] as number) ? id : best));
  });
}

/**
 * The inputs and options of a generation: with the prompt of a `model` that lacks one as `decoder_input_ids`, and without
 * what it is made of. Throws `unsupported` for `language`, `task` and `prompt_ids` if none is made.
 */
export async function prompted<O extends GenerateOptions>(
  call: string,
  model: SpeechModel | undefined,
  inputs: PromptInputs,
  options: O,
): Promise<[PromptInputs, O]> {
  const { language, task, prompt_ids, ...own } = options;
  if (model === undefined) {
    const [given] = Object.entries({ language, task, prompt_ids }).find(([, value]) => (value ?? null) !== null) ?? [];
    if (given === undefined) return [inputs, own as O];
    const why = "makes a Whisper's prompt, from input_features without decoder_input_ids and forced_decoder_ids";
    throw refusedOption(call, given, why, 'unsupported');
  }
  const { data, dims } = floats('input_features', inputs.input_features as Tensor);
  const times = own.return_timestamps ?? whisperConfig(model).return_timestamps ?? false;
  const asked = { language, task, times, start: own.decoder_start_token_id };
  const { ids } = await whisperPrompt(model, new Tensor('float32', data, [...dims]), asked, own.signal);
  const [before = []] = prompt_ids ? rowsOf(integerMatrix('prompt_ids', prompt_ids)) : [];
  const decoder_input_ids = ids.map((row) => [...before, ...row]);
  return [{ ...inputs, decoder_input_ids }, { ...own, forced_decoder_ids: null } as O];
}
