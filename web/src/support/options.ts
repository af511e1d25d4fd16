// Validates options: an unknown option is an error that names it, never ignored.

import { ClearformerError, textOf } from './error.js';

/** Throws `invalid_argument` if what is given for an argument is not what the call needs. */
export function expectArgument(call: string, isOne: unknown, needed: string, given: unknown): asserts isOne {
  if (!isOne) throw new ClearformerError('invalid_argument', `${call}: needs ${needed}, got ${textOf(given)}`);
}

const isSignal = (value: unknown): boolean => {
  const { aborted, addEventListener } = (value ?? {}) as AbortSignal;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
};

const flags =
  /^(add_(special_tokens|generation_prompt)|apply_ln|center_writing_weights|clean_up_tokenization_spaces|continue_final_message|dequantize|deterministic|enable_thinking|fold_ln|incl_\w+|local_files_only|mlp_input|multi_label|nesterov|normalize|on_request|output_\w+|prepend_bos|quantize|return_(attention_mask|dict(_in_generate)?|documents|full_text|length|offsets_mapping|overflowing_tokens|special_tokens_mask|tensor|token_type_ids)|skip_\w+|tokenize|use_cache|worker)$/;

/** What options of these names are wherever they exist; null, where it is one, is as if not given. */
const kinds: readonly (readonly [names: RegExp, is: (value: unknown) => boolean, what: string])[] = [
  [/^signal$/, isSignal, 'an AbortSignal'],
  [/^(progress(_callback)?|onResult)$/, (value) => typeof value === 'function', 'a function'],
  [/^(edits|[fb]wd_hooks|receivers)$/, (value) => value === null || Array.isArray(value), 'an array'],
  [/^revision$/, (value) => value === null || typeof value === 'string', 'a text'],
  [/^(integrity|select)$/, (value) => typeof value === 'object', 'an object'],
  [/^dropout$/, (value) => typeof value === 'number' && value >= 0 && value <= 1, 'a probability'],
  [flags, (value) => value === null || typeof value === 'boolean', 'true or false'],
];

/**
 * Throws `unsupported` for the first key of `given` that is not in `known`, `invalid_argument` for a signal or a function
 * that is none. A key whose value is undefined is not given.
 */
export function checkOptions(call: string, given: unknown, known: readonly string[]): void {
  if (given === undefined) return;
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw new ClearformerError('invalid_argument', `${call}: options must be an object`);
  }
  for (const [option, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!known.includes(option)) {
      const message = `${call}: unknown option '${option}' (known: ${known.join(', ')})`;
      throw new ClearformerError('unsupported', message, { option, expected: known });
    }
  }
  checkKinds(call, given);
}

/** The part of `checkOptions` that concerns values: throws `invalid_argument` for one that is not of its option's kind. */
export function checkKinds(call: string, given: object): void {
  for (const [option, value] of Object.entries(given)) {
    const [, is, what] = kinds.find(([names]) => names.test(option)) ?? [];
    if (value === undefined || is === undefined || is(value)) continue;
    throw new ClearformerError('invalid_argument', `${call}: ${option} is ${textOf(value)}, not ${what}`, { option });
  }
}

/**
 * Validates the options of a loading call: those spelled as in transformers.js are translated if `check` rejects them,
 * or rejected with an alternative.
 */
export async function ownOptions<O>(call: string, given: O, check: (options: O) => void): Promise<O> {
  try {
    check(given);
    return given;
  } catch (thrown) {
    const { translated } = await import('./foreign_options.js'); // rarely needed
    const own = translated(call, given) as O | undefined;
    if (own === undefined) throw thrown;
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
  if (signal === undefined) return () => {};
  const stops = stopsOf.get(signal) ?? new Stops();
  if (stops.size === 0) signal.addEventListener('abort', stops, { once: true });
  stopsOf.set(signal, stops.add(stop));
  return () => {
    if (stops.delete(stop) && stops.size === 0) signal.removeEventListener('abort', stops);
  };
}

/** Settles like `promise`, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
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
