// The WASM: which build runs, where it comes from, errors when it cannot be loaded, memory, and traps.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AutoModelForCausalLM, configure, type GenerativeModel, type LoadOptions } from 'clearformer';
import * as inline from 'clearformer/inline';
import { afterEach, describe, expect, it } from 'vitest';
import { settled } from '../../web/src/runtime/assets.js';
import type { CoreModule } from '../../web/src/runtime/border.js';
import { Core } from '../../web/src/runtime/core.js';
import { wasmCure } from '../../web/src/runtime/cures.js';
import { canRun, chooseVariant } from '../../web/src/runtime/wasm.js';
import { failureOf } from './support/failures.js';
import { collectGarbage } from './support/garbage.js';
import { storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';

const dist = new URL('../../dist/', import.meta.url);
const wasm = async (variant: string) => new Uint8Array(await readFile(new URL(`clearformer-${variant}.wasm`, dist)));
const load = (options: LoadOptions = {}) => AutoModelForCausalLM.from_pretrained(storiesPath, options);
afterEach(() => configure({ wasmUrl: undefined, wasmBinary: undefined, workerUrl: undefined }));

async function infoWith(options: LoadOptions = {}) {
  const model = await load(options);
  const info = model.info();
  await model.dispose();
  return info;
}

describe('the build', () => {
  it('is the fastest that runs, or the reproducible one', async () => {
    expect(canRun('simd128')).toBe(true);
    const best = canRun('relaxed') ? 'relaxed' : 'simd128';
    expect(chooseVariant(false)).toBe(best);
    expect(chooseVariant(true)).toBe('simd128');
    expect((await infoWith()).simd).toBe(best);
    expect(await infoWith({ deterministic: true })).toMatchObject({ simd: 'simd128', relaxed: false });
    expect((await infoWith()).wasmBytes).toBe((await wasm(best)).byteLength);
  });

  it('comes from bytes, a file or a folder that the caller names', async () => {
    const wasmBinary = await wasm('simd128');
    expect((await infoWith({ wasmBinary })).wasmBytes).toBe(wasmBinary.byteLength);
    expect((await infoWith({ wasmBinary: wasmBinary.slice().buffer })).simd).toBe('simd128');
    expect((await infoWith({ wasmUrl: new URL('clearformer-simd128.wasm', dist) })).simd).toBe('simd128');
    expect((await infoWith({ wasmUrl: dist.href, deterministic: true })).simd).toBe('simd128');
    configure({ wasmBinary });
    expect((await infoWith({ worker: true })).simd).toBe('simd128');
    const server = await FileServer.start({ 'clearformer-simd128.wasm': wasmBinary });
    expect((await infoWith({ wasmUrl: `${server.url}/static/`, deterministic: true })).simd).toBe('simd128');
    await infoWith({ wasmUrl: `${server.url}/static/`, deterministic: true });
    expect(server.requests).toEqual(['GET /static/clearformer-simd128.wasm']); // compiled once
    await server.stop();
  });

  it.each([
    ['/node_modules/clearformer/dist/', ''],
    ['/node_modules/.pnpm/clearformer@0.1.0_sharp@0.35.5/node_modules/clearformer/dist/', ''],
    ['/node_modules/.vite/deps/', '/node_modules/clearformer/dist/'],
    ['/npm/clearformer@0.1.0/dist/', ''],
    ['/npm/clearformer@0.1.0/', '/npm/clearformer@0.1.0/dist/'],
    ['/clearformer@0.1.0/es2022/', '/clearformer@0.1.0/dist/'],
  ])('of a script in %s is looked for in %s', (folder, found) => {
    const host = 'https://host.example';
    expect(settled(new URL(`${folder}worker.js`, host)).href).toBe(`${host}${found || folder}worker.js`);
  });

  it('that was given is not used against deterministic', async () => {
    const failure = await failureOf(async () => load({ wasmBinary: await wasm('relaxed'), deterministic: true }));
    expect(failure.code).toBe(canRun('relaxed') ? 'invalid_argument' : 'wasm_unavailable');
  });

  it('that cannot be had is named with the remedy', async () => {
    const page = new TextEncoder().encode('<!doctype html>');
    const server = await FileServer.start({ 'page.wasm': page });
    for (const [options, word] of [
      [{ wasmUrl: `${server.url}/page.wasm` }, 'HTML'],
      [{ wasmUrl: `${server.url}/none.wasm` }, '404'],
      [{ wasmUrl: `${server.url}/.vite/deps/page.wasm` }, 'optimizeDeps'],
      [{ wasmUrl: new URL('none.wasm', dist) }, 'none.wasm'],
      [{ wasmBinary: Uint8Array.of(1, 2, 3, 4) }, '\\0asm'],
    ] as const) {
      const failure = await failureOf(() => load(options));
      expect(failure.code).toBe('wasm_unavailable');
      expect(failure.message).toContain(word);
      expect(failure.message).toContain('wasmUrl');
    }
    const broken = (await wasm('simd128')).slice(0, 50_000);
    expect((await failureOf(() => load({ wasmBinary: broken }))).message).toContain('does not compile');
    server.files['page.wasm'] = await wasm('simd128');
    expect((await infoWith({ wasmUrl: `${server.url}/page.wasm` })).simd).toBe('simd128'); // a failure is not cached
    await server.stop();
    const forbidden = 'does not compile here (WebAssembly.compile(): Wasm code generation disallowed by embedder)';
    expect(wasmCure('wasmBinary', forbidden, true)).toMatch(/^this engine compiles no WebAssembly at run time/);
    const deps = 'http://localhost/node_modules/.vite/deps/cures.js'; // Vite's dev server in a workspace
    const settledThere = settled(new URL('clearformer-relaxed.wasm', deps)).href;
    expect(wasmCure(settledThere, 'is no WebAssembly file', false, deps)).toMatch(/^add optimizeDeps: \{ exclude: /);
    expect(wasmCure(settledThere, 'is no WebAssembly file', false)).toMatch(/^set wasmUrl/);
  });

  it('is part of the inline entry, with the worker', async () => {
    for (const worker of [false, true]) {
      const model = await inline.AutoModelForCausalLM.from_pretrained(storiesPath, { worker });
      expect(model.info()).toMatchObject({ worker, simd: chooseVariant(false) });
      expect((await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 3 })).dims).toEqual([1, 5]);
      await model.dispose();
    }
    const text = await readFile(fileURLToPath(new URL('inline.js', dist)), 'utf8');
    expect(text).not.toMatch(/clearformer-(simd128|relaxed)\.wasm['"],\s*import\.meta/);
  });
});

/** The process's resident memory after garbage collection. */
async function reserved(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().rss;
}

describe('memory', () => {
  it('comes back with dispose', async () => {
    const model = await load();
    expect(model.info().heapBytes).toBeGreaterThan(1e6);
    await model.dispose();
    await model.dispose();
    expect(model.info().heapBytes).toBe(0);
    expect((await failureOf(() => model({ input_ids: [[1]] }))).code).toBe('disposed');
    expect((await failureOf(() => model.generate({ input_ids: [[1]] }))).code).toBe('disposed');
    expect((await failureOf(() => model.generate_stream({ input_ids: [[1]] }))).code).toBe('disposed');
    expect((await failureOf(() => model.run_with_cache({ input_ids: [[1]] }))).code).toBe('disposed');
  });

  it('is really gone after a hundred models', async () => {
    for (let i = 0; i < 10; i++) await infoWith();
    const before = await reserved();
    const disposed: GenerativeModel[] = []; // still referenced, so that only dispose can have freed anything
    for (let i = 0; i < 100; i++) {
      const model = await load();
      await model({ input_ids: [[1, 403]] });
      await model.dispose();
      disposed.push(model);
    }
    const grown = (await reserved()) - before;
    expect(disposed).toHaveLength(100);
    expect(grown).toBeLessThan(100e6); // retained, each would hold more than 2 MB
  });

  it.each([false, true])('that has grown comes back with dispose, worker: %s', async (worker) => {
    const large = { input_ids: Array.from({ length: 64 }, () => Array.from({ length: 200 }, () => 403)) };
    const disposed: GenerativeModel[] = [];
    const run = async () => {
      const model = await load({ worker });
      const { heapBytes: fresh } = model.info();
      await model(large, { use_cache: true });
      const { heapBytes, memory } = model.info();
      expect(heapBytes - fresh).toBeGreaterThan(40e6);
      expect(memory.cache + memory.workspace).toBeGreaterThan(10e6);
      await model.dispose();
      expect(model.info()).toMatchObject({ heapBytes: 0, memory: { weights: 0, cache: 0, workspace: 0 } });
      disposed.push(model);
      return fresh;
    };
    const first = await run();
    const before = await reserved();
    for (let i = 0; i < 4; i++) expect(await run()).toBe(first); // loading again, instead of trimming
    expect((await reserved()) - before).toBeLessThan(100e6); // if not released, they would hold more than 160 MB
    expect(disposed).toHaveLength(5);
  });

  it('comes back at the end of a block', async () => {
    const model = await load();
    model[Symbol.dispose]();
    expect((await failureOf(() => model({ input_ids: [[1]] }))).code).toBe('disposed');
    const other = await load();
    await other[Symbol.asyncDispose]();
    expect((await failureOf(() => other({ input_ids: [[1]] }))).code).toBe('disposed');
  });

  it('does not grow with calls', async () => {
    const model = await load();
    const run = async () => {
      await model({ input_ids: [[1, 403, 407]] }, { output_attentions: true });
      await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 60 });
      await failureOf(() => model({ input_ids: [[600]] }));
    };
    await run();
    const { heapBytes } = model.info();
    for (let i = 0; i < 30; i++) await run();
    expect(model.info().heapBytes).toBe(heapBytes);
    await model.dispose();
  });
});

describe('after a trap', () => {
  // (module (func (export "f") unreachable))
  const trap = Uint8Array.of(
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    4,
    1,
    96,
    0,
    0,
    3,
    2,
    1,
    0,
    7,
    5,
    1,
    1,
    102,
    0,
    0,
    10,
    5,
    1,
    3,
    0,
    0,
    11,
  );

  it('the instance is not called again, and says why', async () => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(trap));
    let calls = 0;
    const module = {
      HEAPU8: new Uint8Array(8),
      build_info: () => {
        calls++;
        return (exports.f as () => never)();
      },
      cache_info: () => {
        calls++;
        return { ok: true, value: { length: 3 } };
      },
    } as unknown as CoreModule;
    const core = new Core(module, {});
    expect(core.run('cache_info', { cache: 1 })).toEqual({ length: 3 });
    const first = await failureOf2(() => core.run('build_info', {}));
    expect(first).toMatchObject({ code: 'poisoned' });
    expect(first.message).toContain('unreachable');
    expect(await failureOf2(() => core.run('cache_info', { cache: 1 }))).toMatchObject({ code: 'poisoned' });
    expect(await failureOf2(() => core.write(1, new Uint8Array(4)))).toMatchObject({ code: 'poisoned' });
    expect(calls).toBe(2);
  });
});

/** From web/src itself, whose error class is not the package's. */
async function failureOf2(work: () => unknown): Promise<Error & { code?: string }> {
  try {
    work();
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('no error');
}
