// Attention in onnxruntime-web, if this copy of the page has its files: `npm run build -- onnxruntime` adds them. They
// are loaded when the reader asks for them.

import type { Tensor } from 'clearformer';
import { once } from '../../book/remembered.js';

/** Paths are relative to the manifest's folder. */
interface Manifest {
  readonly version: string;
  /** Of all files. */
  readonly bytes: number;
  readonly module: string;
  readonly wasm: string;
  /** Attention of q, k and v (1, n, d) with one head. */
  readonly graph: string;
}

interface OrtTensor {
  readonly data: ArrayLike<number>;
}

type Feeds = Readonly<Record<string, OrtTensor>>;

/** The part of onnxruntime-web's interface that is used. */
interface Ort {
  readonly env: { readonly wasm: { numThreads: number; wasmPaths: { wasm: string } } };
  readonly Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => OrtTensor;
  readonly InferenceSession: {
    create(
      model: Uint8Array,
      options: { executionProviders: string[] },
    ): Promise<{ run(feeds: Feeds): Promise<Record<string, OrtTensor>> }>;
  };
}

/** softmax(q kᵀ/√d) v of q, k and v (n, d). The inputs are converted once, so that calls can be timed. */
export type PreparedAttention = () => Promise<ArrayLike<number>>;
export interface Onnxruntime {
  readonly version: string;
  attention(q: Tensor<'float32'>, k: Tensor<'float32'>, v: Tensor<'float32'>): PreparedAttention;
}

const folder = (): URL => new URL('onnxruntime/', document.baseURI);

async function read(path: string): Promise<Response> {
  const response = await fetch(new URL(path, folder()));
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return response;
}

const manifest = once(async (): Promise<Manifest | undefined> => {
  const found: Partial<Manifest> = await (await read('manifest.json')).json();
  return found.version === undefined ? undefined : (found as Manifest);
});

/** The bytes to load; undefined if this copy of the page has no onnxruntime-web, or cannot tell, being offline. */
export const onnxruntimeBytes = async (): Promise<number | undefined> =>
  (await manifest().catch(() => undefined))?.bytes;

/** The module, with one thread; undefined if this copy of the page has none. */
export const loadOnnxruntime = once(async (): Promise<{ ort: Ort; found: Manifest } | undefined> => {
  const found = await manifest();
  if (!found) return undefined;
  const urlOf = (path: string): string => new URL(path, folder()).href;
  const ort = (await import(/* @vite-ignore */ urlOf(found.module))) as Ort;
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: urlOf(found.wasm) };
  return { ort, found };
});

/** Its attention; undefined if this copy of the page has none. */
export const openOnnxruntime = once(async (): Promise<Onnxruntime | undefined> => {
  const loaded = await loadOnnxruntime();
  if (!loaded) return undefined;
  const { ort, found } = loaded;
  const graph = new Uint8Array(await (await read(found.graph)).arrayBuffer());
  const session = await ort.InferenceSession.create(graph, { executionProviders: ['wasm'] });
  return {
    version: found.version,
    attention(...inputs) {
      const [q, k, v] = inputs.map(({ data, dims }) => new ort.Tensor('float32', data, [1, ...dims]));
      const feeds = { q, k, v } as Feeds;
      return async () => (await session.run(feeds)).y?.data ?? [];
    },
  };
});
