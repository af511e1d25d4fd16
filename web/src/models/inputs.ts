// What a model is given, checked and brought into the form the core reads.

import type { RunInputs, TensorIn } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { type IntegerInput, integerMatrix } from '../tensor/integer_input.js';
import type { KeyValueCache } from './key_value_cache.js';

/** Inputs of a generation. Everything has dims [batch, position]; a single row may be given flat. */
export interface PromptInputs {
  input_ids: IntegerInput;
  /** 1 where a token is, 0 where padding is. Default: tokens everywhere. */
  attention_mask?: IntegerInput | undefined;
}

/** Inputs of a forward pass. */
export interface ModelInputs extends PromptInputs {
  /** Default: counted from the mask, so that padding on the left does not shift positions. */
  position_ids?: IntegerInput | undefined;
  /** Keys and values of what was read before; the call extends them in place. */
  past_key_values?: KeyValueCache | undefined;
}

/** The inputs of a generation for the core. Throws `unsupported` for an input nobody reads. */
export function promptIn(call: string, inputs: PromptInputs): RunInputs {
  checkOptions(call, inputs, ['input_ids', 'attention_mask']);
  if (inputs?.input_ids === undefined) {
    throw new ClearformerError('invalid_argument', `${call}: input_ids are missing`, { option: 'input_ids' });
  }
  const { input_ids, attention_mask } = inputs;
  return {
    input_ids: integerMatrix('input_ids', input_ids),
    ...(attention_mask !== undefined && { attention_mask: integerMatrix('attention_mask', attention_mask) }),
  };
}

/** The rows of a [batch, position] tensor as numbers. */
export function rowsOf({ data, dims }: TensorIn): number[][] {
  const [batch = 0, length = 0] = dims;
  const all = Array.from(data as ArrayLike<number | bigint>, Number);
  return Array.from({ length: batch }, (_, row) => all.slice(row * length, (row + 1) * length));
}
