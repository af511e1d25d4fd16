// Reads the float32 vectors of a safetensors file, with every bound checked.

import { ClearformerError } from '../../support/error.js';

/** The vectors of a file, and the strings stored with them. */
export interface VectorFile {
  metadata: Readonly<Record<string, string>>;
  vectors: Map<string, Float32Array<ArrayBuffer>>;
}

const malformed = (why: string, cause?: unknown) =>
  new ClearformerError('malformed_file', `safetensors: ${why}`, {}, cause);

/** Throws `malformed_file`, or `unsupported` for tensors that are no float32 vectors. */
export function readVectors(bytes: Uint8Array): VectorFile {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length < 8 ? 0n : view.getBigUint64(0, true);
  if (length === 0n || length > BigInt(bytes.length - 8)) throw malformed(`no header fits into ${bytes.length} bytes`);
  const start = 8 + Number(length);
  const { __metadata__: metadata = {}, ...tensors } = headerOf(bytes.subarray(8, start));
  const vectors: VectorFile['vectors'] = new Map();
  for (const [name, entry] of Object.entries(tensors)) {
    const { dtype, shape, data_offsets } = (entry ?? {}) as Record<string, unknown>;
    const offsets = Array.isArray(data_offsets) ? (data_offsets as number[]) : [];
    const [from = Number.NaN, to = Number.NaN] = offsets;
    const inside = offsets.every(Number.isSafeInteger) && from >= 0 && from <= to && to <= bytes.length - start;
    if (!inside || !Array.isArray(shape)) throw malformed(`the entry of ${JSON.stringify(name)} is none of this file`);
    if (dtype !== 'F32' || shape.length !== 1) {
      const problem = `safetensors: ${name} is no vector of float32 (${String(dtype)} [${shape.join(', ')}])`;
      throw new ClearformerError('unsupported', problem, { tensor: name });
    }
    if (4 * Number(shape[0]) !== to - from) throw malformed(`${name} has ${to - from} bytes for [${String(shape[0])}]`);
    vectors.set(name, new Float32Array(bytes.slice(start + from, start + to).buffer));
  }
  return { metadata: textsOf(metadata), vectors };
}

function headerOf(bytes: Uint8Array): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw malformed('its header is no JSON', cause);
  }
  if (typeof header === 'object' && header !== null && !Array.isArray(header)) return header as Record<string, unknown>;
  throw malformed('its header is no object');
}

function textsOf(metadata: unknown): Record<string, string> {
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
