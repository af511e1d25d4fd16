// The one error type of the package: a code to branch on, a sentence for people, details for programs.

/** Every cause a call of this package can fail with. The first ten come from the C++ core, the rest from this side. */
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

/** What an error can carry besides its sentence; every field is optional. */
export interface ErrorDetails {
  /** Name of the file concerned, for example `model.safetensors`. */
  file?: string;
  /** Where the file was looked for: a URL, a path, or the kind of source. */
  where?: string;
  /** Name of the tensor concerned. */
  tensor?: string;
  /** Name of the option or argument concerned. */
  option?: string;
  /** HTTP status of the answer. */
  status?: number;
  /** Names that would have been accepted. */
  expected?: readonly string[];
}

/** The error every call of this package throws or rejects with (aborts excepted: those reject with the signal's reason). */
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

/** The sentence of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // "fetch failed" hides the reason in its cause, and a host of several addresses in the first of its errors.
  const [first] = thrown instanceof AggregateError ? thrown.errors : [];
  const cause = thrown instanceof TypeError ? thrown.cause : first;
  return (cause instanceof Error && messageOf(cause)) || thrown.message || thrown.name;
}

/** Any value as a few words for a sentence. */
export function textOf(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return `of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
}
