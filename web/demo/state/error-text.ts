// An error as the page shows it: its kind in words, and the message of whoever threw it, unchanged.
import { ClearformerError } from 'clearformer';

export interface ErrorText {
  title: string;
  message: string;
  /** The typed code, for whoever looks it up; empty for errors that have none. */
  code: string;
}

const kTitles: Record<ClearformerError['code'], string> = {
  invalid_argument: 'A setting is not valid',
  shape_mismatch: 'A shape does not fit',
  dtype_mismatch: 'A data type does not fit',
  out_of_memory: 'There is not enough memory',
  malformed_file: 'The weights file is not well formed',
  malformed_config: 'A configuration file is not well formed',
  missing_tensor: 'A tensor is missing',
  unsupported: 'This is not supported',
  disposed: 'The model was let go',
  internal: 'The library failed',
  file_not_found: 'A file was not found',
  network_error: 'It could not be fetched',
  integrity_mismatch: 'A file is not the one expected',
  wasm_unavailable: 'WebAssembly could not start',
  poisoned: 'The model has stopped',
  worker_failed: 'The worker has stopped',
};

export function errorText(error: unknown): ErrorText {
  if (error instanceof ClearformerError) {
    return { title: kTitles[error.code], message: error.message, code: error.code };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { title: 'It did not work', message, code: '' };
}
