// Workers that die while a model loads and while it runs, by terminate(), from inside and by traps, at any moment: in
// Node, also with threads. No promise hangs, each failure is typed, nothing leaks and a new load works.

import { getEventListeners } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  AutoModelForCausalLM,
  configure,
  type GenerativeModel,
  type LoadOptions,
  logitDifference,
  pipeline,
  SGD,
  sweep,
} from 'clearformer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  dyingScript,
  kills,
  type Manner,
  manners,
  moments,
  type Outcome,
  outcomeOf,
  problemsOf,
} from './support/deaths.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

const input_ids = [[1, 403, 407, 261, 378]];
const load = (options: LoadOptions = {}) =>
  AutoModelForCausalLM.from_pretrained(storiesPath, { worker: true, deterministic: true, ...options });
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
const running = () => readdirSync('/proc/self/task').length;

// All workers started, so that a test can kill them without their starter knowing.
const threads = process.getBuiltinModule('node:worker_threads');
const RealWorker = threads.Worker;
const started: InstanceType<typeof RealWorker>[] = [];
const terminate = (worker: InstanceType<typeof RealWorker> | undefined) =>
  worker && RealWorker.prototype.terminate.call(worker);

let folder: string;
let expected: ArrayLike<number>;
beforeAll(async () => {
  threads.Worker = class extends RealWorker {
    constructor(...given: ConstructorParameters<typeof RealWorker>) {
      super(...given);
      started.push(this);
    }
  };
  folder = mkdtempSync(join(tmpdir(), 'clearformer-deaths-'));
  await using model = await load();
  expected = (await model({ input_ids })).logits.data;
});
afterAll(() => {
  threads.Worker = RealWorker;
  rmSync(folder, { recursive: true });
});
afterEach(() => configure({ workerUrl: undefined, timeout: undefined }));

/** After a kill: a new load gives the same numbers. */
async function worksAgain(): Promise<void> {
  configure({ workerUrl: undefined });
  await using model = await load();
  expect((await model({ input_ids })).logits.data).toEqual(expected);
}

/** The duration of a load and its use here, in milliseconds. */
async function duration(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Makes the next worker die after that many milliseconds; returns the moment, known once it has come. */
function killNext(manner: Manner, after: number): () => number {
  let killed = Number.NaN;
  const at = performance.now() + after;
  const first = started.length;
  if (manner === 'terminate') {
    configure({ workerUrl: undefined });
    void sleep(after).then(() => {
      killed = performance.now();
      return terminate(started[first]);
    });
  } else {
    const file = join(folder, `${manner}-${first}.mjs`);
    writeFileSync(file, dyingScript(new URL('../../dist/worker.js', import.meta.url).href, manner, after));
    configure({ workerUrl: pathToFileURL(file) });
  }
  return () => (Number.isNaN(killed) ? at : killed);
}

const uses = 9;
const metric = logitDifference(5, 6);
const zeroed = { hook: 'hook_embed', op: 'zero' } as const;

async function trained(model: GenerativeModel, signal: AbortSignal): Promise<void> {
  const optimizer = new SGD(model);
  await optimizer.backward({ input_ids, labels: input_ids }, { signal });
  await optimizer.step();
  await optimizer.dispose();
}

async function useOf(model: GenerativeModel, which: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (which === 0) await model({ input_ids }, { signal });
    if (which === 1) await model.generate({ input_ids }, { max_new_tokens: 400, eos_token_id: null, signal });
    if (which === 2) for await (const _ of model.generate_stream({ input_ids }, { max_new_tokens: 400, signal }));
    if (which === 3) await model.run_with_cache({ input_ids }, { signal });
    if (which === 4)
      await model.run_with_hooks({ input_ids }, { signal, edits: [{ hook: 'hook_embed', op: 'scale', value: 2 }] });
    if (which === 5) await model.run_with_cache({ input_ids }, { names_filter: 'blocks.0.*', signal });
    if (which === 6) await model.backward({ input_ids }, { metric: { labels: input_ids }, signal });
    if (which === 7) await trained(model, signal);
    if (which === 8) await sweep(model, { base: { input_ids }, interventions: [zeroed], metric, signal });
  }
}

describe.each(manners)('%s', (manner) => {
  it('while it loads', async () => {
    const whole = await duration(async () => (await load()).dispose());
    const outcomes: Outcome[] = [];
    for (const after of moments(kills, 1.2 * whole, 1)) {
      const { signal } = new AbortController();
      const killed = killNext(manner, after);
      let model: GenerativeModel | undefined;
      const loading = outcomeOf(async () => {
        model = await load({ signal });
      }, killed);
      outcomes.push(await loading);
      await model?.dispose();
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    }
    expect(problemsOf(outcomes, manner)).toEqual([]);
    await worksAgain();
  });

  it('while it runs', async () => {
    const outcomes: Outcome[] = [];
    const whole = await duration(async () => (await load()).dispose());
    for (const [i, after] of moments(kills, 60, 2).entries()) {
      const killed = killNext(manner, whole + 100 + after);
      const loaded = await load().catch(() => undefined);
      if (loaded === undefined) continue; // a machine so busy that the load took longer
      const { signal } = new AbortController();
      outcomes.push(await outcomeOf(() => useOf(loaded, (3 * manners.indexOf(manner) + i) % uses, signal), killed));
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
      expect((await failureOf(() => loaded({ input_ids }))).code).toMatch(/worker_failed|poisoned/);
      await loaded.dispose();
      await loaded.dispose();
    }
    expect(problemsOf(outcomes, manner)).toEqual([]);
    expect(outcomes.filter(({ code }) => code === 'value')).toEqual([]);
    await worksAgain();
  });
});

describe('a pipeline', () => {
  it('rejects, too, and is disposed of', async () => {
    const writer = await pipeline('text-generation', storiesPath, { worker: true });
    const outcome = outcomeOf(
      () => writer('Once', { max_new_tokens: 400 }),
      () => performance.now(),
    );
    await sleep(30);
    await terminate(started.at(-1));
    expect((await outcome).code).toBe('worker_failed');
    await writer.dispose();
  });
});

describe('a thread of the pool', () => {
  it.each([true, false])('that ends is told (worker: %s)', async (worker) => {
    const long = { input_ids: Array.from({ length: 24 }, () => Array.from({ length: 100 }, (_, i) => 3 + i)) };
    for (const after of moments(3, 40, 3)) {
      const model = await load({ worker, numThreads: 3 });
      expect(model.info().threads.used).toBe(3);
      await model({ input_ids });
      const outcome = outcomeOf(
        async () => {
          for (;;) {
            await model(worker ? long : { input_ids });
            await sleep(1); // a blocked thread receives no messages
          }
        },
        () => performance.now(),
      );
      await sleep(after);
      void started.at(-1)?.terminate();
      const { code, message } = await outcome;
      expect(code).toBe(worker ? 'worker_failed' : 'poisoned');
      expect(message).toContain('thread of the pool');
      await model.dispose();
    }
    await worksAgain();
  });
});

describe('a worker', () => {
  it('that says nothing is given up', async () => {
    const silent = join(folder, 'silent.mjs');
    writeFileSync(silent, 'setInterval(() => {}, 1000)');
    configure({ workerUrl: pathToFileURL(silent), timeout: 300 });
    const failure = await failureOf(() => load());
    expect(failure.code).toBe('worker_failed');
    expect(failure.message).toContain('said nothing for 3000 ms');
    configure({ timeout: undefined });
    await worksAgain();
  });

  it('that dies while a server is silent ends the load', async () => {
    const stalled = new Promise<Response>(() => {});
    configure({ fetch: () => stalled });
    const first = started.length;
    const loading = failureOf(() =>
      AutoModelForCausalLM.from_pretrained('http://stalled.test/model/', { worker: true }),
    );
    await vi.waitUntil(() => started.length > first);
    await sleep(200);
    await terminate(started[first]);
    expect((await loading).code).toBe('worker_failed');
    configure({ fetch: undefined });
  });

  it.skipIf(process.platform !== 'linux')('leaves no thread behind', async () => {
    const before = running();
    for (const manner of manners) {
      killNext(manner, 20);
      const model = await load({ numThreads: 3 }).catch(() => undefined);
      if (model) await failureOf(() => useOf(model, 0, new AbortController().signal));
      await model?.dispose();
    }
    await vi.waitUntil(() => running() <= before + 1, { timeout: 10_000, interval: 20 });
  });
});
