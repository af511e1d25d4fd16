// The second file of a build (scripts/build/split.ts; first_calls.ts says what is in it): the same for every build, as text
// in a module of its own, which every bundler finds. Loaded with the first call that needs it; inline.js includes it.

import { ClearformerError, messageOf } from '../support/error.js';
import { loadPart } from '../support/platform.js';
import { bytesIn, type EmbeddedFile } from './embedded.js';
import { buildOf, type SecondPart } from './parts.js';
import { type CompiledCore, compile, remember } from './wasm.js';

let included: EmbeddedFile | undefined;
const parts = new WeakMap<CompiledCore, Promise<SecondPart>>();

/** Sets the second file; without it that is loaded when needed. */
export function useSecond(given: EmbeddedFile): void {
  included = given;
}

/** The second file for `first`; compiled once for all models. A failure is not cached. */
export function compileSecond(first: CompiledCore): Promise<SecondPart> {
  return remember(parts, first, async () => {
    const bytes = bytesIn(included ?? (await loadPart(() => import('built:second')).catch(refuse)));
    const { module } = await compile(bytes, 'second.js', first.shared);
    if (buildOf(module) === buildOf(first.module)) return { module, bytes };
    const why = `second.js is of another version than ${first.where}`;
    throw new ClearformerError('wasm_unavailable', why, { where: first.where });
  });
}

function refuse(cause: unknown): never {
  if (cause instanceof ClearformerError) throw cause;
  const why = `second.js could not be loaded (${messageOf(cause)}): copy second.js beside this script`;
  throw new ClearformerError('wasm_unavailable', why, {}, cause);
}
