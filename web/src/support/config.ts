// Settings for the whole package: where models and the package's own files come from.

import { checkOptions } from './options.js';

/**
 * What a warning is about. `right_padding`: a prompt without attention_mask ends with the padding token, which is masked.
 * `ambiguous_padding`: a prompt without attention_mask holds a token that is both padding and end; it is read as text.
 */
export type WarningCode = 'right_padding' | 'ambiguous_padding';

/** A warning, as `configure({ onWarning })` hears it. */
export interface ClearformerWarning {
  code: WarningCode;
  message: string;
}

/** What `configure` sets. A setting that is absent keeps its value, one that is undefined goes back to the default. */
export interface Configuration {
  /** Host that Hub ids are resolved against (default `https://huggingface.co`). */
  remoteHost?: string | undefined;
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
  return (configuration.remoteHost ?? 'https://huggingface.co').replace(/\/+$/, '');
}

/** Sets what is given, for all later calls. An unknown setting throws `unsupported`. */
export function configure(settings: Configuration): void {
  checkOptions('configure', settings, known);
  Object.assign(configuration, settings);
}
