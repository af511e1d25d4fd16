// Settings of the whole package: where models and the package's own files come from.

import { ClearformerError, textOf } from './error.js';
import { checkOptions, refusedOption } from './options.js';
import { environment } from './platform.js';

/**
 * The subject of a warning. `right_padding`: a prompt without attention_mask ends with the padding token, which is
 * masked. `ambiguous_padding`: a prompt without attention_mask contains a token that is both padding and end; it is
 * attended to. `no_fallback`: a Whisper whose generation_config.json requests temperature fallback, which is not
 * implemented. `ignored_length`: max_length was given where max_new_tokens is set, which comes first.
 * `no_entailment`: a zero-shot classifier none of whose labels is named entailment.
 * `not_kept`: a download could not be cached (no space, no permission). `damaged_cache`: a cached file had changed and
 * was downloaded again. `stale_cache`: the server could not be reached, so the cached file is used. `other_checksum`: a
 * small file differs from the server's etag, twice. `mixed_commits`: the branch moved during the load, whose files are of
 * two commits. `unread_matrices`: an adapter also has matrices of a part of the checkpoint that is not read.
 */
export type WarningCode =
  | 'right_padding'
  | 'ambiguous_padding'
  | 'ignored_length'
  | 'no_entailment'
  | 'no_fallback'
  | 'not_kept'
  | 'damaged_cache'
  | 'stale_cache'
  | 'other_checksum'
  | 'mixed_commits'
  | 'unread_matrices';

/** A warning, as passed to `configure({ onWarning })`. */
export interface ClearformerWarning {
  code: WarningCode;
  message: string;
}

/** The settings of `configure`. An absent setting keeps its value, an undefined one is reset to its default. */
export interface Configuration {
  /** Host that Hub ids are resolved against (default `https://huggingface.co`, or with Node `HF_ENDPOINT`). */
  remoteHost?: string | undefined;
  /**
   * Timeout in milliseconds without data, after which a request is retried or a worker's script is given up (default
   * 30,000).
   */
  timeout?: number | undefined;
  /** Maximum consecutive retries after 408, 429, 5xx, a broken connection or a timeout (default 4). */
  retries?: number | undefined;
  /** Milliseconds before the first retry, doubled each time (default 500), unless Retry-After gives a time. */
  retryDelay?: number | undefined;
  /** URL of the .wasm file, or (ending with a slash) of the folder with all builds. */
  wasmUrl?: string | URL | undefined;
  /** The bytes of the .wasm file, if it has no URL. */
  wasmBinary?: ArrayBuffer | Uint8Array | undefined;
  /** URL of worker.js, for bundlers and servers that move it; clearformer/inline has hook_functions.js beside it. */
  workerUrl?: string | URL | undefined;
  /**
   * Never use relaxed SIMD, for the same bits on every engine: for functions and modules, and the default for models.
   */
  deterministic?: boolean | undefined;
  /** Threads of functions and modules (default: 1), and the default for models (see LoadOptions). */
  numThreads?: number | 'auto' | undefined;
  /** Used instead of the global `fetch` for model files, for example to add an Authorization header. */
  fetch?: typeof fetch | undefined;
  /** Called with each warning. Default: `console.warn` with its message. */
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

/** The current settings. */
export const configuration: Configuration = {};

/**
 * The host of Hub ids, without a trailing slash: the given one, or the configured one. Throws `invalid_argument` if that is
 * no http(s) URL.
 */
export function remoteHost(given?: string): string {
  const set = { remote_host: given, remoteHost: configuration.remoteHost, HF_ENDPOINT: environment('HF_ENDPOINT') };
  for (const [option, host] of Object.entries(set)) {
    if (host === undefined) continue;
    expectHost(option, host);
    return host.replace(/\/+$/, '');
  }
  return 'https://huggingface.co';
}

/** Whether a header can hold it as a token. */
export function isToken(token: unknown): boolean {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}

function expectHost(option: string, host: string): void {
  if (typeof host === 'string' && /^https?:\/\/[^/]/.test(host)) return;
  throw new ClearformerError('invalid_argument', `${option}: must be an http(s) URL, not ${textOf(host)}`, { option });
}

/** Requests with the configured `fetch`, or the global one. Throws `invalid_argument` for an answer that is no Response. */
export async function send(href: string, init?: RequestInit): Promise<Response> {
  const answer = await (configuration.fetch ?? fetch)(href, init);
  if (typeof answer?.headers?.get === 'function') return answer;
  throw refusedOption('configure', 'fetch', `must give a Response, not ${textOf(answer)}`);
}

/** Changes the given settings for all later calls. An unknown setting throws `unsupported`. */
export function configure(settings: Configuration): void {
  checkOptions('configure', settings ?? null, known);
  for (const option of ['timeout', 'retries', 'retryDelay'] as const) {
    const value = settings[option];
    const least = option === 'timeout' ? 1 : 0;
    if (value === undefined || (typeof value === 'number' && value >= least && value < 2 ** 31)) continue;
    throw refusedOption('configure', option, `must be a number from ${least}, not ${textOf(value)}`);
  }
  if (settings.remoteHost !== undefined) expectHost('remoteHost', settings.remoteHost);
  Object.assign(configuration, settings);
}
