// The header of a safetensors file, which says how long the file is. Loaded where the source does not say that, and where
// headers are inspected.

import type { SourceFile } from './folder.js';

/**
 * The size of a safetensors file in bytes, from the source or, if the server does not give it, from the file's own
 * header: 8 bytes of length, the header, and the end of the last tensor.
 */
export async function exactSize(file: SourceFile, signal?: AbortSignal): Promise<number> {
  return file.size ?? sizeFrom(file, await headerStart(file, signal));
}

/** The same from the bytes returned by `headerStart`; their number where the core reports a violated rule. */
export function sizeFrom(file: SourceFile, start: Uint8Array): number {
  if (file.size !== null) return file.size;
  const header = headerBytes(start) ?? Number.POSITIVE_INFINITY;
  const data = start.byteLength < header ? undefined : dataBytes(start.subarray(8, header));
  return data === undefined ? start.byteLength : header + data;
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

/** The end of the header; undefined for a file that is none of the format. */
function headerBytes(start: Uint8Array): number | undefined {
  if (start.byteLength < 8) return undefined;
  const length = new DataView(start.buffer).getBigUint64(0, true);
  return length > BigInt(maxHeaderBytes) ? undefined : 8 + Number(length);
}

/** The end of the last tensor; undefined if the header is no JSON object. */
function dataBytes(header: Uint8Array): number | undefined {
  try {
    const tensors: { data_offsets?: unknown[] | null }[] = Object.values(JSON.parse(new TextDecoder().decode(header)));
    const ends = tensors.map((tensor) => tensor?.data_offsets?.[1]);
    return ends.reduce<number>((end, next) => (Number.isSafeInteger(next) ? Math.max(end, next as number) : end), 0);
  } catch {
    return undefined;
  }
}
