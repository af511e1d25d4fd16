// The parts of a build (scripts/build/split.ts; needed_parts.ts says what is in them): the same for every build, each as
// text in a module of its own, which every bundler finds. Loaded with the first call that needs it; inline.js includes
// them.

import { ClearformerError, messageOf } from '../support/error.js';
import { loadPart } from '../support/platform.js';
import { bytesIn, type EmbeddedFile } from './embedded.js';
import type { PartName } from './needed_parts.js';
import { buildOf, type CorePart } from './parts.js';
import { type CompiledCore, compile, remember } from './wasm.js';

const files: Record<PartName, () => Promise<EmbeddedFile>> = {
  second: () => import('built:second'),
  hooks: () => import('built:hooks'),
  families: () => import('built:families'),
};

let included: Partial<Record<PartName, EmbeddedFile>> = {};
const compiled: Record<PartName, WeakMap<CompiledCore, Promise<CorePart>>> = {
  second: new WeakMap(),
  hooks: new WeakMap(),
  families: new WeakMap(),
};

/** Sets the parts; without it they are loaded when needed. */
export function useCoreParts(given: Record<PartName, EmbeddedFile>): void {
  included = given;
}

/** A part for `first`; compiled once for all models. A failure is not cached. */
export function compilePart(name: PartName, first: CompiledCore): Promise<CorePart> {
  return remember(compiled[name], first, async () => {
    const file = included[name] ?? (await loadPart(files[name]).catch((cause: unknown) => refuse(name, cause)));
    const bytes = bytesIn(file);
    const { module } = await compile(bytes, `${name}.js`, first.shared);
    if (buildOf(module) === buildOf(first.module)) return { name, module, bytes };
    const why = `${name}.js is of another version than ${first.where}`;
    throw new ClearformerError('wasm_unavailable', why, { where: first.where });
  });
}

function refuse(name: PartName, cause: unknown): never {
  if (cause instanceof ClearformerError) throw cause;
  const why = `${name}.js could not be loaded (${messageOf(cause)}): copy ${name}.js beside this script`;
  throw new ClearformerError('wasm_unavailable', why, {}, cause);
}
