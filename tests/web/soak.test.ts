// Memory and handles do not grow with the number of calls and of models. `npm run soak` has larger numbers.

import { AutoModelForCausalLM } from 'clearformer';
import { expect, it } from 'vitest';

import { collectGarbage } from './support/garbage.js';
import { fixturePath } from './support/references.js';
import { generateOften, grownBy, loadOften, soakTimes, type Usage } from './support/soak.js';

/** The smallest model of the fixtures. */
const path = fixturePath('models/gpt2/even');

/** Of this process, in bytes; and what keeps it alive, but for the timers of the test runner. */
async function used(): Promise<Usage> {
  await collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().filter((kind) => kind !== 'Timeout' && kind !== 'Immediate').length;
  return { heapUsed, arrayBuffers, rss, handles };
}
/** Between equal moments the heap differs by 200 kB; the allocator of the process keeps some pages. */
const allowed = { heapUsed: 300e3, arrayBuffers: 10e3, rss: 30e6 };

it('generate', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(path, { worker: false });
  const all = async (): Promise<Usage> => {
    const own = await used(); // caches of results that nobody holds are released here
    const { heapBytes, memory } = model.info();
    const { peak: _, ...core } = memory;
    return { ...own, heapBytes, ...core };
  };
  expect(await grownBy(soakTimes.calls, (count) => generateOften(model, count), all, allowed)).toEqual([]);
  expect(model.info().memory.cache).toBe(0);
  await model.dispose();
});

it.each([
  ['in this thread', false, soakTimes.models],
  ['in workers', true, soakTimes.modelsInWorkers],
] as const)('load and dispose %s', async (_, worker, count) => {
  const work = (count: number) => loadOften(AutoModelForCausalLM, path, worker, count);
  expect(await grownBy(count, work, used, allowed)).toEqual([]);
});
