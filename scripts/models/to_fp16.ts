// node scripts/run.mjs models/to_fp16 <from.safetensors> <to.safetensors>
// Converts a checkpoint to fp16: every float32 tensor is rounded to the nearest float16, others are unchanged. The
// bundled models were made this way from the training output. Throws RangeError for a number that float16 cannot
// represent.

import { type Command, reportErrors } from '../main.js';
import { SetupError } from '../toolchain/progress.js';
import { halvesOf } from './half.js';
import { readSafetensors } from './read_safetensors.js';
import { type StoredTensor, writeSafetensors } from './safetensors.js';

const infinity = 0x7c00;

function halved(tensor: StoredTensor): StoredTensor {
  if (tensor.dtype !== 'F32') return tensor;
  const bytes = halvesOf(tensor.bytes);
  for (let i = 0; i < bytes.length; i += 2) {
    if ((bytes.readUInt16LE(i) & infinity) === infinity)
      throw new RangeError(`${tensor.name} does not fit into float16`);
  }
  return { ...tensor, dtype: 'F16', bytes };
}

export const command: Command = ([from, to]) =>
  reportErrors(async () => {
    if (from === undefined || to === undefined) {
      throw new SetupError('usage: node scripts/run.mjs models/to_fp16 <from.safetensors> <to.safetensors>');
    }
    const { tensors, metadata } = readSafetensors(from);
    writeSafetensors(to, tensors.map(halved), metadata);
  });
