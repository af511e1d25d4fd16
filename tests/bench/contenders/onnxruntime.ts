// onnxruntime, on the web (its wasm-only entry) and in Node (its native build), on a graph of its own operators.

import type { Input, Spec } from '../types.js';
import { imported } from './imported.js';
import { sampled, tokenRows, values } from './inputs.js';
import type { Running } from './running.js';

// Not a literal: the peers' packages are not installed where types are checked.
const nativeLibrary: string = 'onnxruntime-node';

/** The name of the weights in a graph that is given as bytes. */
export const dataName = 'weights.bin';

interface OrtTensor {
  data: ArrayLike<number | bigint>;
}
type Feeds = Record<string, OrtTensor>;

interface Session {
  inputNames: readonly string[];
  outputNames: readonly string[];
  run(feeds: Feeds, fetches?: readonly string[]): Promise<Feeds>;
  release(): Promise<void>;
}

/** The part of onnxruntime's interface that is used. */
export interface Ort {
  env: { wasm: { numThreads: number; wasmPaths: string } };
  Tensor: new (type: string, data: Float32Array | Int32Array | BigInt64Array, dims: readonly number[]) => OrtTensor;
  InferenceSession: { create(model: string | Uint8Array, options: object): Promise<Session> };
}

async function load(spec: Spec): Promise<Ort> {
  const ort = (await imported(spec.runtime === 'native' ? nativeLibrary : spec.library)) as Ort;
  if (spec.runtime === 'native') return ort;
  ort.env.wasm.numThreads = spec.threads;
  if (spec.wasmFolder) ort.env.wasm.wasmPaths = spec.wasmFolder;
  return ort;
}

async function bytesOf(url: string): Promise<Uint8Array> {
  if (!url.startsWith('/files/')) {
    const { readFile } = await import('node:fs/promises');
    return readFile(url);
  }
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

async function createSession(ort: Ort, spec: Spec): Promise<Session> {
  const { graph = '' } = spec;
  const options = {
    executionProviders: [spec.runtime === 'native' ? 'cpu' : 'wasm'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: spec.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
  };
  if (typeof graph !== 'string') {
    return ort.InferenceSession.create(graph.graph, {
      ...options,
      externalData: [{ path: dataName, data: graph.data }],
    });
  }
  if (spec.runtime === 'native') return ort.InferenceSession.create(`${graph}.onnx`, options);
  const path = `${graph.slice(graph.lastIndexOf('/') + 1)}.bin`;
  const data = await bytesOf(`${graph}.bin`);
  // A graph without weights has no external data.
  const external = data.byteLength > 0 ? { externalData: [{ path, data }] } : {};
  return ort.InferenceSession.create(await bytesOf(`${graph}.onnx`), { ...options, ...external });
}

/** The feeds of a language model: ids, positions, and a past of `past` positions (none: empty). */
function textFeeds(ort: Ort, session: Session, spec: Spec): Feeds {
  const { batch = 1, length = 1, vocabulary = 1, past = 0 } = spec.input;
  const rows = tokenRows(batch, past + length, vocabulary).map((row) => row.slice(past));
  const ids = rows.flat();
  const feeds: Feeds = {};
  const dims = [batch, length];
  for (const name of session.inputNames) {
    if (name === 'input_ids') {
      const data = spec.input.ids64 ? BigInt64Array.from(ids, BigInt) : Int32Array.from(ids);
      feeds[name] = new ort.Tensor(spec.input.ids64 ? 'int64' : 'int32', data, dims);
    } else if (name === 'token_type_ids') {
      feeds[name] = new ort.Tensor('int32', new Int32Array(batch * length), dims);
    } else if (name === 'position_ids') {
      const places = BigInt64Array.from({ length: batch * length }, (_, i) => BigInt(past + (i % length)));
      feeds[name] = new ort.Tensor('int64', places, dims);
    } else if (name.startsWith('past_')) {
      feeds[name] = pastTensor(ort, name, spec.input);
    }
  }
  return feeds;
}

function pastTensor(ort: Ort, name: string, { batch = 1, past = 0, heads = 1, headSize = 1 }: Input): OrtTensor {
  const pair = /^past_\d+$/.test(name) ? [2] : []; // keys and values in one tensor
  const dims = [...pair, batch, heads, past, headSize];
  return new ort.Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b)), dims);
}

type Feeding = (ort: Ort, session: Session, spec: Spec) => Feeds;

const feedsOf: Readonly<Record<NonNullable<Input['kind']>, Feeding>> = {
  text: textFeeds,
  product: (ort, _session, { input: { m = 1, k = 1 } }) => ({ x: new ort.Tensor('float32', values(m * k), [m, k]) }),
  attention(ort, _session, { input: { n = 1, heads = 1, d = 1 } }) {
    const part = (phase: number): OrtTensor =>
      new ort.Tensor('float32', values(n * heads * d, phase), [1, n, heads * d]);
    return { q: part(0), k: part(1), v: part(2) };
  },
  image: (ort, _session, { input: { size = 1 } }) => ({
    pixel_values: new ort.Tensor('float32', values(3 * size * size), [1, 3, size, size]),
  }),
};

export async function open(spec: Spec): Promise<Running> {
  const ort = await load(spec);
  const session = await createSession(ort, spec);
  const feeds = feedsOf[spec.input.kind ?? 'text'](ort, session, spec);
  if ((spec.input.past ?? 0) > 0) await fillPast(ort, session, spec, feeds);
  const output = session.outputNames.find((name) => !name.startsWith('present')) ?? '';
  const fetches = spec.keepCache ? session.outputNames : [output];
  return {
    about: { threads: spec.threads },
    run: () => session.run(feeds, fetches),
    sample: async () => sampled((await session.run(feeds, [output]))[output]?.data ?? []),
    close: () => session.release(),
  };
}

/** Processes the positions before the timed one, to fill the cache. */
async function fillPast(ort: Ort, session: Session, spec: Spec, feeds: Feeds): Promise<void> {
  const { past = 0 } = spec.input;
  const prompt = textFeeds(ort, session, { ...spec, input: { ...spec.input, past: 0, length: past } });
  const results = await session.run(prompt);
  for (const name of session.outputNames) {
    const result = results[name];
    if (result && name.startsWith('present')) feeds[name.replace('present', 'past')] = result;
  }
}
