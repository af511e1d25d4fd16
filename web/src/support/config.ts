// Settings for the whole package: where models and the package's own files come from.

import { ClearformerError, textOf } from './error.js';
import { checkOptions } from './options.js';
import { environment } from './platform.js';

/**
 * What a warning is about. `right_padding`: a prompt without attention_mask ends with the padding token, which is masked.
 * `ambiguous_padding`: a prompt without attention_mask holds a token that is both padding and end; it is read as text.
 * `no_fallback`: a Whisper whose generation_config.json asks for second tries of a pass, which are not made.
 * `no_entailment`: a zero-shot classifier whose classes have no name that tells which of them is entailment.
 * `not_kept`: a download could not be kept (no space, no permission). `damaged_cache`: a kept file had changed and was
 * fetched again. `stale_cache`: the server could not be asked, so that the kept file is used as it is. `other_checksum`: a
 * small file is not what the server's etag says, twice.
 */
export type WarningCode =
  | 'right_padding'
  | 'ambiguous_padding'
  | 'no_entailment'
  | 'no_fallback'
  | 'not_kept'
  | 'damaged_cache'
  | 'stale_cache'
  | 'other_checksum';

/** A warning, as `configure({ onWarning })` hears it. */
export interface ClearformerWarning {
  code: WarningCode;
  message: string;
}

/** What `configure` sets. A setting that is absent keeps its value, one that is undefined goes back to the default. */
export interface Configuration {
  /** Host that Hub ids are resolved against (default `https://huggingface.co`, or with Node `HF_ENDPOINT`). */
  remoteHost?: string | undefined;
  /** Milliseconds of silence after which a server is asked again, and a worker's script is given up (default 30,000). */
  timeout?: number | undefined;
  /** How often in a row a request is repeated after 408, 429, 5xx, a broken connection or silence (default 4). */
  retries?: number | undefined;
  /** Milliseconds before the first repetition, doubled each time (default 500), where no Retry-After says how many. */
  retryDelay?: number | undefined;
  /** URL of the .wasm file, or (with a slash at its end) of the folder that holds all builds. */
  wasmUrl?: string | URL | undefined;
  /** The bytes of the .wasm file, when there is no URL to fetch them from. */
  wasmBinary?: ArrayBuffer | Uint8Array | undefined;
  /** URL of worker.js, for bundlers and servers that move it. */
  workerUrl?: string | URL | undefined;
  /** Never relaxed SIMD, the same bits on every engine: for functions and modules, and what models do unless told. */
  deterministic?: boolean | undefined;
  /** Threads of models that are not told otherwise (see LoadOptions), and of functions and modules (default: 1). */
  numThreads?: number | 'auto' | undefined;
  /** Used instead of the global `fetch` for model files, for example to add an Authorization header. */
  fetch?: typeof fetch | undefined;
  /** Called with each warning. Default: its message goes to `console.warn`. */
  onWarning?: ((warning: ClearformerWarning) => void) | undefined;
}

const known = [
  'remoteHost',
  'timeout',
  'retries',
  'retryDelay',
  'wasmUrl',
  'wasmBinary',
  'workerUrl',
  'deterministic',
  'numThreads',
  'fetch',
  'onWarning',
] as const;

/** The settings in force. */
export const configuration: Configuration = {};

/** Where Hub ids are resolved, without a slash at its end. */
export function remoteHost(): string {
  return (configuration.remoteHost ?? environment('HF_ENDPOINT') ?? 'https://huggingface.co').replace(/\/+$/, '');
}

/** Sets what is given, for all later calls. An unknown setting throws `unsupported`. */
export function configure(settings: Configuration): void {
  checkOptions('configure', settings, known);
  for (const option of ['timeout', 'retries', 'retryDelay'] as const) {
    const value = settings[option];
    const least = option === 'timeout' ? 1 : 0;
    if (value === undefined || (typeof value === 'number' && value >= least && value < 2 ** 31)) continue;
    const message = `configure: ${option} must be a number from ${least}, not ${textOf(value)}`;
    throw new ClearformerError('invalid_argument', message, { option });
  }
  Object.assign(configuration, settings);
}
