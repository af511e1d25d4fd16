// generate() with random options against transformers: whole searches, and the scores of one step after a checkpoint's
// generation_config.json, whose options the caller's replace or, as null, switch off. With CLEARFORMER_GENERATION_CASES
// the folder of other cases that tests/references/generation_random.py wrote.

import { AutoModelForCausalLM, AutoModelForSeq2SeqLM, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { folderFiles, jsonFile } from './support/pipeline_cases.js';
import { type Case, casesOf, expectClose, idRows, randomGroup, tensorsOf } from './support/references.js';

const group = randomGroup('generation_random', 'CLEARFORMER_GENERATION_CASES');
const cases = casesOf(group);

async function generated(one: Case) {
  const { checkpoint, generation_config, ...options } = one.options;
  const own = generation_config === undefined ? {} : { 'generation_config.json': jsonFile(generation_config) };
  const files = { ...folderFiles(String(checkpoint)), ...own };
  const loader = (await inspect(files)).kind === 'encoder-decoder' ? AutoModelForSeq2SeqLM : AutoModelForCausalLM;
  const model = await loader.from_pretrained(files);
  const reference = tensorsOf(group, one);
  try {
    return await model.generate(
      Object.fromEntries(Object.keys(one.inputs).map((name) => [name, idRows(reference(name))])),
      { ...options, return_dict_in_generate: true, output_scores: true, use_cache: false },
    );
  } finally {
    await model.dispose();
  }
}

describe('random options of generate() mean what they mean in transformers', () => {
  it.each(cases)('$name', async (one) => {
    const out = await generated(one);
    const reference = tensorsOf(group, one);
    if ('scores' in one.outputs) {
      expectClose('scores', out.scores?.[0], reference('scores'));
      return;
    }
    expect(idRows(out.sequences)).toEqual(idRows(reference('sequences')));
    if (!('beam_indices' in one.outputs)) return;
    expect(idRows(out.beam_indices)).toEqual(idRows(reference('beam_indices')));
    expectClose('sequences_scores', out.sequences_scores, reference('sequences_scores'));
  });

  it('are as many as there should be', () => {
    for (const op of ['random_search', 'random_step'])
      expect(cases.filter((one) => one.op === op).length).toBeGreaterThan(40);
  });
});
