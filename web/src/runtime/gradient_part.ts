// The second file of a build, with gradients and training (scripts/build/split.ts). Loaded with the first call that
// needs it.

import { configuration } from '../support/config.js';
import { ClearformerError } from '../support/error.js';
import { baseUrl } from '../support/platform.js';
import { buildOf, type SecondPart } from './parts.js';
import {
  bytesOf,
  type CompiledCore,
  compile,
  fileOf,
  givenBinary,
  nameOf,
  type RuntimeOptions,
  read,
  remember,
  type WasmFile,
} from './wasm.js';

const parts = new WeakMap<CompiledCore, Promise<SecondPart>>();

/** The second file of `first`, which these options selected; compiled once for all models. A failure is not cached. */
export function compileGradients(options: RuntimeOptions, first: CompiledCore): Promise<SecondPart> {
  return remember(parts, first, async () => {
    const given = options.wasmGradients ?? configuration.wasmGradients;
    const passed = typeof given === 'object' && !(given instanceof URL);
    const file = passed ? Promise.resolve(bytesOf(given)) : placeOf(options, given);
    const where = passed ? 'wasmGradients' : nameOf(file);
    const bytes = await read(file);
    const { module } = await compile(bytes, where, first.shared);
    if (buildOf(module) === buildOf(first.module)) return { module, bytes };
    throw new ClearformerError('wasm_unavailable', `${where} is of another build than the first .wasm file`, { where });
  });
}

function placeOf(options: RuntimeOptions, given: string | URL | undefined): WasmFile {
  if (given !== undefined) return new URL(given, baseUrl());
  if (givenBinary(options) === undefined) return fileOf(options, '-gradients');
  const why = 'gradients and training are in a second file, clearformer-…-gradients.wasm: pass it as wasmGradients';
  throw new ClearformerError('wasm_unavailable', why, { option: 'wasmGradients' });
}
