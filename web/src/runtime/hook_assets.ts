// The URL of the code that makes hook functions in a worker: a file of its own, since few pages send functions to one.
// The single-script build uses hook_assets_whole.ts instead of this file.

import { urlOf } from '../support/platform.js';
import { settled } from './assets.js';

export async function hookFunctionsUrl(): Promise<URL | undefined> {
  try {
    return settled(new URL('./hook_functions.js', import.meta.url));
  } catch {
    return urlOf('hook_functions.js', './hook_functions.js'); // beside the page, like worker.js, for a script of no module
  }
}
