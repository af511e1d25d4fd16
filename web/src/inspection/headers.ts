// The contents of safetensors headers that the core has validated.

import { indexName } from '../checkpoint/files.js';
import type { Problem, StoredTensor } from './inspection.js';

/** A tensor and the end of its data, in bytes from the start of the file. */
export interface PlacedTensor extends StoredTensor {
  end: number;
}

/** The tensors of a file in the order of their data, and the offset of the data; `start` holds the whole header. */
export function placedTensors(file: string, start: Uint8Array): { header: number; tensors: PlacedTensor[] } {
  const header = 8 + Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true));
  const { __metadata__: _, ...entries } = JSON.parse(new TextDecoder().decode(start.subarray(8, header))) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = Object.entries(entries).map(([name, { dtype, shape, data_offsets }]) => ({
    begin: data_offsets[0],
    placed: { name, dtype, shape, file, end: header + data_offsets[1] },
  }));
  tensors.sort((a, b) => a.begin - b.begin || a.placed.end - b.placed.end);
  return { header, tensors: tensors.map(({ placed }) => placed) };
}

/** The tensors of a file; their bytes are added to the totals by dtype. */
export function listed(file: string, start: Uint8Array, bytes: Record<string, number>): StoredTensor[] {
  const { header, tensors } = placedTensors(file, start);
  let begin = header;
  return tensors.map(({ end, ...tensor }) => {
    bytes[tensor.dtype] = (bytes[tensor.dtype] ?? 0) + end - begin;
    begin = end;
    return tensor;
  });
}

/** Differences between an index and the readable files; loading reads the files and uses what they hold. */
export function compareWithIndex(
  index: string,
  tensors: readonly StoredTensor[],
  readable: readonly string[],
): Problem[] {
  const { weight_map } = JSON.parse(index) as { weight_map?: unknown };
  if (typeof weight_map !== 'object' || weight_map === null) return []; // reported by its reader
  const named = new Map<string, unknown>(Object.entries(weight_map));
  const stored = new Set(tensors.map(({ name, file }) => `${file}/${name}`)); // a tensor may be in several files
  const warning = (what: string): Problem => ({
    code: 'malformed_file',
    severity: 'warning',
    message: `${indexName}${what}`,
    file: indexName,
  });
  return [
    ...[...named]
      .filter(([name, file]) => readable.includes(file as string) && !stored.has(`${file}/${name}`))
      .map(([name, file]) => warning(`: tensor "${name}" is not in ${file}`)),
    ...tensors
      .filter(({ name, file }) => named.get(name) !== file && !readable.includes(named.get(name) as string))
      .map(({ name, file }) => warning(` lacks tensor "${name}" of ${file}`)),
  ];
}
