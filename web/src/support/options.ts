// Validates options: an unknown option is an error that names it, never ignored.

import { ClearformerError, type ErrorCode, quoted, textOf } from './error.js';
import { isObject } from './kinds.js';
import type { OrNull } from './or_null.js';

/** The error for an option or input; `why` follows its name in the message. */
export function refusedOption(
  call: string,
  option: string,
  why: string,
  code: ErrorCode = 'invalid_argument',
): ClearformerError {
  return new ClearformerError(code, `${call}: ${option} ${why}`, { option });
}

/** Throws `invalid_argument` if what is given for an argument is not what the call needs. */
export function expectArgument(call: string, isOne: unknown, needed: string, given: unknown): asserts isOne {
  if (!isOne) throw new ClearformerError('invalid_argument', `${call}: needs ${needed}, got ${textOf(given)}`);
}

const isFunction = (value: unknown) => typeof value === 'function';
const isSignal = (value: unknown): boolean => {
  const { aborted, addEventListener, throwIfAborted } = (value ?? {}) as AbortSignal;
  return typeof aborted === 'boolean' && [addEventListener, throwIfAborted].every(isFunction);
};

const functions =
  'progress progress_callback onResult fetch onWarning callback_function token_callback_function on_chunk_start on_chunk_end on_finalize';
const flags =
  'add_generation_prompt add_special_tokens align_to_words apply_ln center_writing_weights clean_up_tokenization_spaces decode_with_timestamps dequantize deterministic enable_thinking fold_ln handle_impossible_answer incl_embeds incl_mid incl_remainder interpolate_pos_encoding local_files_only mlp_input multi_label nesterov normalize on_request output_attentions output_hidden_states output_logits output_scores pool prepend_bos quantize return_attention_mask return_dict return_dict_in_generate return_documents return_full_text return_length return_logits return_offsets_mapping return_overflowing_tokens return_special_tokens_mask return_tensor return_token_type_ids skip_prompt skip_special_tokens tokenize use_cache with_adapters worker';

/** What options of these names are wherever they exist, if they are given, which null is not. */
const kinds = new Map(
  (
    [
      ['signal', isSignal, 'an AbortSignal'],
      [functions, isFunction, 'a function'],
      ['edits fwd_hooks bwd_hooks receivers', Array.isArray, 'an array'],
      ['integrity select', (value: unknown) => typeof value === 'object', 'an object'],
      ['revision', (value: unknown) => typeof value === 'string', 'a text'],
      ['dropout', (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1, 'a probability'],
      [flags, (value: unknown) => typeof value === 'boolean', 'true or false'],
    ] as const
  ).flatMap(([names, is, what]) => names.split(' ').map((name) => [name, { is, what }] as const)),
);

/** An object's members with those that it inherits, but not from Object.prototype, to which pages may have added some. */
export const withInherited = (given: object | null | undefined): Record<string, unknown> =>
  !given || Object.hasOwn(given, 'isPrototypeOf') ? {} : { ...withInherited(Object.getPrototypeOf(given)), ...given };

/** Without null, which is as if not given, as in transformers and transformers.js, where it is the default of most. */
export function withoutNulls<O>(given: OrNull<O>): O {
  if (!isObject(given)) return given as O;
  const own = withInherited(given);
  for (const name of Object.keys(own)) if (own[name] === null) delete own[name];
  return own as O;
}

/**
 * Throws `unsupported` for the first key of `given` that is not in `known`, `invalid_argument` for a value that is not
 * of its option's kind. A key whose value is undefined is not given.
 */
export function checkOptions(call: string, given: unknown, known: readonly string[], what = 'option'): void {
  if (given === undefined) return;
  checkKinds(call, given);
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined) expectKnown(call, what, option, known, option);
  }
}

/** Throws `unsupported` for a value, of an option or another, that is none of the known ones. */
export function expectKnown(call: string, what: string, value: unknown, known: readonly string[], option = what): void {
  if (known.includes(value as string)) return;
  const message = `${call}: unknown ${what} ${quoted(value)} (known: ${known.join(', ')})`;
  throw new ClearformerError('unsupported', message, { option, expected: known });
}

/** `checkOptions` without the names, for calls whose options the core knows. */
export function checkKinds(call: string, given: unknown): asserts given is object {
  expectArgument(call, isObject(given), 'an object of inputs or options', given);
  for (const [option, value] of Object.entries(given)) {
    const kind = kinds.get(option);
    if (value == null || kind === undefined || kind.is(value)) continue;
    throw refusedOption(call, option, `is ${quoted(value)}, not ${kind.what}`);
  }
}

/**
 * Validates the options of a loading call: those spelled as in transformers.js are translated if `check` rejects them,
 * or rejected with an alternative.
 */
export async function ownOptions<O>(call: string, options: OrNull<O>, check: (options: O) => void): Promise<O> {
  const given = withoutNulls<O>(options);
  try {
    check(given);
    return given;
  } catch (thrown) {
    const { translated } = await import('./foreign_options.js'); // rarely needed
    const own = translated(call, given, thrown) as O;
    check(own);
    return own;
  }
}

/** Throws the signal's reason, as the DOM does. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** What waits for a signal. */
class Stops extends Set<() => void> {
  handleEvent(): void {
    for (const stop of [...this]) stop();
  }
}
const stopsOf = new WeakMap<AbortSignal, Stops>();

/**
 * Calls `stop` when the signal aborts, until the returned function is called. A signal has one listener for all that wait:
 * of more than ten Node warns, and models have more files, and callers more calls at once.
 */
export function onAbort(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (!signal) return () => {};
  const stops = stopsOf.get(signal) ?? new Stops();
  if (stops.size === 0) signal.addEventListener('abort', stops, { once: true });
  stopsOf.set(signal, stops.add(stop));
  return () => {
    if (stops.delete(stop) && stops.size === 0) signal.removeEventListener('abort', stops);
  };
}

/** Settles like `promise`, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) {
      promise.catch(() => {}); // its failure no longer matters
      stop();
      return;
    }
    promise.then(resolve, reject).finally(onAbort(signal, stop));
  });
}
