// Sweeps over models in a page's workers: the values of passes one by one, bit for bit, with one model and with two;
// aborted, resumed and streamed.

import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { launchChromium } from './chromium.js';
import { runInPage, withPage } from './project_page.js';

const entry = new URL('../../../dist/index.js', import.meta.url).href;
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Also runs in pages, where models are in workers. */
async function swept([entry, root]: [string, string]) {
  const { AutoModelForCausalLM, logitDifference, sweep, sweep_stream } = (await import(
    entry
  )) as typeof import('clearformer');
  const load = () =>
    AutoModelForCausalLM.from_pretrained(`${root}tests/fixtures/models/gpt2/even`, { deterministic: true });
  const model = await load();
  const base = { input_ids: [[5, 17, 40, 5, 17, 9]] };
  const interventions = [0, 1].flatMap((layer) =>
    [0, 1, 2, 3].map((head) => ({ hook: `blocks.${layer}.attn.hook_z`, head, op: 'zero' }) as const),
  );
  const metric = logitDifference(40, 9);
  const alone: number[] = [];
  for (const edit of interventions)
    alone.push(Number(await metric(await model.run_with_hooks(base, { edits: [edit] }))));
  const { base: clean, values } = await sweep(model, { base, interventions, metric });
  const shared = await sweep(load, { base, interventions, metric, workers: 2 });
  const stopping = new AbortController();
  const resume: (number | null)[] = interventions.map(() => null);
  const stopped = await sweep(model, {
    ...{ base, interventions, metric, signal: stopping.signal },
    onResult({ index, value }) {
      resume[index] = value;
      stopping.abort('enough');
    },
  }).catch((reason: unknown) => reason);
  const known = resume.filter((value) => value !== null).length;
  const resumed = await sweep(model, { base, interventions, metric, resume });
  const streamed: number[] = [];
  for await (const { index, value } of sweep_stream(model, { base, interventions, metric })) streamed[index] = value;
  const { worker } = model.info();
  await model.dispose();
  return { worker, clean, alone, values, shared: shared.values, stopped, known, resumed: resumed.values, streamed };
}

it('gives the values of passes one by one, which are those in Node', async () => {
  const browser = await launchChromium();
  const there = await withPage(browser, {}, (page) => runInPage(page, swept, ['/dist/index.js', '/']));
  await browser.close();
  const here = await swept([entry, root]);
  expect([there.worker, here.worker]).toEqual([true, false]);
  for (const { alone, values, shared, resumed, streamed, stopped, known } of [there, here]) {
    expect(new Set(alone).size).toBe(8);
    for (const found of [values, shared, resumed, streamed]) expect(found).toEqual(alone);
    expect(stopped).toBe('enough');
    expect(known).toBeGreaterThan(0);
    expect(known).toBeLessThan(8);
  }
  expect([there.clean, ...there.alone]).toEqual([here.clean, ...here.alone]);
});
