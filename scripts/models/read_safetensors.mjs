// Reads safetensors: 8 bytes with the header's length, the header (JSON), then the tensors' bytes.
import { readFileSync } from 'node:fs';

/** The tensors of a file, [{ name, dtype, shape, bytes }], and its metadata. */
export function readSafetensors(path) {
  const file = readFileSync(path);
  const start = 8 + Number(file.readBigUInt64LE(0));
  const { __metadata__: metadata, ...header } = JSON.parse(file.subarray(8, start).toString());
  const tensors = Object.entries(header).map(([name, { dtype, shape, data_offsets }]) => {
    const [from, to] = data_offsets;
    return { name, dtype, shape, bytes: file.subarray(start + from, start + to) };
  });
  return { tensors, metadata };
}
