// Memory and handles do not grow with the number of calls and of models. `npm run soak` has larger numbers.

import {
  AdamW,
  AutoModelForCausalLM,
  clip_grad_norm_,
  logitDifference,
  type PreTrainedModel,
  sweep,
} from 'clearformer';
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

/** With the memory of the model's core. */
const usedWith = (model: PreTrainedModel) => async (): Promise<Usage> => {
  const own = await used(); // caches of results that nobody holds are released here
  const { heapBytes, memory } = model.info();
  const { peak: _, ...core } = memory;
  return { ...own, heapBytes, ...core };
};

it('generate', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(path, { worker: false });
  const all = usedWith(model);
  expect(await grownBy(soakTimes.calls, (count) => generateOften(model, count), all, allowed)).toEqual([]);
  expect(model.info().memory.cache).toBe(0);
  await model.dispose();
});

it('gradients, training, edits of weights, sweeps', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker: false });
  const input_ids = [[1, 5, 9]];
  const batch = { input_ids, labels: input_ids };
  const edits = [{ hook: 'blocks.0.attn.hook_z', op: 'scale', value: 0.5 }] as const;
  const with_respect_to = { hooks: '*', weights: '*', edits: [0] } as const;
  const ways: (() => Promise<unknown>)[] = [
    () => model.backward({ input_ids }, { metric: { labels: input_ids }, edits, with_respect_to }),
    async () => {
      await model.load_adapter(fixturePath('adapters/gpt2'), { adapter_name: 'a' });
      const optimizer = new AdamW(model, { adapter: 'a' });
      await optimizer.backward(batch);
      await clip_grad_norm_(optimizer, 1);
      await optimizer.step();
      await optimizer.dispose();
      await model.delete_adapter('a');
    },
    async () => {
      await model.edit_parameter('blocks.0.attn.W_Q', { op: 'scale', value: 2 });
      await model.backward({ input_ids }, { metric: { labels: [[1, 5, 999]] } }).catch(() => {});
      await model.undo_edits();
    },
    () => sweep(model, { base: { input_ids }, interventions: [edits], metric: logitDifference(5, 6) }),
  ];
  const work = async (count: number) => {
    for (let i = 0; i < count; i++) await ways[i % ways.length]?.();
  };
  expect(await grownBy(soakTimes.changes, work, usedWith(model), allowed)).toEqual([]);
  await model.dispose();
});

it.each([
  ['in this thread', false, soakTimes.models],
  ['in workers', true, soakTimes.modelsInWorkers],
] as const)('load and dispose %s', async (_, worker, count) => {
  const work = (count: number) => loadOften(AutoModelForCausalLM, path, worker, count);
  expect(await grownBy(count, work, used, allowed)).toEqual([]);
});
