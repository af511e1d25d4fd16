// The code that makes hook functions in a worker, for the single-script build: from the installed package, or as text.

import { onDisk, scriptOf } from './assets_whole.js';

let url: URL | undefined;

export async function hookFunctionsUrl(): Promise<URL> {
  url ??= onDisk('hook_functions.js') ?? scriptOf((await import('built:hook_functions')).script);
  return url;
}
