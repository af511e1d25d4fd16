// Random edits at any hook point against the same edits in PyTorch. With CLEARFORMER_HOOK_CASES the folder of other cases
// that tests/references/hooks_random.py wrote.

import { relative } from 'node:path';

import { describe, it } from 'vitest';
import { editsOf, hookedModel, inputsOf } from './support/hook_cases.js';
import { casesOf, expectClose, fixturePath, tensorsOf } from './support/references.js';

const { CLEARFORMER_HOOK_CASES: others } = process.env;
const group = others === undefined ? 'hooks_random' : relative(fixturePath(''), others);

describe('random edits give the logits of PyTorch', () => {
  it.each(casesOf(group))('$name', async (one) => {
    const tensor = tensorsOf(group, one);
    await using model = await hookedModel(one, { deterministic: true });
    const logits = await model.run_with_hooks(inputsOf(one, tensor), { edits: editsOf(one, tensor) });
    const { logits: error } = one.float32_error as { logits: number };
    expectClose(JSON.stringify(one.options.edits), logits, tensor('logits'), undefined, error);
  });
});
