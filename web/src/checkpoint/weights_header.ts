// The header of a safetensors file, which says how long the file is. Loaded where the source does not say that, and where
// headers are inspected.

import { ClearformerError, messageOf } from '../support/error.js';
import type { SourceFile } from './folder.js';

/**
 * The size of a safetensors file in bytes, from the source or, if the server does not give it, from the file's own
 * header: 8 bytes of length, the header, and the end of the last tensor.
 */
export async function exactSize(file: SourceFile, signal?: AbortSignal): Promise<number> {
  return file.size ?? sizeFrom(file, await headerStart(file, signal));
}

/** The same from the first bytes returned by `headerStart`. */
export function sizeFrom(file: SourceFile, start: Uint8Array): number {
  if (file.size !== null) return file.size;
  const header = headerBytes(start);
  if (header !== undefined && start.byteLength >= header) return header + dataBytes(file, start.subarray(8, header));
  return start.byteLength; // shorter than its header says: the core reports the violated rule
}

const usualHeaderBytes = 1 << 16;

/** A safetensors file's first bytes: up to the end of its header, or what is there of an invalid one. */
export async function headerStart(file: SourceFile, signal?: AbortSignal): Promise<Uint8Array> {
  const start = await firstBytes(file, usualHeaderBytes, signal);
  const header = headerBytes(start) ?? 0;
  return header <= start.byteLength ? start : firstBytes(file, header, signal);
}

async function firstBytes(file: SourceFile, count: number, signal?: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.chunks(signal, count)) {
    chunks.push(chunk.slice(0, count - length));
    length += chunk.byteLength;
    if (length >= count) break;
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

const maxHeaderBytes = 100_000_000; // the format's own limit

function headerBytes(start: Uint8Array): number | undefined {
  if (start.byteLength < 8) return undefined;
  const length = new DataView(start.buffer).getBigUint64(0, true);
  return length > BigInt(maxHeaderBytes) ? 8 : 8 + Number(length);
}

function dataBytes(file: SourceFile, header: Uint8Array): number {
  try {
    const tensors = Object.values(
      JSON.parse(new TextDecoder().decode(header)) as Record<string, { data_offsets?: [number, number] }>,
    );
    return Math.max(0, ...tensors.map((tensor) => tensor.data_offsets?.[1] ?? 0));
  } catch (cause) {
    throw new ClearformerError(
      'malformed_file',
      `${file.name}: the header is not JSON (${messageOf(cause)})`,
      { file: file.name, where: file.where },
      cause,
    );
  }
}
