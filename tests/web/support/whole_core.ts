// An instance of the core with all parts of its build, for tests that call its functions themselves.

import { Core } from '../../../web/src/runtime/core.js';
import { compilePart } from '../../../web/src/runtime/core_parts.js';
import { partNames } from '../../../web/src/runtime/needed_parts.js';
import type { CompiledCore } from '../../../web/src/runtime/wasm.js';

export async function startWhole(first: CompiledCore): Promise<Core> {
  const core = await Core.start(first);
  for (const part of partNames) await core.add((await compilePart(part, first)).module);
  return core;
}
