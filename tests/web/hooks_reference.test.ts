// Every hook point against transformers, read there with forward hooks, and edits against the same edits in PyTorch,
// on both builds. The bound is that of logits plus the difference between the reference's float32 and float64 runs.

import type { HookName, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { editsOf, hookedModel, inputsOf } from './support/hook_cases.js';
import { type Case, caseOf, casesOf, expectClose, type Reference, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const cases = casesOf('hooks');
const namesOf = (op: string) => cases.filter((one) => one.op === op).map(({ name }) => name);
const errorsOf = (one: Case) => one.float32_error as Record<string, number>;

/** Values at padded positions are NaN in the reference and not compared. Without padding everything is. */
function comparedWhere(one: Case, wanted: Reference) {
  return one.padded_with === undefined ? undefined : (index: number) => !Number.isNaN(Number(wanted.data[index]));
}

describe.each(variants)('%s', (variant) => {
  it.each(namesOf('run_with_cache'))('%s: every hook point equals transformers', async (name) => {
    const one = caseOf('hooks', name);
    const tensor = tensorsOf('hooks', one);
    const model = await hookedModel(one, optionsFor(variant));
    const [, cache] = await model.run_with_cache(inputsOf(one, tensor));
    const hooks = (Object.keys(one.outputs) as HookName[]).sort();
    expect(Object.keys(cache).sort()).toEqual(hooks);
    const offered = model.hooks().map((hook) => hook.name);
    expect(offered.sort()).toEqual(hooks);
    for (const hook of hooks) {
      const wanted = tensor(hook);
      const found = cache[hook] as Tensor<'float32'>;
      expectClose(`${name} ${hook}`, found, wanted, comparedWhere(one, wanted), errorsOf(one)[hook]);
    }
    await model.dispose();
  });

  it.each(namesOf('run_with_hooks'))('%s: the logits of the edit made in PyTorch', async (name) => {
    const one = caseOf('hooks', name);
    const tensor = tensorsOf('hooks', one);
    const model = await hookedModel(one, optionsFor(variant));
    const logits = await model.run_with_hooks(inputsOf(one, tensor), { edits: editsOf(one, tensor) });
    expectClose(name, logits, tensor('logits'), undefined, errorsOf(one).logits);
    await model.dispose();
  });
});
