// Random training equals torch.optim's of transformers' models: losses, norms, learning rates and weights. With
// CLEARFORMER_TRAINING_CASES the folder of other cases that tests/references/training_random.py wrote.

import {
  AdamW,
  clip_grad_norm_,
  type Optimizer,
  type OptimizerOptions,
  type PreTrainedModel,
  SGD,
  type TrainingInputs,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { classOf } from './support/model_classes.js';
import { gamma } from './support/primitives.js';
import { type Case, casesOf, fixturePath, inputsOf, randomGroup, tensorsOf } from './support/references.js';
import { expectRow } from './support/rows.js';

interface Run {
  architecture: string;
  checkpoint: string;
  task: string;
  kind: 'AdamW' | 'SGD';
  optimizer: Record<string, unknown>;
  schedule: OptimizerOptions['lr_scheduler_type'];
  warmup: number;
  training_steps: number;
  max_norm: number | null;
  parameters: string;
  weights: string[];
}

interface TrainingCase extends Case<Run> {
  source: string;
  float32_error: { loss: number; norm: number };
}

const group = randomGroup('training_random', 'CLEARFORMER_TRAINING_CASES');

function trainingInputs(one: TrainingCase, { architecture }: Run): TrainingInputs {
  const tensor = tensorsOf(group, one);
  const drawn = Object.keys(one.inputs).map((name) => [name, tensor(name)]);
  return { ...inputsOf(`models/${architecture}`, one.source), ...Object.fromEntries(drawn) };
}

function optimizerOf(model: PreTrainedModel, run: Run): Optimizer {
  const options = {
    ...run.optimizer,
    parameters: run.parameters,
    lr_scheduler_type: run.schedule,
    num_warmup_steps: run.warmup,
    num_training_steps: run.training_steps,
  };
  return run.kind === 'SGD' ? new SGD(model, options) : new AdamW(model, options);
}

describe('random training equals torch', () => {
  it.each(casesOf<TrainingCase>(group))('$name', async (one) => {
    const { options: run } = one;
    const auto = classOf(run.task, run.architecture);
    await using model = await auto.from_pretrained(fixturePath(`models/${run.architecture}/${run.checkpoint}`), {
      deterministic: true,
    });
    await using optimizer = optimizerOf(model, run);
    const { data: steps } = tensorsOf(group, one)('steps');
    const inputs = trainingInputs(one, run);
    const { loss: lossError, norm: normError } = one.float32_error;
    for (let at = 0; at < steps.length; at += 3) {
      const [loss = 0, norm = 0, rate = 0] = Array.from(steps.slice(at, at + 3), Number);
      expect(Math.abs((await optimizer.backward(inputs)) - loss)).toBeLessThanOrEqual(
        8 * lossError + gamma(200) * Math.abs(loss),
      );
      const found = await clip_grad_norm_(optimizer, run.max_norm ?? Number.POSITIVE_INFINITY);
      expect(Math.abs(found - norm)).toBeLessThanOrEqual(8 * normError + gamma(200) * norm);
      expect(Math.abs((await optimizer.step()) - rate)).toBeLessThanOrEqual(gamma(4) * rate);
    }
    const { data: rows, dims } = tensorsOf(group, one)('rows');
    const columns = dims[1] as number;
    for (const [at, name] of run.weights.entries())
      expectRow(name, await model.parameter(name), rows.slice(at * columns, (at + 1) * columns));
  });
});
