// onnxruntime, on the web (its wasm-only entry) and in Node (its native build), on a graph of its own operators.
import { sampled, tokenRows, values } from './inputs.mjs';

async function load(spec) {
  if (spec.runtime === 'native') return import('onnxruntime-node');
  const ort = await import(spec.library);
  ort.env.wasm.numThreads = spec.threads;
  if (spec.wasmFolder) ort.env.wasm.wasmPaths = spec.wasmFolder;
  return ort;
}

async function bytesOf(url) {
  if (!url.startsWith('/files/')) return (await import('node:fs/promises')).readFile(url);
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

async function createSession(ort, spec) {
  const options = {
    executionProviders: [spec.runtime === 'native' ? 'cpu' : 'wasm'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: spec.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
  };
  if (spec.runtime === 'native') return ort.InferenceSession.create(`${spec.graph}.onnx`, options);
  const path = `${spec.graph.slice(spec.graph.lastIndexOf('/') + 1)}.bin`;
  const data = await bytesOf(`${spec.graph}.bin`);
  // A graph without weights of its own refers to none.
  if (data.byteLength > 0) options.externalData = [{ path, data }];
  return ort.InferenceSession.create(await bytesOf(`${spec.graph}.onnx`), options);
}

const zerosLike = (count) => new BigInt64Array(count);

/** The feeds of a language model: ids, their places, and a past of `past` positions (none: empty). */
function textFeeds(ort, session, spec) {
  const { batch = 1, length, vocabulary, past = 0 } = spec.input;
  const rows = tokenRows(batch, past + length, vocabulary).map((row) => row.slice(past));
  const ids = rows.flat();
  const feeds = {};
  const dims = [batch, length];
  for (const name of session.inputNames) {
    if (name === 'input_ids') {
      const data = spec.input.ids64 ? BigInt64Array.from(ids, BigInt) : Int32Array.from(ids);
      feeds[name] = new ort.Tensor(spec.input.ids64 ? 'int64' : 'int32', data, dims);
    } else if (name === 'token_type_ids') {
      feeds[name] = new ort.Tensor('int32', new Int32Array(batch * length), dims);
    } else if (name === 'position_ids') {
      const places = zerosLike(batch * length).map((_, i) => BigInt(past + (i % length)));
      feeds[name] = new ort.Tensor('int64', places, dims);
    } else if (name.startsWith('past_')) {
      feeds[name] = pastTensor(ort, name, spec.input);
    }
  }
  return feeds;
}

function pastTensor(ort, name, { batch = 1, past = 0, heads, headSize }) {
  const pair = /^past_\d+$/.test(name) ? [2] : []; // keys and values in one
  const dims = [...pair, batch, heads, past, headSize];
  return new ort.Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b)), dims);
}

const feedsOf = {
  text: textFeeds,
  product: (ort, _session, { input: { m, k } }) => ({ x: new ort.Tensor('float32', values(m * k), [m, k]) }),
  attention(ort, _session, { input: { n, heads, d } }) {
    const part = (phase) => new ort.Tensor('float32', values(n * heads * d, phase), [1, n, heads * d]);
    return { q: part(0), k: part(1), v: part(2) };
  },
  image: (ort, _session, { input: { size } }) => ({
    pixel_values: new ort.Tensor('float32', values(3 * size * size), [1, 3, size, size]),
  }),
};

export async function open(spec) {
  const ort = await load(spec);
  const session = await createSession(ort, spec);
  const feeds = feedsOf[spec.input.kind](ort, session, spec);
  if (spec.input.past > 0) await fillPast(ort, session, spec, feeds);
  const output = session.outputNames.find((name) => !name.startsWith('present')) ?? session.outputNames[0];
  const fetches = spec.keepCache ? session.outputNames : [output];
  return {
    about: { threads: spec.threads },
    run: () => session.run(feeds, fetches),
    sample: async () => sampled((await session.run(feeds, [output]))[output].data),
    close: () => session.release(),
  };
}

/** Reads the positions before the one that is timed, so that the cache holds what it would. */
async function fillPast(ort, session, spec, feeds) {
  const { past } = spec.input;
  const prompt = textFeeds(ort, session, { ...spec, input: { ...spec.input, past: 0, length: past } });
  const results = await session.run(prompt);
  for (const name of session.outputNames) {
    if (name.startsWith('present')) feeds[name.replace('present', 'past')] = results[name];
  }
}
