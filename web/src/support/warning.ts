// Warnings: conditions that the caller should know about but that do not stop the call.

import { type ClearformerWarning, configuration } from './config.js';

/** Passes a warning to `onWarning`, or to the console. */
export function warn(warning: ClearformerWarning): void {
  if (configuration.onWarning) configuration.onWarning(warning);
  else console.warn(warning.message);
}
