// Gradients through random edits, of activations, weights and the edits' values, against float64 autograd. With
// CLEARFORMER_GRADIENT_CASES the folder of other cases that tests/references/gradients_random.py wrote.

import type { ActivationEdit, HookName, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { editsOf, hookedModel, inputsOf } from './support/hook_cases.js';
import { gamma } from './support/primitives.js';
import { casesOf, type Reference, randomGroup, tensorsOf } from './support/references.js';

const group = randomGroup('gradients_random', 'CLEARFORMER_GRADIENT_CASES');

const largest = (values: ArrayLike<number | bigint>) =>
  Array.from(values, Number).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/**
 * Within eight errors of a float32 run and the roundings of sums of `terms`, the size of the case's gradients: what
 * cancels, as in the gradients of keys' biases, of constants before a norm and of scores beside a certain one, is a sum
 * of such terms.
 */
function expectGradient(name: string, found: Tensor<'float32'>, wanted: Reference, error: number, terms: number): void {
  expect([name, found.dims]).toEqual([name, wanted.dims]);
  const bound = 8 * error + gamma(200) * terms;
  const off = largest(found.data.map((value, i) => value - Number(wanted.data[i])));
  expect(off, `${name}, bound ${bound}`).toBeLessThanOrEqual(bound);
}

describe('gradients through random edits equal autograd', () => {
  it.each(casesOf(group))('$name', async (one) => {
    const tensor = tensorsOf(group, one);
    const named = (kind: string) =>
      Object.keys(one.outputs).flatMap((key) => (key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : []));
    const edits = editsOf(one, tensor);
    const given = (one.options.edits as ActivationEdit[]).map(({ value }) => value as unknown);
    const values = named('edit').map((name) => given.indexOf(name));
    await using model = await hookedModel(one, { deterministic: true });
    const found = await model.backward(inputsOf(one, tensor), {
      edits,
      metric: [{ output: 'logits', weights: tensor('weights') as unknown as Tensor<'float32'> }],
      with_respect_to: { hooks: named('hook') as HookName[], weights: named('weight'), edits: values },
    });
    const errors = one.float32_error as Record<string, number>;
    const all = {
      hook: found.grad as Record<string, unknown>,
      weight: found.weights,
      edit: Object.fromEntries(named('edit').map((name, i) => [name, found.edits[i]])),
    };
    const terms = Math.max(...['weights', ...Object.keys(one.outputs)].map((key) => largest(tensor(key).data)));
    for (const [kind, of] of Object.entries(all)) {
      for (const name of named(kind)) {
        const key = `${kind} ${name}`;
        expectGradient(key, of[name] as Tensor<'float32'>, tensor(key), errors[key] as number, terms);
      }
    }
  });
});
