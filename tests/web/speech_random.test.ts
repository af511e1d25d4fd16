// Speech recognition with random sounds and options against transformers. With CLEARFORMER_SPEECH_CASES the folder of
// other cases that tests/references/speech_random.py wrote.

import { pipeline } from 'clearformer';
import { describe, it } from 'vitest';
import { argumentsOf, expectAnswer, filesOf, type PipelineCase } from './support/pipeline_cases.js';
import { casesOf, randomGroup } from './support/references.js';

const group = randomGroup('speech_random', 'CLEARFORMER_SPEECH_CASES');
const cases = casesOf<PipelineCase>(group);

describe.each(cases)('$name: random sounds and options give what transformers gives', async (one) => {
  const pipe = await pipeline('automatic-speech-recognition', filesOf(one));
  it.each(one.calls)('$arguments.0.sound $options', async ({ arguments: given, options, answer }) => {
    const [samples] = argumentsOf(given) as [Float32Array];
    expectAnswer(await pipe(samples, options), answer, JSON.stringify([given, options]));
  });
});
