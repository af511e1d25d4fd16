// The code that makes hook functions in a worker (received_functions.ts), which is a file of its own, hook_functions.js. The
// worker that is part of a script (clearformer/inline) uses functions_part_whole.ts instead of this file.

import { ClearformerError, messageOf } from '../support/error.js';

type Functions = Pick<typeof import('./received_functions.js'), 'received'>;

/**
 * The name under which hook_functions.js leaves its exports in the worker: bundlers that find the file by its URL alone,
 * such as Parcel, take exports that no script imports out of it.
 */
export const functionsName = 'cf_hooks';

export async function functionsPart(url: string | undefined): Promise<Functions> {
  let why = 'another version';
  try {
    await import(/* @vite-ignore */ /* webpackIgnore: true */ url as string);
    const { [functionsName]: found } = globalThis as { [functionsName]?: Functions };
    if (found !== undefined) return found;
  } catch (cause) {
    why = messageOf(cause);
  }
  const cure = "serve clearformer's dist/hook_functions.js there, which script-src must allow, or pass worker: false";
  throw new ClearformerError('unsupported', `hooks: the worker cannot load ${url} (${why}): ${cure}`);
}
