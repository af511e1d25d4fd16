// The header of a safetensors file. Without Node's modules, since a page uses it as well.

/** A header's entry for a tensor; `__metadata__` is a separate entry. */
export interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

export type Metadata = Record<string, string>;

interface Described {
  name: string;
  dtype: string;
  shape: number[];
  bytes: Uint8Array;
}

/**
 * The header for `tensors`, which follow it in the given order without gaps: 8 bytes with its length, then JSON, padded
 * with spaces to a multiple of 8.
 */
export function safetensorsHeader(
  tensors: readonly Described[],
  metadata: Metadata = { format: 'pt' },
): Uint8Array<ArrayBuffer> {
  const entries: Record<string, HeaderEntry | Metadata> = { __metadata__: metadata };
  let end = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    entries[name] = { dtype, shape, data_offsets: [end, end + bytes.byteLength] };
    end += bytes.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(entries));
  const padded = Math.ceil(text.byteLength / 8) * 8;
  const header = new Uint8Array(8 + padded).fill(' '.charCodeAt(0));
  new DataView(header.buffer).setBigUint64(0, BigInt(padded), true);
  header.set(text, 8);
  return header;
}
