// The second file of a build (scripts/build/split.ts; gradient_calls.ts says what is in it): the same for every build, as text
// in a module of its own, which every bundler finds. Loaded with the first call that needs it.

import { ClearformerError, messageOf } from '../support/error.js';
import { loadPart } from '../support/platform.js';
import { bytesIn } from './embedded.js';
import { buildOf, type SecondPart } from './parts.js';
import { type CompiledCore, compile, remember } from './wasm.js';

const parts = new WeakMap<CompiledCore, Promise<SecondPart>>();

/** The second file for `first`; compiled once for all models. A failure is not cached. */
export function compileGradients(first: CompiledCore): Promise<SecondPart> {
  return remember(parts, first, async () => {
    const bytes = bytesIn(await loadPart(() => import('built:gradients')).catch(refuse));
    const { module } = await compile(bytes, 'gradients.js', first.shared);
    if (buildOf(module) === buildOf(first.module)) return { module, bytes };
    const why = `${first.where} is of another version than this script, whose gradients.js does not fit it`;
    throw new ClearformerError('wasm_unavailable', why, { where: first.where });
  });
}

function refuse(cause: unknown): never {
  if (cause instanceof ClearformerError) throw cause;
  const why = `the second file of the WASM could not be loaded (${messageOf(cause)}): copy gradients.js beside this script`;
  throw new ClearformerError('wasm_unavailable', why, {}, cause);
}
