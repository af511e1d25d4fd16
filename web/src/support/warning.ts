// Warnings: conditions that the caller should know about but that do not stop the call.

import { type ClearformerWarning, configuration } from './config.js';

/** Passes a warning to `onWarning`, or to the console. */
export function warn(warning: ClearformerWarning): void {
  const { onWarning = ({ message }) => console.warn(message) } = configuration;
  onWarning(warning);
}
