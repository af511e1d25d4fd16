// Warnings: what a caller should know although the call goes on.

import { configuration } from './config.js';

/**
 * What a warning is about. `right_padding`: a prompt without attention_mask ends with the padding token, which is masked.
 * `ambiguous_padding`: a prompt without attention_mask holds a token that is both padding and end; it is read as text.
 */
export type WarningCode = 'right_padding' | 'ambiguous_padding';

/** A warning, as `configure({ onWarning })` hears it. */
export interface ClearformerWarning {
  code: WarningCode;
  message: string;
}

/** Hands a warning to `onWarning`, or else to the console. */
export function warn(warning: ClearformerWarning): void {
  const { onWarning = ({ message }) => console.warn(message) } = configuration;
  onWarning(warning);
}
