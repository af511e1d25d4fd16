// A model in a worker: the same results, aborts, reported deaths, and a process that may exit.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AutoModelForCausalLM, configure, type GenerativeModel, SGD } from 'clearformer';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { collectGarbage } from './support/garbage.js';
import { storiesPath } from './support/references.js';

const input_ids = [[1, 403, 407, 261, 378]];
const load = (worker: boolean) => AutoModelForCausalLM.from_pretrained(storiesPath, { worker, deterministic: true });
let here: GenerativeModel;
let there: GenerativeModel;
beforeAll(async () => {
  [here, there] = await Promise.all([load(false), load(true)]);
});
afterAll(() => Promise.all([here.dispose(), there.dispose()]));

describe('a model in a worker', () => {
  it('gives the same results, bit for bit', async () => {
    const options = { output_attentions: true, output_hidden_states: true };
    expect(await there({ input_ids }, options)).toEqual(await here({ input_ids }, options));
    expect(await there.run_with_cache({ input_ids })).toEqual(await here.run_with_cache({ input_ids }));
    const drawn = { max_new_tokens: 50, do_sample: true, seed: 3 };
    expect(await there.generate({ input_ids }, drawn)).toEqual(await here.generate({ input_ids }, drawn));
    expect(there.hooks()).toEqual(here.hooks());
    expect(there.cfg).toEqual(here.cfg);
    expect([here.info().worker, there.info().worker]).toEqual([false, true]);
    expect(there.info().heapBytes).toBe(here.info().heapBytes);
  });

  it('streams the same steps', async () => {
    const collect = async (model: GenerativeModel) => {
      const steps: unknown[] = [];
      for await (const step of model.generate_stream({ input_ids }, { max_new_tokens: 20, output_scores: true }))
        steps.push(step);
      return steps;
    };
    expect(await collect(there)).toEqual(await collect(here));
  });

  it('leaves what it was given whole', async () => {
    const given = { data: Int32Array.from(input_ids.flat()), dims: [1, 5] };
    await there({ input_ids: given });
    expect(Array.from(given.data)).toEqual(input_ids.flat());
  });

  it('keeps past_key_values on its side', async () => {
    const { past_key_values, logits } = await there({ input_ids }, { use_cache: true });
    expect((await past_key_values?.info())?.length).toBe(5);
    expect(logits.dims).toEqual([1, 5, 512]);
    const failure = await failureOf(() => here({ input_ids: [[1]], past_key_values }));
    expect(failure.message).toContain('another model');
    await past_key_values?.dispose();
  });

  it('keeps this thread free, and rejects at once when aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const running = there.generate(
      { input_ids },
      { max_new_tokens: 500, eos_token_id: null, signal: controller.signal },
    );
    setTimeout(() => controller.abort(reason), 50);
    await expect(running).rejects.toBe(reason);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
    expect((await there({ input_ids })).logits.dims).toEqual([1, 5, 512]); // it continues to work
  });

  it('keeps no cache of a call that is aborted', async () => {
    await using model = await load(true);
    const { past_key_values } = await model({ input_ids }, { use_cache: true });
    const { cache } = model.info().memory;
    for (let at = 0; at < 60; at++) {
      const controller = new AbortController();
      const { signal } = controller;
      const given = at % 2 === 0 ? { input_ids } : { input_ids: [[5]], past_key_values };
      const call = model(given, { use_cache: true, signal }).then(
        async (output) => void (at % 2 === 0 && (await output.past_key_values?.dispose())),
        () => {},
      );
      setTimeout(() => controller.abort(), (at % 20) / 4);
      await call;
      await past_key_values?.crop(5);
    }
    await model({ input_ids });
    expect(model.info().memory.cache).toBe(cache);
    expect((await past_key_values?.info())?.length).toBe(5);
  });

  it('drops calls that are aborted before they begin', async () => {
    const long = new Array(200).fill(403);
    const timed = async (work: () => Promise<unknown>) => {
      const begun = performance.now();
      await work();
      return performance.now() - begun;
    };
    await there({ input_ids: [long] });
    const one = await timed(() => there({ input_ids: [long] }));
    const signals = Array.from({ length: 100 }, () => new AbortController());
    const calls = signals.map(({ signal }) =>
      there({ input_ids: [long] }, { signal }).catch((thrown: unknown) => thrown),
    );
    for (const controller of signals) controller.abort('none of them');
    expect(await Promise.all(calls)).toEqual(new Array(100).fill('none of them'));
    expect(await timed(() => there({ input_ids: [long] }))).toBeLessThan(25 * one + 50);
  });

  it('resolves a call that was complete before its abort', async () => {
    const { past_key_values } = await there({ input_ids }, { use_cache: true });
    const aborted = async <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const controller = new AbortController();
      const running = call(controller.signal);
      await new Promise((sent) => setImmediate(sent));
      for (const begun = performance.now(); performance.now() - begun < 200; ); // its answer waits for this thread
      controller.abort();
      return running;
    };
    const { logits } = await aborted((signal) => there({ input_ids: [[5]], past_key_values }, { signal }));
    expect(logits.dims).toEqual([1, 1, 512]);
    expect(await past_key_values?.get_seq_length()).toBe(6);
    const ids = [[...(input_ids[0] as number[]), 5, 6]];
    const given = { input_ids: ids, past_key_values };
    const steps = there.generate_stream(given, { max_new_tokens: 5 });
    expect((await steps.next()).done).toBe(false);
    expect(await past_key_values?.get_seq_length()).toBe(7);
    await steps.return();
    await past_key_values?.dispose();
    await using optimizer = new SGD(there, { lr: 1e-3 });
    const lessons = { input_ids, labels: input_ids };
    await optimizer.backward(lessons); // made
    await optimizer.step();
    expect(await aborted((signal) => optimizer.backward(lessons, { signal }))).toBeGreaterThan(0);
    await optimizer.step();
  });

  it('releases a stream that is forgotten', async () => {
    await using model = await load(true);
    await model({ input_ids });
    const { cache } = model.info().memory;
    const controller = new AbortController();
    const { signal } = controller;
    for (let i = 0; i < 5; i++) await model.generate_stream({ input_ids }, { signal }).next();
    await model({ input_ids });
    expect(model.info().memory.cache).toBeGreaterThan(cache);
    await collectGarbage();
    await model({ input_ids });
    expect(model.info().memory.cache).toBe(cache);
    controller.abort();
  });

  it('rejects what is under way when it is disposed of', async () => {
    const model = await load(true);
    const calls = [model({ input_ids }), model.generate({ input_ids }, { max_new_tokens: 300 })];
    const failures = Promise.all(calls.map((call) => failureOf(() => call)));
    await model.dispose();
    expect((await failures).map((failure) => failure.code)).toEqual(['disposed', 'disposed']);
  });

  it('lets the process end', async () => {
    const script = `
      import { AutoModelForCausalLM } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
      const model = await AutoModelForCausalLM.from_pretrained(${JSON.stringify(storiesPath)}, { worker: true });
      console.log((await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 3 })).dims.join());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 20_000,
    });
    expect(stdout.trim()).toBe('1,5');
  });
});

describe('a process of Node', () => {
  /** What a script prints that may use the package as `from`. */
  const printed = async (entry: string, script: string, ...flags: string[]) => {
    const text = `
      const from = await import(${JSON.stringify(new URL(`../../dist/${entry}.js`, import.meta.url).href)});
      const load = (options) => from.AutoModelForCausalLM.from_pretrained(${JSON.stringify(pathToFileURL(storiesPath))}, options);
      const messageOf = (call) => call.then(() => '', ({ code, message }) => code + ': ' + message);
      const hooked = (model) => model.run_with_hooks({ input_ids: [[1]] }, { fwd_hooks: [['blocks.0.hook_resid_pre', (value) => value]] });
      ${script}`;
    const args = ['--no-warnings', ...flags, '--input-type=module', '-e', text];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
    return stdout.trim().split('\n');
  };
  const generates = `console.log((await (await load()).generate({ input_ids: [[1, 403]], max_new_tokens: 3 })).dims.join());`;

  it.each(['index', 'node'])('whose directory was deleted loads by addresses (%s.js)', async (entry) => {
    const leave = `
      const { chdir, getBuiltinModule } = process;
      const { mkdtempSync, rmdirSync } = getBuiltinModule('node:fs');
      const folder = mkdtempSync(${JSON.stringify(join(tmpdir(), 'clearformer-'))});
      chdir(folder);
      rmdirSync(folder);`;
    const told = await printed(
      entry,
      `${leave}
      ${generates}
      console.log((await load({ numThreads: 2 })).info().threads.reason);
      console.log(await messageOf(load({ worker: true })));
      from.configure({ workerUrl: './worker.js' });
      console.log(await messageOf(load({ worker: true })));`,
    );
    expect(told[0]).toBe('1,5');
    // Node itself starts no worker there.
    for (const line of told.slice(1, 3)) expect(line).toContain('start Node in a directory that exists');
    expect(told[3]).toBe(
      "invalid_argument: workerUrl: './worker.js' is no URL: the working directory does not exist any more",
    );
  });

  it('that may start no workers, or make no functions, is told its flag', async () => {
    const permission = ['--permission', '--experimental-permission'].find((flag) =>
      process.allowedNodeEnvironmentFlags.has(flag),
    ) as string;
    const script = `
      console.log(await messageOf(load({ worker: true })));
      console.log((await load({ numThreads: 2 })).info().threads.reason);`;
    const told = await printed('node', script, permission, '--allow-fs-read=*');
    for (const line of told) expect(line).toContain('start Node with --allow-worker, or pass worker: false');
    expect(told.length).toBe(2);
    const [refused] = await printed(
      'node',
      'console.log(await messageOf(load({ worker: true }).then(hooked))); process.exit();',
      '--disallow-code-generation-from-strings',
    );
    expect(refused).toContain("Node's --disallow-code-generation-from-strings forbids functions from their source");
  });

  it.each(['index', 'node'])(
    'runs with members on Object.prototype, and without setImmediate (%s.js)',
    async (entry) => {
      const spoilt = 'data:text/javascript,Object.prototype.polluted = "x";';
      expect(await printed(entry, generates, '--import', spoilt)).toEqual(['1,5']);
      expect(await printed(entry, `globalThis.setImmediate = () => {}; ${generates}`)).toEqual(['1,5']);
    },
  );
});

describe('a worker that fails', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clearformer-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => configure({ workerUrl: undefined }));

  async function loadWith(name: string, text: string): Promise<GenerativeModel> {
    await writeFile(join(folder, name), text);
    configure({ workerUrl: pathToFileURL(join(folder, name)) });
    return load(true);
  }

  it.each([
    ['missing.mjs', undefined, 'missing.mjs'],
    ['page.mjs', '<!doctype html>', '<'],
    ['throws.mjs', 'throw new Error("no thanks")', 'no thanks'],
    ['ends.mjs', 'process.exit(3)', 'code 3'],
  ])('to start (%s) is told, with the remedy', async (name, text, word) => {
    configure({ workerUrl: pathToFileURL(join(folder, name)) });
    const failure = await failureOf(() => (text === undefined ? load(true) : loadWith(name, text)));
    expect(failure.code).toBe('worker_failed');
    expect(failure.message).toContain(word);
  });

  it('since its address is none is told, and a relative one is found', async () => {
    configure({ workerUrl: 'http://[' });
    const failure = await failureOf(() => load(true));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', "workerUrl: 'http://[' is no URL"]);
    configure({ workerUrl: relative('.', fileURLToPath(new URL('../../dist/worker.js', import.meta.url))) });
    const model = await load(true);
    expect(model.info().worker).toBe(true);
    await model.dispose();
  });

  it('later rejects the calls under way and all after them', async () => {
    const real = new URL('../../dist/worker.js', import.meta.url).href;
    const model = await loadWith(
      'dies.mjs',
      `
      import { parentPort } from 'node:worker_threads';
      await import(${JSON.stringify(real)});
      parentPort.on('message', ({ name }) => name === 'generation_create' && process.exit(9));`,
    );
    expect((await model({ input_ids })).logits.dims).toEqual([1, 5, 512]);
    const failures = await Promise.all([
      failureOf(() => model.generate({ input_ids }, { max_new_tokens: 5 })),
      failureOf(() => model.generate({ input_ids }, { max_new_tokens: 5 })),
    ]);
    expect(failures.map((failure) => failure.code)).toEqual(['worker_failed', 'worker_failed']);
    const after = await failureOf(() => model({ input_ids }));
    expect(after.code).toBe('worker_failed');
    expect(after.message).toContain('code 9');
    await model.dispose();
  });
});
