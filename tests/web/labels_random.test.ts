// Losses of random labels and problem types equal transformers'. With CLEARFORMER_LABEL_CASES the folder of other cases
// that tests/references/labels_random.py wrote.

import { AutoModelForCausalLM, type ModelInputs, type ModelOutput, SGD, type Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { classOf } from './support/model_classes.js';
import { folderFiles, jsonFile } from './support/pipeline_cases.js';
import { gamma } from './support/primitives.js';
import { type Case, casesOf, inputsOf, randomGroup } from './support/references.js';

interface LabelCase extends Case {
  source: string;
  labels: number[] | number[][];
  floats: boolean;
  /** null: no label counts. */
  loss: number | null;
  float32_error: { loss: number };
}

/** The checkpoint's files with the case's problem type. */
function filesOf({ options: { architecture, checkpoint, problem_type } }: LabelCase) {
  const files = folderFiles(`models/${architecture}/${checkpoint}`);
  return {
    ...files,
    'config.json': jsonFile({ ...JSON.parse(String(Buffer.from(files['config.json'] ?? ''))), problem_type }),
  };
}

// As transformers' Gemma3ForConditionalGeneration; Gemma3ForCausalLM counts them.
it('labels that the mask hides do not count for Gemma 3 with images, in any loss', async () => {
  const { 'config.json': config = '', ...files } = folderFiles('models/gemma3_text/even');
  const text_config = JSON.parse(String(Buffer.from(config)));
  const whole = { model_type: 'gemma3', text_config };
  const inputs = { input_ids: [[5, 6, 7, 8, 9]], attention_mask: [[1, 1, 1, 0, 0]] };
  const [all, few] = [[[5, 6, 7, 8, 9]], [[5, 6, 7, -100, -100]]];
  for (const [own, same] of [[whole, true] as const, [text_config, false] as const]) {
    await using model = await AutoModelForCausalLM.from_pretrained({ ...files, 'config.json': jsonFile(own) });
    const optimizer = new SGD(model, { lr: 0 });
    const lossOf = async (labels: number[][]) => [
      (await model({ ...inputs, labels })).loss?.item(),
      (await model.backward(inputs, { metric: { labels } })).value,
      await optimizer.backward({ ...inputs, labels }),
    ];
    const [one, other] = [await lossOf(all), await lossOf(few)];
    for (const [at, loss] of one.entries()) expect(loss === other[at]).toBe(same);
    await optimizer.dispose();
  }
});

describe('losses of random labels equal transformers', () => {
  it.each(casesOf<LabelCase>(randomGroup('labels_random', 'CLEARFORMER_LABEL_CASES')))('$name', async (one) => {
    const inputs = inputsOf(`models/${one.options.architecture}`, one.source) as ModelInputs;
    const auto = classOf(one.options.task, one.options.architecture);
    await using model = await auto.from_pretrained(filesOf(one), { deterministic: true });
    const dims = [one.labels.length, ...(Array.isArray(one.labels[0]) ? [one.labels[0].length] : [])];
    const labels = one.floats
      ? { dims, data: Float32Array.from(one.labels.flat()) }
      : { dims, data: BigInt64Array.from(one.labels.flat(), BigInt) };
    const { loss } = (await model({ ...inputs, labels })) as ModelOutput & { loss: Tensor<'float32'> | number };
    const found = typeof loss === 'number' ? loss : (loss.data[0] as number);
    if (one.loss === null) expect(found).toBeNaN();
    else
      expect(Math.abs(found - one.loss)).toBeLessThanOrEqual(
        8 * one.float32_error.loss + gamma(200) * Math.abs(one.loss),
      );
  });
});
