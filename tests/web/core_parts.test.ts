// The parts of the WASM, with what the most used models run without: loaded with the first call that needs them, for every
// build and wherever the first file comes from, in workers, by threads, and embedded; and the errors where one cannot be had.

import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  AdamW,
  AutoModel,
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
import { bytesIn } from '../../web/src/runtime/embedded.js';
import { bundledModel } from './support/command.js';
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
async function infoOf(path: string) {
  const model = await AutoModel.from_pretrained(path, { deterministic: true });
  return model.info();
}

const lengthOf = async (part: string): Promise<number> => (await import(new URL(`${part}.js`, dist).href)).wasm.length;

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
  const digest = /([0-9a-f]{12})\.second/.exec(text)?.[1] ?? '';
  expect(digest).toHaveLength(12);
  return new Uint8Array(Buffer.from(text.replaceAll(digest, '0123456789ab'), 'latin1'));
}

describe('the parts of the WASM', () => {
  it('are loaded with the first gradient, wherever the first file comes from', async () => {
    const server = await FileServer.start({ 'clearformer-simd128.wasm': await file('simd128') });
    const wasmUrl = `${server.url}/static/`;
    const model = await load({ wasmUrl, worker: false });
    const { wasmBytes } = model.info();
    await model.generate({ input_ids }, { max_new_tokens: 2 });
    expect(model.info().wasmBytes).toBe(wasmBytes);
    const [found] = await Promise.all([gradientOf(model), gradientOf(model)]);
    const added = (await lengthOf('second')) + (await lengthOf('hooks')); // the gradient of a hook point
    expect(model.info().wasmBytes).toBe(wasmBytes + added);
    for (const worker of [false, true]) expect(await gradientWith({ wasmUrl, worker })).toEqual(found);
    expect(server.requests).toEqual(['GET /static/clearformer-simd128.wasm']);
    const wasmBinary = await file('simd128');
    for (const worker of [false, true]) expect(await gradientWith({ wasmBinary, worker })).toEqual(found);
    configure({ wasmBinary: wasmBinary.slice() });
    expect(await gradientWith({})).toEqual(found);
    await model.dispose();
    await server.stop();
  });

  it('are the same for the build with relaxed SIMD, and embedded', async () => {
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

  it('are not loaded by what runs a model: passes, caches, generation', async () => {
    const model = await load();
    const { wasmBytes } = model.info();
    const { past_key_values } = await model({ input_ids }, { use_cache: true });
    await model({ input_ids: [[3]], past_key_values });
    await model.generate({ input_ids }, { num_beams: 2, max_new_tokens: 2, return_dict_in_generate: true });
    expect(model.info().wasmBytes).toBe(wasmBytes);
    await model.named_parameters();
    expect(model.info().wasmBytes).toBe(wasmBytes + (await lengthOf('second')));
    await model.dispose();
  });

  it.each<[string, (model: GenerativeModel) => Promise<unknown>]>([
    ['a capture', (model) => model.run_with_cache({ input_ids }, { names_filter: [hook] })],
    ['an edit', (model) => model.run_with_hooks({ input_ids }, { edits: [{ hook, op: 'scale', value: 0.5 }] })],
    ['hidden states', (model) => model({ input_ids }, { output_hidden_states: true })],
    ['attentions', (model) => model({ input_ids }, { output_attentions: true })],
    [
      'a generation with an edit',
      (model) => model.generate({ input_ids }, { max_new_tokens: 2, edits: [{ hook, op: 'zero' }] }),
    ],
  ])('with hook points are loaded with %s', async (_, call) => {
    const model = await load();
    const { wasmBytes } = model.info();
    await call(model);
    expect(model.info().wasmBytes).toBe(wasmBytes + (await lengthOf('hooks')));
    await model.dispose();
  });

  it('of the other architectures are loaded with a model of one', async () => {
    const { wasmBytes } = await infoOf(storiesPath);
    const added = await lengthOf('families');
    for (const name of ['marian-tiny-en-fr', 'vit-mnist']) {
      expect((await infoOf(bundledModel(name))).wasmBytes).toBe(wasmBytes + added);
    }
    expect((await infoOf(bundledModel('bert-tiny-fill'))).wasmBytes).toBe(wasmBytes);
  });

  it('have the constants that only their functions read', async () => {
    const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
    const partOf = async (name: string) => textOf(bytesIn(await import(new URL(`${name}.js`, dist).href)));
    // Keys of GPT-2's and of Falcon's config.json, of both; what an edit, a gradient says.
    const holders = {
      '"scale_attn_by_inverse_layer_idx":false': 'first',
      '"new_decoder_architecture":false': 'families',
      'supported: ': 'first',
      'edit: there is no op "': 'hooks',
      'there are no gradients: backward comes first': 'second',
    };
    const files = new Map<string, string>([['first', textOf(await file('simd128'))]]);
    for (const name of ['second', 'hooks', 'families']) files.set(name, await partOf(name));
    for (const [text, holder] of Object.entries(holders))
      expect(
        [...files].filter(([, contents]) => contents.includes(text)).map(([name]) => name),
        text,
      ).toEqual([holder]);
  });

  it('have the singular values', async () => {
    const { S } = await svd([
      [3, 0],
      [0, -4],
    ]);
    expect([...S.data]).toEqual([4, 3]);
  });

  it('may be on their way or there when the arguments of the call that needs them are overwritten', async () => {
    configure({ deterministic: true }); // a core of its own, without it
    await matmul([[1]], [[1]]);
    for (const second of [2, 3]) {
      const x = Float32Array.of(-1, second);
      const found = relu(new Tensor('float32', x, [2]));
      x.fill(7);
      expect([...(await found).data]).toEqual([0, second]);
    }
  });

  it.each([false, true])('let no call overtake one that waits for them; worker: %s', async (worker) => {
    configure({ wasmBinary: await file('simd128') }); // compiled anew, and its parts
    const model = await load({ worker });
    const { logits } = await model({ input_ids });
    await model.named_parameters(); // with this the part that edits weights is there
    const pass = model({ input_ids }, { output_hidden_states: true });
    const edit = model.edit_parameter('ln_final.w', { op: 'scale', value: 2 });
    const after = model({ input_ids });
    expect((await pass).logits.data).toEqual(logits.data);
    await edit;
    expect((await after).logits.data).toEqual(logits.data.map((value) => 2 * value));
    await model.dispose();
  });

  it('are added by each thread when a loop has a function of one', async () => {
    const expected = await gradientWith({});
    for (const worker of [false, true]) expect(await gradientWith({ numThreads: 4, worker })).toEqual(expected);
  });

  it.each<[string, string, (model: GenerativeModel) => Promise<unknown>]>([
    ['second', storiesPath, (model) => model.named_parameters()],
    ['hooks', storiesPath, (model) => model.run_with_cache({ input_ids })],
    ['families', bundledModel('marian-tiny-en-fr'), async () => {}],
  ])('that cannot be had are named with the remedy, and tried again: %s', async (part, path, call) => {
    const folder = mkdtempSync(join(tmpdir(), 'clearformer-parts-'));
    cpSync(dist, join(folder, 'dist'), { recursive: true });
    const [there, away] = [join(folder, `dist/${part}.js`), join(folder, `${part}.js`)];
    renameSync(there, away);
    const copy: typeof import('clearformer') = await import(pathToFileURL(join(folder, 'dist/node.js')).href);
    const use = async (worker: boolean): Promise<void> => {
      const auto = path === storiesPath ? copy.AutoModelForCausalLM : copy.AutoModelForSeq2SeqLM;
      const model = (await auto.from_pretrained(path, { deterministic: true, worker })) as GenerativeModel;
      if (path === storiesPath) expect((await model({ input_ids })).logits?.dims).toEqual([1, 5, 512]);
      await call(model).finally(() => model.dispose());
    };
    for (const worker of [false, true]) {
      const { code, message } = (await use(worker).catch((error: unknown) => error)) as Error & { code?: string };
      expect([code, message]).toEqual(['wasm_unavailable', expect.stringContaining(`copy ${part}.js beside`)]);
    }
    renameSync(away, there);
    for (const worker of [false, true]) await use(worker);
    rmSync(folder, { recursive: true });
  });

  it('of another build are refused', async () => {
    const model = await load({ wasmBinary: ofAnotherBuild(await file('simd128')) });
    expect((await model({ input_ids })).logits.dims).toEqual([1, 5, 512]);
    const failure = await failureOf(() => new AdamW(model).backward({ input_ids, labels: input_ids }));
    expect([failure.code, failure.message]).toEqual(['wasm_unavailable', expect.stringContaining('another version')]);
    await model.dispose();
  });
});
