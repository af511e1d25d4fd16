// The second file of the WASM, with gradients and training: read with the first call that needs it, in each way that the
// first file can be named, in workers, by threads, and embedded; and the errors where it cannot be had.

import { readFile } from 'node:fs/promises';
import { AdamW, AutoModelForCausalLM, configure, type GenerativeModel, type LoadOptions } from 'clearformer';
import * as inline from 'clearformer/inline';
import { afterEach, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';

const dist = new URL('../../dist/', import.meta.url);
const file = async (build: string) => new Uint8Array(await readFile(new URL(`clearformer-${build}.wasm`, dist)));
const load = (options: LoadOptions = {}) =>
  AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, ...options });
afterEach(() => configure({ wasmUrl: undefined, wasmBinary: undefined, wasmGradients: undefined }));

const input_ids = [[1, 403, 407, 261, 378]];
const hook = 'blocks.0.hook_resid_pre';

async function gradientOf(model: GenerativeModel): Promise<unknown> {
  const metric = { logits: [{ token: 3 }] };
  return (await model.backward({ input_ids }, { metric, with_respect_to: { hooks: hook } })).grad[hook]?.data;
}

async function gradientWith(options: LoadOptions): Promise<unknown> {
  const model = await load(options);
  return gradientOf(model).finally(() => model.dispose());
}

describe('the file of gradients', () => {
  it('is read with the first of them, beside the first file, once for all models', async () => {
    const names = ['simd128', 'simd128-gradients'];
    const files = await Promise.all(names.map(async (name) => [`clearformer-${name}.wasm`, await file(name)]));
    const server = await FileServer.start(Object.fromEntries(files));
    const wasmUrl = `${server.url}/static/`;
    const model = await load({ wasmUrl, worker: false });
    const { wasmBytes } = model.info();
    await model.generate({ input_ids }, { max_new_tokens: 2 });
    const [first = '', second = ''] = names.map((name) => `GET /static/clearformer-${name}.wasm`);
    expect(server.requests).toEqual([first]);
    const [found] = await Promise.all([gradientOf(model), gradientOf(model)]);
    expect(model.info().wasmBytes).toBe(wasmBytes + (await file('simd128-gradients')).byteLength);
    for (const worker of [false, true]) expect(await gradientWith({ wasmUrl, worker })).toEqual(found);
    expect(server.requests).toEqual([first, second]);
    const named = `${wasmUrl}clearformer-simd128.wasm?v=2`;
    expect(await gradientWith({ wasmUrl: named })).toEqual(found);
    expect(server.requests.slice(2)).toEqual([`${first}?v=2`, `${second}?v=2`]);
    await model.dispose();
    await server.stop();
  });

  it('comes as bytes or by its own address, and is embedded', async () => {
    const expected = await gradientWith({});
    const [wasmBinary, wasmGradients] = [await file('simd128'), await file('simd128-gradients')];
    expect(await gradientWith({ wasmBinary, wasmGradients, worker: true })).toEqual(expected);
    const place = new URL('clearformer-simd128-gradients.wasm', dist);
    expect(await gradientWith({ wasmBinary: wasmBinary.slice(), wasmGradients: place })).toEqual(expected);
    configure({ wasmBinary: wasmBinary.slice(), wasmGradients: wasmGradients.slice().buffer });
    expect(await gradientWith({})).toEqual(expected);
    configure({ wasmBinary: undefined, wasmGradients: undefined });
    const model = await inline.AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
    expect(await gradientOf(model as unknown as GenerativeModel)).toEqual(expected);
    await model.dispose();
  });

  it('is added by each thread when a loop has a function of it', async () => {
    const expected = await gradientWith({});
    for (const worker of [false, true]) expect(await gradientWith({ numThreads: 4, worker })).toEqual(expected);
  });

  it.each([false, true])('that cannot be had is named with the remedy, and tried again, worker: %s', async (worker) => {
    const server = await FileServer.start({ 'clearformer-simd128.wasm': await file('simd128') });
    const model = await load({ wasmUrl: `${server.url}/static/`, worker });
    const failure = await failureOf(() => new AdamW(model).backward({ input_ids, labels: input_ids }));
    expect([failure.code, failure.message]).toEqual(['wasm_unavailable', expect.stringContaining('-gradients.wasm')]);
    expect((await model({ input_ids })).logits.dims).toEqual([1, 5, 512]);
    server.files['clearformer-simd128-gradients.wasm'] = await file('simd128-gradients');
    expect(await gradientOf(model)).toEqual(await gradientWith({}));
    await model.dispose();
    await server.stop();
  });

  it('of another build, or none with bytes, is refused', async () => {
    const wasmBinary = await file('simd128');
    const missing = await failureOf(() => gradientWith({ wasmBinary }));
    expect([missing.code, missing.details.option]).toEqual(['wasm_unavailable', 'wasmGradients']);
    const wasmGradients = await file('relaxed-gradients');
    const other = await failureOf(() => gradientWith({ wasmBinary: wasmBinary.slice(), wasmGradients }));
    expect([other.code, other.message]).toEqual(['wasm_unavailable', expect.stringContaining('another build')]);
  });
});
