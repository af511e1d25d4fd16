// An error as the page shows it: its kind in words, and the message of whoever threw it, unchanged.

import { ClearformerError } from 'clearformer';

export interface ErrorText {
  title: string;
  /** What the reader can do about it; empty where there is nothing to say. */
  advice: string;
  message: string;
  /** The typed code, for whoever looks it up; empty for errors that have none. */
  code: string;
}

const titles: Record<ClearformerError['code'], string> = {
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

const advice: Partial<Record<ClearformerError['code'], string>> = {
  unsupported: 'Take another model, or another form of this one; nothing is wrong with your files.',
  file_not_found: 'Add the file: choose the whole folder as it is on the Hub, or check the name.',
  network_error: 'Check the connection and the name, then try again.',
  malformed_file: 'Download the file again; it may have been cut off, or be a pointer of Git LFS.',
  malformed_config: 'Take the file as it is on the Hub.',
  missing_tensor: 'The weights belong to another model than config.json, or a shard is missing.',
  shape_mismatch: 'The weights belong to another model than config.json.',
  dtype_mismatch: 'Take the weights as float32, float16 or bfloat16.',
  integrity_mismatch: 'Download the file again.',
  out_of_memory: 'Close other tabs, give less at once, or take a smaller model.',
  wasm_unavailable: 'Allow WebAssembly for this page, or use a newer browser.',
  poisoned: 'Load the model again.',
  worker_failed: 'Load the model again.',
};

export function errorText(error: unknown): ErrorText {
  if (error instanceof ClearformerError) {
    const { code, message } = error;
    return { title: titles[code], message, code, advice: advice[code] ?? '' };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { title: 'It did not work', message, code: '', advice: '' };
}
