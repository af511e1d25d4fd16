// Loading options of transformers.js: those with an equivalent here are translated, others rejected with an alternative.

import { ClearformerError, quoted } from './error.js';

type Options = Readonly<Record<string, unknown>>;

const onProcessor =
  'this library computes on the processor, with WebAssembly SIMD and threads (numThreads): leave it out';
const inSource = 'name the folder in the source, as a URL or path';

/** Why an option is unsupported, and the alternative. */
const cures: Readonly<Record<string, string>> = {
  device: onProcessor,
  session_options: 'there is no ONNX session: leave it out (threads: numThreads)',
  use_external_data_format: 'safetensors files name their own parts: leave it out',
  model_file_name: 'it is model.safetensors, or what model.safetensors.index.json names: leave it out',
  subfolder: inSource,
  config: 'pass the files themselves as the source, config.json among them',
  quantized: "use dtype: 'q8' (or 'q4', 'fp16')",
};

/** Values that describe what happens anyway. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  device: ['wasm', 'cpu', 'auto'],
  use_external_data_format: [false],
  model_file_name: ['model'],
  subfolder: ['', '.'],
  dtype: ['auto'],
};

/** Formats of ONNX exports, and the corresponding dtypes. */
const roundings: Readonly<Record<string, string>> = {
  int8: 'q8',
  uint8: 'q8',
  bnb4: 'q4',
  q4f16: 'q4',
  q2: 'q4',
  q2f16: 'q4',
  q1: 'q4',
  q1f16: 'q4',
};

/**
 * The options, which `thrown` refuses, with those of transformers.js translated. Throws `unsupported` with the
 * alternative, and what is thrown if there are none of transformers.js.
 */
export function translated(call: string, given: unknown, thrown: unknown): Options {
  if (typeof given !== 'object' || given === null) throw thrown;
  const known = thrown instanceof ClearformerError ? thrown.details.expected : undefined;
  const own: Record<string, unknown> = { ...given };
  let found = false;
  for (const [option, value] of Object.entries(own)) {
    const isForeign = Object.hasOwn(cures, option) || (option === 'dtype' && isOtherDtype(value));
    if (!isForeign) continue;
    found = true;
    delete own[option];
    if (value === undefined || usual[option]?.includes(value)) continue;
    if (option === 'quantized' && typeof value === 'boolean') {
      if (known?.includes('dtype') !== false) own.dtype ??= value ? 'q8' : 'fp32'; // else nothing is rounded
    } else throw refused(call, option, value);
  }
  if (!found) throw thrown;
  return own;
}

function isOtherDtype(value: unknown): boolean {
  return value === 'auto' || typeof value === 'object' || Object.hasOwn(roundings, String(value));
}

function refused(call: string, option: string, value: unknown): ClearformerError {
  const rounding =
    typeof value === 'object' ? "one of 'fp32', 'fp16', 'q8', 'q4' for all files" : roundings[String(value)];
  const cure =
    option === 'dtype' ? `use ${typeof value === 'object' ? rounding : `dtype: '${rounding}'`}` : cures[option];
  const what = `${option}: ${quoted(value)}`;
  return new ClearformerError('unsupported', `${call}: ${what} is not supported: ${cure}`, { option });
}
