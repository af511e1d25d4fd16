// The weights of a bundled model's checkpoint, for figures that multiply with them. Its safetensors file is already in
// the browser's cache from loading the model; the format: https://huggingface.co/docs/safetensors, "Format".

import { ClearformerError, Tensor } from 'clearformer';
import { bundledFolder, fileAt, isBundled } from './bundled.js';
import { remembered } from './remembered.js';

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const loaded = new Map<string, Promise<Weights>>();

/** The tensors of a bundled model, read once. Rejects with `unsupported` for a model of the reader's own. */
export function weightsOf(model: string): Promise<Weights> {
  return remembered(loaded, model, () => fetched(model));
}

async function fetched(model: string): Promise<Weights> {
  if (!isBundled(model)) {
    const message =
      'this figure multiplies with the weights of the checkpoint, which it reads of the bundled models only';
    throw new ClearformerError('unsupported', message);
  }
  const file = 'model.safetensors';
  const blob = await fileAt(new URL(file, bundledFolder(model)), file);
  return new Weights(await blob.arrayBuffer());
}

export class Weights {
  readonly #bytes: ArrayBuffer;
  readonly #start: number;
  readonly #entries: Readonly<Record<string, Entry>>;

  constructor(bytes: ArrayBuffer) {
    const length = Number(new DataView(bytes).getBigUint64(0, true));
    this.#bytes = bytes;
    this.#start = 8 + length;
    this.#entries = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#entries, name);
  }

  /** A tensor as float32, exactly as the file holds it. */
  get(name: string): Tensor<'float32'> {
    const entry = this.#entries[name];
    if (!entry) throw new ClearformerError('missing_tensor', `the checkpoint has no tensor ${name}`);
    const { dtype, shape, data_offsets } = entry;
    const bytes = this.#bytes.slice(this.#start + data_offsets[0], this.#start + data_offsets[1]);
    return new Tensor('float32', floats(bytes, dtype), [...shape]);
  }
}

function floats(bytes: ArrayBuffer, dtype: string): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes);
  if (dtype === 'BF16') return new Float32Array(Uint32Array.from(new Uint16Array(bytes), (bits) => bits << 16).buffer);
  if (dtype === 'F16') return Float32Array.from(new Uint16Array(bytes), half);
  throw new ClearformerError('unsupported', `weights of type ${dtype} are not read here`);
}

/** IEEE 754 binary16 (half precision): sign, five bits of exponent (bias 15), ten of fraction. */
function half(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}
