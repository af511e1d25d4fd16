// Random calls of a model with random arguments, through the package and its bindings: each ends in a typed error or a
// result, and in between the model computes the same bits. Random calls of the primitives: misuse.test.ts.

import { AutoModelForCausalLM } from 'clearformer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anything, fuzz, mostly, some } from '../support/fuzzing.js';
import { storiesPath } from '../support/references.js';

const ids = mostly(
  fc.array(fc.array(mostly(fc.nat(511)), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
);
const inputs = fc.oneof(
  { weight: 6, arbitrary: some({ input_ids: ids, attention_mask: mostly(fc.constant([[1, 1]])), position_ids: ids }) },
  { weight: 4, arbitrary: fc.record({ input_ids: fc.constant([[1, 403]]) }) },
  { weight: 1, arbitrary: anything },
);
const few = mostly(fc.integer({ min: 1, max: 3 }));
const share = mostly(fc.double({ min: 0, max: 1 }));
const generation = some({
  max_new_tokens: few,
  min_new_tokens: few,
  num_beams: few,
  num_return_sequences: few,
  do_sample: mostly(fc.boolean()),
  temperature: share,
  top_k: few,
  top_p: share,
  repetition_penalty: share,
  no_repeat_ngram_size: few,
  bad_words_ids: mostly(fc.constant([[3], [4, 5]])),
  eos_token_id: mostly(fc.nat(511)),
  early_stopping: mostly(fc.constantFrom(true, 'never')),
  seed: mostly(fc.nat()),
  max_time: share,
  output_scores: mostly(fc.boolean()),
  nonsense: anything,
}).map((options) => ({ max_new_tokens: 2, ...options }));
const observation = some({
  names_filter: mostly(fc.constantFrom<unknown>('hook_embed', ['blocks.0.*'], '*')),
  stop_at_layer: few,
  edits: mostly(
    fc.array(
      some({
        hook: mostly(fc.constant('blocks.0.attn.hook_z')),
        op: mostly(fc.constant('scale')),
        value: share,
        head: few,
        pos: few,
      }),
      { maxLength: 2 },
    ),
  ),
});
const forward = some({ output_attentions: mostly(fc.boolean()), output_hidden_states: mostly(fc.boolean()) });

type Call = (given: unknown, options: unknown) => Promise<unknown>;

it('calls of a model', async () => {
  await using model = await AutoModelForCausalLM.from_pretrained(storiesPath, { worker: false });
  const calls: Record<string, Call> = {
    forward: model as unknown as Call,
    generate: model.generate.bind(model) as Call,
    run_with_cache: model.run_with_cache.bind(model) as unknown as Call,
    run_with_hooks: model.run_with_hooks.bind(model) as unknown as Call,
  };
  const bits = async () => [...(await model({ input_ids: [[1, 403, 7]] })).logits.data];
  const before = await bits();
  const draws = fc.oneof(
    fc.record({ call: fc.constant('forward'), given: inputs, options: mostly(forward) }),
    fc.record({ call: fc.constant('generate'), given: inputs, options: mostly(generation) }),
    fc.record({
      call: fc.constantFrom('run_with_cache', 'run_with_hooks'),
      given: inputs,
      options: mostly(observation),
    }),
  );
  const counts = await fuzz('calls of a model', 250, draws, ({ call, given, options }) =>
    calls[call]?.(given, options),
  );
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect(await bits()).toEqual(before);
});
