// Reads the float32 vectors of a safetensors file, with every bound checked.

import { copied } from '../../support/copied.js';
import { ClearformerError, textOf } from '../../support/error.js';
import { isObject } from '../../support/kinds.js';

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
  const entries = Object.entries(tensors).map(([name, entry]) => entryOf(name, entry));
  let end = 0; // of the tensor before: each byte of the data belongs to one
  for (const { name, from, to } of entries.sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (from !== end)
      throw malformed(`${name} begins at byte ${from} of the data, the tensor before it ends at ${end}`);
    end = to;
    if (to > bytes.length - start) throw malformed(`${name} ends at byte ${to} of ${bytes.length - start}`);
    vectors.set(name, new Float32Array(copied(bytes.subarray(start + from, start + to)).buffer as ArrayBuffer));
  }
  if (end !== bytes.length - start) throw malformed(`there are ${bytes.length - start - end} bytes of no tensor`);
  return { metadata: textsOf(metadata), vectors };
}

/** Where the data of a tensor are. */
function entryOf(name: string, entry: unknown): { name: string; from: number; to: number } {
  const { dtype, shape, data_offsets } = (entry ?? {}) as Record<string, unknown>;
  const counts = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!counts(shape) || !counts(data_offsets) || data_offsets.length !== 2) {
    throw malformed(`the entry of ${JSON.stringify(name)} has no shape or no data_offsets`);
  }
  if (dtype !== 'F32' || shape.length !== 1) {
    const problem = `safetensors: ${name} is no vector of float32 (${textOf(dtype)} [${shape.join(', ')}])`;
    throw new ClearformerError('unsupported', problem, { tensor: name });
  }
  const [from, to] = data_offsets as [number, number];
  if (4 * (shape[0] as number) === to - from) return { name, from, to };
  throw malformed(`${name} has ${to - from} bytes for [${shape[0]}]`);
}

function headerOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw malformed('its header is no JSON', cause);
  }
  if (isObject(header)) return header;
  throw malformed('its header is no object');
}

function textsOf(metadata: unknown): Record<string, string> {
  const isText = (text: unknown) => typeof text === 'string' && !/\p{Surrogate}/u.test(text);
  if (isObject(metadata) && Object.entries(metadata).flat().every(isText)) return metadata as Record<string, string>;
  throw malformed('__metadata__ are texts by name');
}
