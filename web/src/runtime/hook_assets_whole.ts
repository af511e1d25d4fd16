// The code that makes hook functions in a worker, for the single-script build, whose own worker contains it: undefined.

import { configuration } from '../support/config.js';
import { urlOf } from '../support/platform.js';
import { onDisk } from './assets_whole.js';

export async function hookFunctionsUrl(): Promise<URL | undefined> {
  const { workerUrl } = configuration;
  if (workerUrl === undefined) return onDisk('hook_functions.js');
  const beside = urlOf('workerUrl', workerUrl).href.replace(/[^/]*([?#].*)?$/, 'hook_functions.js');
  return new URL(beside);
}
