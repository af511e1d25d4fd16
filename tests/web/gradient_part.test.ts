// The second file of the WASM, with gradients and training: loaded with the first call that needs it, for every build and
// wherever the first file comes from, in workers, by threads, and embedded; and the errors where it cannot be had.

import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AdamW, AutoModelForCausalLM, configure, type GenerativeModel, type LoadOptions, svd } from 'clearformer';
import * as inline from 'clearformer/inline';
import { afterEach, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';

const dist = new URL('../../dist/', import.meta.url);
const file = async (build: string) => new Uint8Array(await readFile(new URL(`clearformer-${build}.wasm`, dist)));
const load = (options: LoadOptions = {}) =>
  AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, ...options });
afterEach(() => configure({ wasmUrl: undefined, wasmBinary: undefined }));

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

/** The first file as if it were of another build: both files of one name it by a digest. */
function ofAnotherBuild(wasm: Uint8Array): Uint8Array {
  const text = Buffer.from(wasm).toString('latin1');
  const digest = /([0-9a-f]{12})\.deferred/.exec(text)?.[1] ?? '';
  expect(digest).toHaveLength(12);
  return new Uint8Array(Buffer.from(text.replaceAll(digest, 'another one.'), 'latin1'));
}

describe('the file of gradients', () => {
  it('is loaded with the first of them, wherever the first file comes from', async () => {
    const { wasm } = await import(new URL('gradients.js', dist).href);
    const server = await FileServer.start({ 'clearformer-simd128.wasm': await file('simd128') });
    const wasmUrl = `${server.url}/static/`;
    const model = await load({ wasmUrl, worker: false });
    const { wasmBytes } = model.info();
    await model.generate({ input_ids }, { max_new_tokens: 2 });
    expect(model.info().wasmBytes).toBe(wasmBytes);
    const [found] = await Promise.all([gradientOf(model), gradientOf(model)]);
    expect(model.info().wasmBytes).toBe(wasmBytes + wasm.length);
    for (const worker of [false, true]) expect(await gradientWith({ wasmUrl, worker })).toEqual(found);
    expect(server.requests).toEqual(['GET /static/clearformer-simd128.wasm']);
    const wasmBinary = await file('simd128');
    for (const worker of [false, true]) expect(await gradientWith({ wasmBinary, worker })).toEqual(found);
    configure({ wasmBinary: wasmBinary.slice() });
    expect(await gradientWith({})).toEqual(found);
    await model.dispose();
    await server.stop();
  });

  it('is the same for the build with relaxed SIMD, and embedded', async () => {
    const expected = (await gradientWith({})) as Float32Array;
    const relaxed = (await gradientWith({ deterministic: false })) as Float32Array;
    const scale = Math.max(...expected.map(Math.abs));
    relaxed.forEach((value, i) => {
      expect(Math.abs(value - (expected[i] ?? Number.NaN))).toBeLessThan(1e-4 * scale); // other roundings only
    });
    const model = await inline.AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
    expect(await gradientOf(model as unknown as GenerativeModel)).toEqual(expected);
    await model.dispose();
  });

  it('has the singular values', async () => {
    const { S } = await svd([
      [3, 0],
      [0, -4],
    ]);
    expect([...S.data]).toEqual([4, 3]);
  });

  it('is added by each thread when a loop has a function of it', async () => {
    const expected = await gradientWith({});
    for (const worker of [false, true]) expect(await gradientWith({ numThreads: 4, worker })).toEqual(expected);
  });

  it.each([false, true])('that cannot be had is named with the remedy, and tried again, worker: %s', async (worker) => {
    const folder = mkdtempSync(join(tmpdir(), 'clearformer-gradients-'));
    cpSync(dist, join(folder, 'dist'), { recursive: true });
    const [there, away] = [join(folder, 'dist/gradients.js'), join(folder, 'gradients.js')];
    renameSync(there, away);
    const copy: typeof import('clearformer') = await import(pathToFileURL(join(folder, 'dist/node.js')).href);
    const model = await copy.AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, worker });
    const failure = await gradientOf(model).catch((error: unknown) => error);
    const { code, message } = failure as { code?: string; message: string };
    expect([code, message]).toEqual(['wasm_unavailable', expect.stringContaining('copy gradients.js')]);
    expect((await model({ input_ids })).logits.dims).toEqual([1, 5, 512]);
    renameSync(away, there);
    expect(existsSync(there)).toBe(true);
    expect(await gradientOf(model)).toEqual(await gradientWith({}));
    await model.dispose();
    rmSync(folder, { recursive: true });
  });

  it('of another build is refused', async () => {
    const model = await load({ wasmBinary: ofAnotherBuild(await file('simd128')) });
    expect((await model({ input_ids })).logits.dims).toEqual([1, 5, 512]);
    const failure = await failureOf(() => new AdamW(model).backward({ input_ids, labels: input_ids }));
    expect([failure.code, failure.message]).toEqual(['wasm_unavailable', expect.stringContaining('another version')]);
    await model.dispose();
  });
});
