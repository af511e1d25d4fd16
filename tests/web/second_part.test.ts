// The second file of the WASM, with what models run without: loaded with the first call that needs it, for every build and
// wherever the first file comes from, in workers, by threads, and embedded; and the errors where it cannot be had.

import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  AdamW,
  AutoModelForCausalLM,
  configure,
  type GenerativeModel,
  type LoadOptions,
  matmul,
  relu,
  svd,
  Tensor,
} from 'clearformer';
import * as inline from 'clearformer/inline';
import { afterEach, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';

const dist = new URL('../../dist/', import.meta.url);
const file = async (build: string) => new Uint8Array(await readFile(new URL(`clearformer-${build}.wasm`, dist)));
const load = (options: LoadOptions = {}) =>
  AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, ...options });
afterEach(() => configure({ wasmUrl: undefined, wasmBinary: undefined, deterministic: undefined }));

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

describe('the second file', () => {
  it('is loaded with the first gradient, wherever the first file comes from', async () => {
    const { wasm } = await import(new URL('second.js', dist).href);
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

  it('is not loaded by what runs a model: passes with captures and edits, caches, generation', async () => {
    const model = await load();
    const { wasmBytes } = model.info();
    const [, seen] = await model.run_with_cache({ input_ids }, { names_filter: [hook] });
    const edits = [{ hook, op: 'scale', value: 0.5 }] as const;
    const logits = await model.run_with_hooks({ input_ids }, { edits });
    const { past_key_values } = await model.generate(
      { input_ids },
      { num_beams: 2, max_new_tokens: 2, return_dict_in_generate: true },
    );
    expect([Object.keys(seen), logits.dims, past_key_values === undefined]).toEqual([[hook], [1, 5, 512], false]);
    expect(model.info().wasmBytes).toBe(wasmBytes);
    await model.named_parameters();
    expect(model.info().wasmBytes).toBeGreaterThan(wasmBytes);
    await model.dispose();
  });

  it('has the singular values', async () => {
    const { S } = await svd([
      [3, 0],
      [0, -4],
    ]);
    expect([...S.data]).toEqual([4, 3]);
  });

  it('may be on its way or there when the arguments of the call that needs it are overwritten', async () => {
    configure({ deterministic: true }); // a core of its own, without it
    await matmul([[1]], [[1]]);
    for (const second of [2, 3]) {
      const x = Float32Array.of(-1, second);
      const found = relu(new Tensor('float32', x, [2]));
      x.fill(7);
      expect([...(await found).data]).toEqual([0, second]);
    }
  });

  it('is added by each thread when a loop has a function of it', async () => {
    const expected = await gradientWith({});
    for (const worker of [false, true]) expect(await gradientWith({ numThreads: 4, worker })).toEqual(expected);
  });

  it.each([false, true])('that cannot be had is named with the remedy, and tried again, worker: %s', async (worker) => {
    const folder = mkdtempSync(join(tmpdir(), 'clearformer-second-'));
    cpSync(dist, join(folder, 'dist'), { recursive: true });
    const [there, away] = [join(folder, 'dist/second.js'), join(folder, 'second.js')];
    renameSync(there, away);
    const copy: typeof import('clearformer') = await import(pathToFileURL(join(folder, 'dist/node.js')).href);
    const model = await copy.AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true, worker });
    const failure = await gradientOf(model).catch((error: unknown) => error);
    const { code, message } = failure as { code?: string; message: string };
    expect([code, message]).toEqual(['wasm_unavailable', expect.stringContaining('copy second.js')]);
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
