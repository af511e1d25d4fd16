// The code that makes hook functions in a worker (received_functions.ts), which is a file of its own, hook_functions.js. The
// worker that is part of a script (clearformer/inline) uses functions_part_whole.ts instead of this file.

import { ClearformerError, messageOf } from '../support/error.js';

export async function functionsPart(url: string | undefined): Promise<typeof import('./received_functions.js')> {
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ url as string);
  } catch (cause) {
    const cure = "serve clearformer's dist/hook_functions.js there, which script-src must allow, or pass worker: false";
    throw new ClearformerError('unsupported', `hooks: the worker cannot load ${url} (${messageOf(cause)}): ${cure}`);
  }
}
