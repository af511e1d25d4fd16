// What models of which some layers have no attention must do as others: sweeps, and conversations with a cache.

import {
  type AutoModelForCausalLM,
  DynamicCache,
  type Message,
  patchActivations,
  pipeline,
  type Tensor,
} from 'clearformer';
import { expect } from 'vitest';
import { filesOf, pipelineCase } from './pipeline_cases.js';

type Floats = Tensor<'float32'>;
type Loaded = Awaited<ReturnType<typeof AutoModelForCausalLM.from_pretrained>>;

/** A sweep over all layers and positions gives the bits of whole passes, whatever it shares between them. */
export async function expectSweepOfWholePasses(
  model: Loaded,
  ids: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
): Promise<void> {
  const metric = (logits: Floats) => logits.data.at(-1) as number;
  const [clean, corrupted] = [{ input_ids: ids }, { input_ids: other }];
  const { patched, hooks } = await patchActivations(model, { clean, corrupted, metric });
  const [, cache] = await model.run_with_cache(clean, { names_filter: 'blocks.*.hook_resid_pre' });
  for (const [layer, hook] of hooks.entries()) {
    for (let pos = 0; pos < (ids[0]?.length ?? 0); pos++) {
      const value = (cache[hook] as Floats).slice(null, pos);
      const out = await model.run_with_hooks(corrupted, { edits: [{ hook, op: 'replace', value, pos }] });
      expect(patched.slice(layer, pos).item()).toBe(metric(out));
    }
  }
}

/** A conversation whose answer cannot be taken back from the cache is answered as without one. */
export async function expectAnswersAgain(checkpoint: string, max_new_tokens: number): Promise<void> {
  const files = { ...filesOf(pipelineCase('texts')), ...filesOf({ ...pipelineCase('texts'), checkpoint }) };
  await using pipe = await pipeline('text-generation', files, { worker: false });
  await using past_key_values = new DynamicCache();
  const chat_template = '{% for m in messages %}{{ m.content }} {% endfor %}';
  const settings = { chat_template, max_new_tokens, eos_token_id: null };
  const messages: Message[] = [{ role: 'user', content: 'the man' }];
  const usual = await pipe(messages, settings);
  for (const _ of ['once', 'again']) expect(await pipe(messages, { ...settings, past_key_values })).toEqual(usual);
}
