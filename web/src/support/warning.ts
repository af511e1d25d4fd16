// Warnings: what a caller should know although the call goes on.

import { type ClearformerWarning, configuration } from './config.js';

/** Hands a warning to `onWarning`, or else to the console. */
export function warn(warning: ClearformerWarning): void {
  const { onWarning = ({ message }) => console.warn(message) } = configuration;
  onWarning(warning);
}
