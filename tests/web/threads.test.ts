// Threads in Node: the same bits for any number of them, the reason for fewer than requested, and their end.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual, promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import {
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  configure,
  type GenerativeModel,
  type LoadOptions,
  nn,
} from 'clearformer';
import * as inline from 'clearformer/inline';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';
import { optionsFor, variants } from './support/variants.js';

const dist = new URL('../../dist/', import.meta.url);
const load = (options: LoadOptions) => AutoModelForCausalLM.from_pretrained(storiesPath, options);
afterEach(() => configure({ numThreads: undefined }));

/** Enough sequences that every kind of loop runs in parallel, and that the core's memory has to grow. */
const input_ids = Array.from({ length: 16 }, (_, row) =>
  Array.from({ length: 120 }, (_, column) => 3 + ((row * 131 + column * 17) % 500)),
);

async function resultsOf(model: GenerativeModel) {
  const outputs = await model({ input_ids }, { output_attentions: true, output_hidden_states: true });
  const [, cache] = await model.run_with_cache({ input_ids: input_ids.slice(0, 4) });
  const drawn = { max_new_tokens: 20, do_sample: true, seed: 3, eos_token_id: null };
  return { outputs, cache, ids: await model.generate({ input_ids: input_ids.map((row) => row.slice(0, 30)) }, drawn) };
}

/** Threads of this process. */
const running = () => readdirSync('/proc/self/task').length;
/** Processor time of each thread in user mode, in ticks of 10 ms (man 5 proc, field 14 of stat). */
const threadTicks = () =>
  new Map(
    readdirSync('/proc/self/task').map((id) => {
      const [, rest = ''] = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(/\) (?=[^)]*$)/);
      return [id, Number(rest.split(' ')[11])] as const;
    }),
  );
/** The number of threads once none has started or ended for a fifth of a second. */
async function settled(): Promise<number> {
  let count = running();
  for (let quiet = 0; quiet < 10; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    quiet = running() === count ? quiet + 1 : 0;
    count = running();
  }
  return count;
}
const settles = (count: number) => vi.waitUntil(() => running() <= count, { timeout: 10_000, interval: 20 });

/** Runs `work` where workers of Node are of this class. */
async function withWorkers(Worker: unknown, work: () => Promise<void>): Promise<void> {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = ((name: string) =>
    name === 'node:worker_threads'
      ? { ...getBuiltinModule(name), Worker }
      : getBuiltinModule(name as 'node:fs')) as never;
  try {
    await work();
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
}

describe.each(variants)('%s, with threads', (variant) => {
  it('gives the same bits, in a worker too', async () => {
    const alone = await load({ ...optionsFor(variant), numThreads: 1 });
    const expected = await resultsOf(alone);
    await alone.dispose();
    for (const [numThreads, worker] of [
      [1, true],
      [2, false],
      [3, true],
      [8, false],
    ] as const) {
      const model = await load({ ...optionsFor(variant), worker, numThreads });
      const before = model.info().heapBytes;
      expect(model.info()).toMatchObject({
        simd: variant,
        threads: { used: numThreads, reason: `numThreads is ${numThreads}` },
      });
      expect(isDeepStrictEqual(await resultsOf(model), expected)).toBe(true); // millions of numbers: toEqual takes minutes
      expect(model.info().heapBytes).toBeGreaterThan(before);
      await model.dispose();
    }
  }, 60_000);
});

describe('threads', () => {
  it('find every part of the WebAssembly', async () => {
    const found = [];
    for (const numThreads of [1, 2]) {
      await using model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/marian/even'), {
        numThreads,
      });
      const inputs = {
        input_ids: input_ids.map((row) => row.slice(0, 40).map((id) => id % 60)),
        decoder_input_ids: input_ids.map(() => [2, 3, 4]),
      };
      const [, cache] = await model.run_with_cache(inputs, { names_filter: '*hook_z' });
      const name = 'model.encoder.layers.0.fc1.weight';
      const asked = { metric: { logits: [{ token: 3 }] }, with_respect_to: { weights: [name] } };
      const { weights } = await model.backward(inputs, asked);
      expect(model.info().threads.used).toBe(numThreads);
      found.push([cache['encoder.0.attn.hook_z']?.data, weights[name]?.data, (await model.parameter(name)).data]);
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[0]?.every((data) => data !== undefined)).toBe(true);
  });

  it('leave errors what they are', async () => {
    const files = {
      'config.json': new TextEncoder().encode('{"model_type":"mamba"}'),
      'model.safetensors': new Uint8Array(9),
    };
    for (const variant of variants) {
      const loading = AutoModelForCausalLM.from_pretrained(files, { ...optionsFor(variant), numThreads: 2 });
      await expect(loading).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('mamba') });
    }
  });

  it.skipIf(availableParallelism() < 2 || process.platform !== 'linux')(
    'share the work with the caller',
    async () => {
      const model = await load({ numThreads: 2 });
      const before = threadTicks();
      const spent = () => Array.from(threadTicks(), ([id, ticks]) => ticks - (before.get(id) ?? 0));
      const total = () => spent().reduce((sum, ticks) => sum + ticks, 0);
      while (total() < 80) await model({ input_ids });
      // Even on a busy machine: of the processor time of two threads the second has a substantial part.
      const [, second = 0] = spent().sort((one, other) => other - one);
      expect(second).toBeGreaterThan(0.2 * total());
      await model.dispose();
    },
    60_000,
  );

  it.skipIf(process.platform !== 'linux')(
    'end with dispose, in a worker too',
    async () => {
      await (await load({ worker: true, numThreads: 2 })).dispose();
      const before = await settled();
      for (const worker of [false, true]) {
        const models = await Promise.all([load({ worker, numThreads: 3 }), load({ worker, numThreads: 4 })]);
        expect(running()).toBeGreaterThanOrEqual(before + 5);
        await models[0]?.({ input_ids });
        await Promise.all(models.map((model) => model.dispose()));
        await settles(before);
      }
    },
    30_000,
  );

  it('let the process end', async () => {
    const script = `
      import { AutoModelForCausalLM } from ${JSON.stringify(new URL('index.js', dist).href)};
      for (const worker of [false, true]) {
        const model = await AutoModelForCausalLM.from_pretrained(${JSON.stringify(storiesPath)}, { worker, numThreads: 2, deterministic: true });
        console.log(model.info().threads.used, (await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 3 })).dims.join());
      }`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 20_000,
    });
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe('2 1,5\n2 1,5');
  });

  it('leave their loop before they are terminated', async () => {
    const kept: Worker[] = [];
    class Kept extends Worker {
      override terminate() {
        kept.push(this); // as WebKit's, which does not end while it waits in WebAssembly
        return Promise.resolve(0);
      }
    }
    await withWorkers(Kept, async () => {
      const model = await load({ numThreads: 3 });
      expect((await model({ input_ids })).logits.dims).toEqual([16, 120, 512]);
      await model.dispose();
    });
    expect(kept.length).toBe(2);
    for (const worker of kept) {
      const { performance } = worker;
      let before = performance.eventLoopUtilization();
      const isIdle = () => {
        const { utilization } = performance.eventLoopUtilization(before);
        before = performance.eventLoopUtilization();
        return utilization < 0.5;
      };
      await vi.waitUntil(isIdle, { timeout: 5000, interval: 50 });
      await Worker.prototype.terminate.call(worker);
    }
  });

  it('are part of the inline entry', async () => {
    for (const worker of [false, true]) {
      const model = await inline.AutoModelForCausalLM.from_pretrained(storiesPath, { worker, numThreads: 2 });
      expect(model.info().threads.used).toBe(2);
      expect((await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 3 })).dims).toEqual([1, 5]);
      await model.dispose();
    }
  });

  it('come from configure too, also for functions and modules', async () => {
    configure({ numThreads: 2 });
    const model = await load({});
    expect(model.info().threads.used).toBe(2);
    await model.dispose();
    expect((await (await load({ numThreads: 1 })).info()).threads).toEqual({ used: 1, reason: 'numThreads is 1' });
    const run = async () => {
      const linear = new nn.Linear(64, 256);
      const size = [...Array(256 * 64).keys()];
      await linear.load_state_dict({
        weight: { data: Float32Array.from(size, (i) => Math.sin(i)), dims: [256, 64] },
        bias: { data: new Float32Array(256).fill(0.5), dims: [256] },
      });
      const x = { data: Float32Array.from(size, (i) => Math.cos(i)), dims: [256, 64] };
      return (await linear.forward(x)).data;
    };
    const shared = await run();
    configure({ numThreads: 1 });
    expect(shared).toEqual(await run());
  });
});

describe('one thread', () => {
  it('is the default outside browsers', async () => {
    for (const numThreads of ['auto', undefined] as const) {
      const model = await load({ numThreads });
      expect(model.info().threads.used).toBe(1);
      expect(model.info().threads.reason).toContain('outside browsers');
      await model.dispose();
    }
  });

  it('is used where workers do not start', async () => {
    const refuse = class {
      constructor() {
        throw new Error('no more of them');
      }
    };
    const fails = class extends Worker {
      constructor() {
        super('throw new Error("not here")', { eval: true });
      }
    };
    for (const [workers, word] of [
      [refuse, 'no more of them'],
      [fails, 'not here'],
    ] as const) {
      await withWorkers(workers, async () => {
        const model = await load({ numThreads: 3 });
        expect(model.info().threads.used).toBe(1);
        expect(model.info().threads.reason).toContain(word);
        expect((await model({ input_ids: [[1, 403]] })).logits.dims).toEqual([1, 2, 512]);
        await model.dispose();
      });
    }
  });

  it('is used where no memory can be shared', async () => {
    const { Memory } = WebAssembly;
    WebAssembly.Memory = class extends Memory {
      constructor(size: WebAssembly.MemoryDescriptor) {
        if (size.shared) throw new RangeError('Out of memory');
        super(size);
      }
    };
    try {
      const model = await load({ numThreads: 3 });
      expect(model.info().threads.used).toBe(1);
      expect(model.info().threads.reason).toContain('Out of memory');
      expect((await model({ input_ids: [[1, 403]] })).logits.dims).toEqual([1, 2, 512]);
      await model.dispose();
    } finally {
      WebAssembly.Memory = Memory;
    }
  });

  it('or several run the same bytes, or the same file', async () => {
    const wasmBinary = readFileSync(new URL('clearformer-simd128.wasm', dist));
    const server = await FileServer.start({ 'clearformer-simd128.wasm': new Uint8Array(wasmBinary) });
    for (const from of [{ wasmBinary }, { wasmUrl: `${server.url}/static/`, deterministic: true }]) {
      for (const numThreads of [1, 2]) {
        const model = await load({ ...from, numThreads });
        expect(model.info()).toMatchObject({ simd: 'simd128', threads: { used: numThreads } });
        expect((await model({ input_ids: [[1, 403]] })).logits.dims).toEqual([1, 2, 512]);
        await model.dispose();
      }
    }
    await server.stop();
    expect(wasmBinary).toEqual(readFileSync(new URL('clearformer-simd128.wasm', dist)));
  });

  it('or several do not run the WebAssembly of others', async () => {
    const wasmBinary = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    const failure = await failureOf(() => load({ wasmBinary }));
    expect(failure).toMatchObject({ code: 'wasm_unavailable', message: expect.stringContaining("not clearformer's") });
  });

  it('is not what another number is taken for', async () => {
    configure({ numThreads: -1 });
    const failure = await failureOf(() => load({}));
    expect(failure.code).toBe('invalid_argument');
    expect(failure.details.option).toBe('numThreads');
  });
});
