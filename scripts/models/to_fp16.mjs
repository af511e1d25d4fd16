// node scripts/models/to_fp16.mjs <from.safetensors> <to.safetensors>
// Halves a checkpoint: every float32 tensor is rounded to the nearest float16, others stay as they are. This is how the bundled
// marian-tiny-en-fr was made from what its training saved. Throws RangeError for a number that float16 cannot hold.
import { halvesOf } from './half.mjs';
import { readSafetensors } from './read_safetensors.mjs';
import { writeSafetensors } from './safetensors.mjs';

const kInfinity = 0x7c00;

function halved({ name, dtype, shape, bytes }) {
  if (dtype !== 'F32') return { name, dtype, shape, bytes };
  const halves = halvesOf(bytes);
  for (let i = 0; i < halves.length; i += 2) {
    if ((halves.readUInt16LE(i) & kInfinity) === kInfinity) throw new RangeError(`${name} does not fit into float16`);
  }
  return { name, dtype: 'F16', shape, bytes: halves };
}

const [from, to] = process.argv.slice(2);
if (to === undefined) throw new Error('usage: node scripts/models/to_fp16.mjs <from.safetensors> <to.safetensors>');
const { tensors, metadata } = readSafetensors(from);
writeSafetensors(to, tensors.map(halved), metadata);
