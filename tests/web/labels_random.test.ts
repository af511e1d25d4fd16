// Losses of random labels and problem types equal transformers'. With CLEARFORMER_LABEL_CASES the folder of other cases
// that tests/references/labels_random.py wrote.

import type { AutoModelClass, ModelInputs, ModelOutput, PreTrainedModel, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { classes } from './support/model_classes.js';
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

describe('losses of random labels equal transformers', () => {
  it.each(casesOf(randomGroup('labels_random', 'CLEARFORMER_LABEL_CASES')) as LabelCase[])('$name', async (one) => {
    const inputs = inputsOf(`models/${one.options.architecture}`, one.source) as ModelInputs;
    const auto = classes[one.options.task as string] as AutoModelClass<PreTrainedModel>;
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
