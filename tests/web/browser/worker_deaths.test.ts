// Workers that die while a model loads and while it runs, in Chromium and Firefox: browsers report neither terminate()
// nor a worker's own close() by an event. On pages with locks and, in Chromium, on one served by plain http, which has
// none.

import type { Server } from 'node:http';
import type { Browser } from 'playwright-core';
import puppeteer, { type Browser as Firefox } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dyingScript,
  kills,
  type Manner,
  manners,
  moments,
  type Outcome,
  outcomeOf,
  problemsOf,
} from '../support/deaths.js';
import { firefoxPath } from './book/firefox.js';
import { launchChromium } from './chromium.js';
import { isolation } from './page_server.js';
import { pageProgram, serveProject } from './project_page.js';

interface Order {
  kills: { manner: Manner; after: number }[];
  phase: 'load' | 'run';
  numThreads: number;
}

/** In the page: the outcome of each kill, and whether a new load works in the end. */
async function died({ kills, phase, numThreads }: Order): Promise<{ outcomes: Outcome[]; again: boolean }> {
  const entry = '/dist/index.js';
  const { AutoModelForCausalLM, configure } = await import(entry);
  configure({ timeout: 3000 }); // on a busy machine a script dies before its first message: the timeout for that
  const input_ids = [[1, 403, 407, 261, 378]];
  const load = () =>
    AutoModelForCausalLM.from_pretrained('/web/demo/public/models/stories260K', { deterministic: true, numThreads });
  const numbers = async () => {
    const model = await load();
    const { logits } = await model({ input_ids });
    await model.dispose();
    return logits.data.join();
  };
  const expected = await numbers();
  const started: Worker[] = [];
  const RealWorker = Worker;
  globalThis.Worker = class extends RealWorker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      started.push(this);
    }
  };
  const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const outcomes: Outcome[] = [];
  for (const [i, { manner, after }] of kills.entries()) {
    let killed = Number.NaN;
    if (phase === 'run') configure({ workerUrl: undefined });
    const kill = async () => {
      await sleep(after);
      killed = performance.now();
      // Of those terminated from outside, half by the usual method and half by one that nothing observes: then Chromium
      // lets a thread that computes or waits continue for two seconds.
      const victim = started.at(-1) as Worker;
      if (manner === 'terminate')
        i % 2 === 1 || numThreads > 1 ? victim.terminate() : RealWorker.prototype.terminate.call(victim);
    };
    const moment = () => (Number.isNaN(killed) ? performance.now() : killed);
    const blob = (text: string) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const dying = (after: number) => blob(dyingScript(new URL('/dist/worker.js', location.href).href, manner, after));
    if (phase === 'load') {
      if (manner !== 'terminate') configure({ workerUrl: dying(after) });
      void kill();
      let model: { dispose(): Promise<void> } | undefined;
      const loading = async () => {
        model = await load();
      };
      outcomes.push(await outcomeOf(loading, moment));
      await model?.dispose();
    } else {
      const slow = 600; // the load is over by then
      if (manner !== 'terminate') configure({ workerUrl: dying(slow + after) });
      const begun = performance.now();
      const model = await load().catch(() => undefined);
      if (model === undefined) continue;
      await sleep(slow - (performance.now() - begun));
      void kill();
      const use = async () => {
        for (;;) {
          if (i % 3 === 0) await model({ input_ids });
          if (i % 3 === 1) await model.generate({ input_ids }, { max_new_tokens: 400, eos_token_id: null });
          if (i % 3 === 2) for await (const _ of model.generate_stream({ input_ids }, { max_new_tokens: 400 }));
        }
      };
      outcomes.push(await outcomeOf(use, moment));
      await model.dispose();
    }
    configure({ workerUrl: undefined });
  }
  globalThis.Worker = RealWorker;
  return { outcomes, again: (await numbers()) === expected };
}

const programFor = (order: Order): string => pageProgram(died, order, dyingScript, outcomeOf);

type Result = Awaited<ReturnType<typeof died>>;
interface Place {
  name: string;
  phases: readonly Order['phase'][];
  manners: readonly Manner[];
  numThreads: number;
  run(order: Order): Promise<Result>;
}

let server: Server;
let url: string;
let browser: Browser;
let firefox: Firefox | undefined;
beforeAll(async () => {
  ({ server, url } = await serveProject(isolation));
  browser = await launchChromium(['--host-resolver-rules=MAP plain.test 127.0.0.1']);
  if (firefoxPath)
    firefox = await puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
});
afterAll(async () => {
  await browser.close();
  await firefox?.close();
  server.close();
});

async function inChromium(address: string, order: Order): Promise<Result> {
  const page = await browser.newPage();
  try {
    await page.goto(address);
    return await page.evaluate(programFor(order));
  } finally {
    await page.close();
  }
}

async function inFirefox(order: Order): Promise<Result> {
  const page = await (firefox as Firefox).newPage();
  try {
    await page.goto(url);
    return (await page.evaluate(programFor(order))) as Result;
  } finally {
    await page.close();
  }
}

const both = ['load', 'run'] as const;
/** Deaths without an event. With KILLS all combinations are tested. */
const untold: readonly Manner[] = process.env.KILLS ? manners : ['terminate', 'close'];
const few = process.env.KILLS ? kills : 3;
const places: Place[] = [
  { name: 'Chromium', phases: both, manners, numThreads: 1, run: (order) => inChromium(url, order) },
  {
    name: 'Chromium, two threads',
    phases: ['run'],
    manners: ['terminate'],
    numThreads: 2,
    run: (order) => inChromium(url, order),
  },
  {
    name: 'Chromium, plain http',
    phases: both,
    manners: untold,
    numThreads: 1,
    run: (order) => inChromium(url.replace('127.0.0.1', 'plain.test'), order),
  },
  ...(firefoxPath ? [{ name: 'Firefox', phases: both, manners: untold, numThreads: 1, run: inFirefox }] : []),
];

describe.each(places)('$name', ({ phases, manners, numThreads, run }) => {
  describe.each(phases)('while it %ss', (phase) => {
    it.each(manners)('%s', async (manner) => {
      const order = moments(few, phase === 'load' ? 250 : 60, 4).map((after) => ({ manner, after }));
      const { outcomes, again } = await run({ kills: order, phase, numThreads });
      expect(problemsOf(outcomes, manner), JSON.stringify(outcomes)).toEqual([]);
      if (phase === 'run') expect(outcomes.filter(({ code }) => code === 'value')).toEqual([]);
      expect(again).toBe(true);
      if (process.env.KILLS)
        console.log(phase, manner, JSON.stringify(outcomes.map(({ code, ms }) => [code, Math.round(ms)])));
    });
  });

  it('right after its first word', async () => {
    const { outcomes, again } = await run({ kills: [{ manner: 'word', after: 0 }], phase: 'load', numThreads });
    expect(outcomes.map(({ code }) => code)).toEqual(['worker_failed']);
    expect(again).toBe(true);
  });
});
