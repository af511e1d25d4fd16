// The only error type of the package: a code for programs, a message for people, and details.

import { kindOf } from './kinds.js';

/** Every cause of failure in this package. Those from `internal` on come from TypeScript alone. */
export type ErrorCode =
  | 'invalid_argument'
  | 'shape_mismatch'
  | 'dtype_mismatch'
  | 'out_of_memory'
  | 'malformed_file'
  | 'malformed_config'
  | 'missing_tensor'
  | 'unsupported'
  | 'disposed'
  | 'internal'
  | 'file_not_found'
  | 'network_error'
  | 'integrity_mismatch'
  | 'wasm_unavailable'
  | 'poisoned'
  | 'worker_failed';

/** The details of an error; every field is optional. */
export interface ErrorDetails {
  /** Name of the file concerned, for example `model.safetensors`. */
  file?: string;
  /** Where the file was looked up: a URL, a path, or the kind of source. */
  where?: string;
  /** Name of the tensor concerned. */
  tensor?: string;
  /** Name of the option or argument concerned. */
  option?: string;
  /** HTTP status of the response. */
  status?: number;
  /** Names that are accepted. */
  expected?: readonly string[];
}

/**
 * The error that calls of this package throw or reject with (except for aborts, which reject with the signal's reason).
 */
export class ClearformerError extends Error {
  override readonly name: string = 'ClearformerError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** The error for a file that exists, or a setting of the system, and could not be read. */
export function unreadable(
  what: string,
  details: ErrorDetails,
  cause: unknown,
  code: ErrorCode = 'file_not_found',
): ClearformerError {
  return new ClearformerError(code, `${what} could not be read (${messageOf(cause)})`, details, cause);
}

/**
 * What `read` makes of something that was given. Throws `invalid_argument` if it cannot be read: for lists that contain
 * themselves, proxies that were revoked and typed arrays whose buffer was transferred the engine has errors of its own.
 */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof ClearformerError ? thrown : unreadable(what, {}, thrown, 'invalid_argument');
  }
}

/** Whether an error says that a file does not exist; that of one that could not be read has a cause. */
export function isMissing(thrown: unknown): thrown is ClearformerError {
  return thrown instanceof ClearformerError && thrown.code === 'file_not_found' && thrown.cause === undefined;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    try {
      return String(thrown);
    } catch {
      return textOf(thrown); // an object that gives no string
    }
  }
  // "fetch failed" has its reason in its cause, or for hosts with several addresses in the first of its errors.
  const [first] = thrown instanceof AggregateError ? thrown.errors : [];
  const cause = thrown instanceof TypeError ? thrown.cause : first;
  return (cause instanceof Error && messageOf(cause)) || thrown.message || thrown.name;
}

/** Any value as short text for a message. */
export function textOf(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object of type ${kindOf(value)}`;
}

/** Any value as short text for a message, a text in quotes. */
export const quoted = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : textOf(value));
