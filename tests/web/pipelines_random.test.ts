// Pipelines with random texts, labels and options against transformers. With CLEARFORMER_PIPELINE_CASES the folder of
// other cases that tests/references/pipelines_random.py wrote.

import { pipeline } from 'clearformer';
import { describe, it } from 'vitest';
import { argumentsOf, expectAnswer, filesOf, type PipelineCase } from './support/pipeline_cases.js';
import { casesOf, randomGroup } from './support/references.js';

const group = randomGroup('pipelines_random', 'CLEARFORMER_PIPELINE_CASES');
const cases = casesOf<PipelineCase>(group);

describe('pipelines answer random texts as transformers does', () => {
  it.each(cases)('$name', async (one) => {
    await using pipe = await pipeline(one.op as 'fill-mask', filesOf(one));
    for (const call of one.calls) {
      const given = argumentsOf(call.arguments) as [string];
      expectAnswer(await pipe(...given, call.options), call.answer, JSON.stringify(call));
    }
  });
});
