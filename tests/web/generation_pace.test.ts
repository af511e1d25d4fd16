// Slow steps: an abort ends them within a layer, and other calls do not interleave.

import { AutoModelForCausalLM, type GenerativeModel } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storiesPath } from './support/references.js';

describe.each([
  ['in this thread', false],
  ['in a worker', true],
])('a long step %s', (_, worker) => {
  let model: GenerativeModel;
  const rows = (batch: number, length: number) => ({
    input_ids: Array.from({ length: batch }, (_, row) => new Array<number>(length).fill(403 + row)),
  });
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { worker });
  });
  afterAll(() => model.dispose());
  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };

  it('ends within a layer when the signal aborts, and leaves the cache as it was', async () => {
    const long = rows(8, 300);
    const { past_key_values } = await model(rows(8, 1), { use_cache: true });
    const generate = (signal?: AbortSignal) =>
      model.generate({ ...long, past_key_values }, { max_new_tokens: 1, eos_token_id: null, signal });
    const whole = await timed(() => generate());
    await past_key_values?.crop(1);
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), whole / 10);
    const aborted = await timed(async () => {
      await expect(generate(controller.signal)).rejects.toBe(reason);
      expect((await past_key_values?.info())?.length).toBe(1); // requested after an abandoned step
    });
    expect(aborted).toBeLessThan(whole * 0.7);
    expect((await generate()).dims).toEqual([8, 301]);
    await past_key_values?.dispose();
  });

  it('does not disturb other calls', async () => {
    const long = rows(3, 150); // several iterations of the event loop
    const options = { max_new_tokens: 2, eos_token_id: null, num_beams: 2 };
    const alone = [];
    for (let i = 0; i < 2; i++) alone.push(await model.generate(long, { ...options, num_beams: i + 1 }));
    const [first, second, forward] = await Promise.all([
      model.generate(long, { ...options, num_beams: 1 }),
      model.generate(long, options),
      model(long),
    ]);
    expect(first.data).toEqual(alone[0]?.data);
    expect(second.data).toEqual(alone[1]?.data);
    expect(forward.logits.data).toEqual((await model(long)).logits.data);
  });
});
