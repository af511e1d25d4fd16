// Random edits at any hook point against the same edits in PyTorch. With CLEARFORMER_HOOK_CASES the folder of other cases
// that tests/references/hooks_random.py wrote.

import { describe, it } from 'vitest';
import { editsOf, hookedModel, inputsOf } from './support/hook_cases.js';
import { casesOf, expectClose, randomGroup, tensorsOf } from './support/references.js';

const group = randomGroup('hooks_random', 'CLEARFORMER_HOOK_CASES');

describe('random edits give the logits of PyTorch', () => {
  it.each(casesOf(group))('$name', async (one) => {
    const tensor = tensorsOf(group, one);
    await using model = await hookedModel(one, { deterministic: true });
    const logits = await model.run_with_hooks(inputsOf(one, tensor), { edits: editsOf(one, tensor) });
    const { logits: error } = one.float32_error as { logits: number };
    expectClose(JSON.stringify(one.options.edits), logits, tensor('logits'), undefined, error);
  });
});
