// Training of every kind of head on the loss that transformers computes from labels (tests/references/training_heads.py).

import { readdirSync, readFileSync } from 'node:fs';
import {
  AdamW,
  type AutoModelClass,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForTokenClassification,
  type PreTrainedModel,
  Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Case, caseOf, casesOf, fixturePath, tensorsOf } from './support/references.js';

const classes = {
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForTokenClassification,
};

interface Options {
  checkpoint: string;
  class: keyof typeof classes;
  problem_type: string | null;
  steps: number;
  lr: number;
  weight: string;
}

const cases = casesOf<Case<Options>>('training_heads');
const largest = (found: ArrayLike<number>, expected: ArrayLike<number>) =>
  Array.from(found).reduce((most, value, at) => Math.max(most, Math.abs(value - Number(expected[at]))), 0);

/** The model of a case, with its problem_type in config.json. */
async function modelOf({ options }: Case<Options>): Promise<PreTrainedModel> {
  const folder = fixturePath(options.checkpoint);
  const files = Object.fromEntries(
    readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(`${folder}/${name}`))]),
  );
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  const problem_type = options.problem_type ?? config.problem_type;
  files['config.json'] = new TextEncoder().encode(JSON.stringify({ ...config, problem_type }));
  const base = classes[options.class] as AutoModelClass<PreTrainedModel>;
  return base.from_pretrained(files, { deterministic: true });
}

function inputsOf(one: Case<Options>) {
  const read = tensorsOf('training_heads', one);
  const tensors = Object.keys(one.inputs).map((name) => {
    const { data, dims } = read(name);
    return [name, new Tensor(data instanceof Float32Array ? 'float32' : 'int64', data as never, dims)] as const;
  });
  return Object.fromEntries(tensors) as { input_ids: Tensor<'int64'>; labels: Tensor };
}

describe('training', () => {
  it.each(cases)('$name equals torch', async (one) => {
    const { steps, lr, weight } = one.options;
    const error = one.float32_error as { losses: number; weights: number };
    const expected = tensorsOf('training_heads', one);
    const model = await modelOf(one);
    const optimizer = new AdamW(model, { lr, eps: 1e-5 });
    const inputs = inputsOf(one);
    const { loss } = await model(inputs);
    const losses: number[] = [];
    for (let step = 0; step < steps; step++) {
      losses.push(await optimizer.backward(inputs));
      await optimizer.step();
    }
    expect(loss?.item()).toBe(Math.fround(losses[0] as number));
    expect(largest(losses, expected('losses').data as Float32Array)).toBeLessThan(Math.max(2e-5, 8 * error.losses));
    const { data } = await model.parameter(weight);
    expect(largest(data, expected('weight').data as Float32Array)).toBeLessThan(Math.max(1e-5, 8 * error.weights));
    await model.dispose();
  });

  it('differentiates a loss with the decoder’s inputs made of the labels', async () => {
    const one = caseOf<Case<Options>>('training_heads', 'languages');
    const model = await modelOf(one);
    const { labels, ...inputs } = inputsOf(one);
    const expected = tensorsOf('training_heads', one)('losses').data[0];
    expect((await model.backward(inputs, { metric: { labels } })).value).toBeCloseTo(Number(expected), 4);
    await model.dispose();
  });

  it('refuses label_smoothing of labels that are no classes', async () => {
    const numbers = cases.filter((one) => inputsOf(one).labels.data instanceof Float32Array);
    expect(numbers.length).toBeGreaterThan(1);
    for (const one of numbers) {
      await using model = await modelOf(one);
      const inputs = inputsOf(one);
      await using optimizer = new AdamW(model);
      const { labels, ...rest } = inputs;
      const metric = { labels, label_smoothing: 7 };
      for (const failing of [
        () => optimizer.backward(inputs, { label_smoothing: 0.1 }),
        () => model.backward(rest, { metric }),
      ]) {
        const failure = await failureOf(failing);
        expect([failure.code, failure.message]).toEqual([
          'invalid_argument',
          expect.stringContaining('label_smoothing'),
        ]);
      }
    }
  });

  it('refuses labels that do not fit the task', async () => {
    const tokens = await modelOf(caseOf<Case<Options>>('training_heads', 'tokens'));
    const answers = await modelOf(caseOf<Case<Options>>('training_heads', 'answers'));
    const input_ids = [[5, 6, 7]];
    const refused: [() => Promise<unknown>, string][] = [
      [() => tokens({ input_ids, labels: [[0.5, 0, 1]] }), 'dtype_mismatch'],
      [() => tokens({ input_ids, labels: [[0, 1]] }), 'shape_mismatch'],
      [() => tokens({ input_ids, labels: [[0, 1, 99]] }), 'invalid_argument'],
      [() => answers({ input_ids, labels: [[0, 1, 2]] }), 'shape_mismatch'],
    ];
    for (const [failing, code] of refused) expect(await failureOf(failing)).toMatchObject({ code });
    await tokens.dispose();
    await answers.dispose();
  });
});
